/**
 * PostgreSQL servers for the duration of the run, made from the installed binaries, so that one run measures with and without the flush
 * to the disk. Their folders are temporary, they listen on loopback only.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../free-port.ts';
import { endProcess, trackChild } from './child-process.ts';

export interface ScratchServer {
  /** Of the superuser; databases can be created there. */
  url: string;
  stop(): Promise<void>;
}

const READY_LIMIT_MS = 30_000;
/** Of all pools of one comparison, with the sampler and the notifier of each instance. */
const MAX_CONNECTIONS = 300;

/** Folder with `initdb` and `postgres`: on the PATH, else the newest of those that packages install; null without one. */
export function findServerBinaries(path = process.env.PATH ?? ''): string | null {
  return [...path.split(delimiter), ...packagedFolders('/usr/lib/postgresql')].find(hasServer) ?? null;
}

/** Folders of the packages of Debian, the highest version first. */
export function packagedFolders(root: string): string[] {
  if (!existsSync(root)) return [];
  const versions = readdirSync(root).filter((name) => /^\d+$/.test(name));
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(root, version, 'bin'));
}

function hasServer(folder: string): boolean {
  return folder !== '' && existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'));
}

interface Account {
  uid: number;
  gid: number;
}

/** The server refuses to run as root, which runs it as the account that its package made. Null = as the current user. */
function accountOfServer(): Account | null {
  if (process.getuid?.() !== 0) return null;
  const account = accountIn(readFileSync('/etc/passwd', 'utf8'), 'postgres');
  if (account === null) throw new Error('PostgreSQL does not run as root, and there is no account named postgres');
  return account;
}

/** @param text of `/etc/passwd` */
export function accountIn(text: string, name: string): Account | null {
  const fields = text
    .split('\n')
    .map((line) => line.split(':'))
    .find((line) => line[0] === name);
  return fields ? { uid: Number(fields[2]), gid: Number(fields[3]) } : null;
}

/**
 * @param flushes whether a commit waits for the disk (`fsync` and `synchronous_commit`)
 * @throws Error with the end of the server's output when it does not answer
 */
export async function startScratchServer(binaries: string, flushes: boolean): Promise<ScratchServer> {
  const account = accountOfServer();
  const folder = await mkdtemp(join(tmpdir(), 'subscription-bench-server-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  if (account) await chown(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  const identity = { ...(account ?? {}), cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } };
  const arguments_ = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await promisify(execFile)(join(binaries, 'initdb'), arguments_, identity);
  const port = await freePort();
  const onOff = flushes ? 'on' : 'off';
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: folder,
    max_connections: MAX_CONNECTIONS,
    fsync: onOff,
    synchronous_commit: onOff,
    full_page_writes: onOff,
    shared_buffers: '256MB',
    // No checkpoint within a measurement: it would fall into some rounds and not into others.
    max_wal_size: '8GB',
    checkpoint_timeout: '30min',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = trackChild(
    spawn(join(binaries, 'postgres'), ['-D', data, ...options], { ...identity, stdio: ['ignore', 'ignore', 'pipe'] }),
  );
  let output = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    output = `${output}${chunk}`.slice(-4_000);
  });
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  const stop = async () => {
    // SIGINT ends the sessions, SIGTERM would wait for them.
    await endProcess(child, 'SIGINT');
    await rm(folder, { recursive: true, force: true });
    process.off('exit', remove);
  };
  const deadline = performance.now() + READY_LIMIT_MS;
  while (!(await answers(url))) {
    if (performance.now() > deadline || child.exitCode !== null) {
      await stop();
      throw new Error(`the scratch server did not start\n${output}`);
    }
    await wait(50);
  }
  return { url, stop };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  // A session that the starting server cuts must not end the run.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
