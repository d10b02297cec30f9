/** A replicated PostgreSQL that a script starts, disturbs and stops (its commands: start, status, stop and the faults). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { undoAtEnd } from './cleanup.ts';

const RECOVERY_LIMIT_MS = 300_000;

export interface Stand {
  /** Address of whichever node is the primary. */
  primaryUrl: string;
  /** Address of the pooler before the primary; null when the stand has none. */
  poolerUrl: string | null;
  /** Addresses of the nodes themselves, by name. */
  nodes: ReadonlyMap<string, string>;
  /** Runs a command of the script. @returns its output @throws Error with the output when it fails */
  command(name: string, ...more: string[]): Promise<string>;
  /** Starts what a fault ended and waits for one primary and all replicas. @returns milliseconds @throws Error when they do not come */
  recover(): Promise<number>;
  /** Stops it when this process has started it, and removes a temporary folder. */
  close(): Promise<void>;
}

/** That of this project. */
export const PROJECT_STAND = join(import.meta.dirname, '..', '..', '..', '..', 'scripts', 'scale', 'stand.sh');

/** @returns why the stand of this project cannot be started here, or null */
export function projectStandProblem(): string | null {
  if (process.platform !== 'linux') return 'the stand needs the packages of Debian';
  const { status, stdout } = spawnSync('bash', [PROJECT_STAND, 'missing'], { encoding: 'utf8' });
  return status === 0 ? null : `not installed: ${stdout.trim().split('\n').join(', ')}`;
}

/**
 * Starts the stand, or takes one that runs.
 * @param folder null = a temporary one
 * @param env of the first start, see the script
 */
export async function openStand(script: string, folder: string | null, env: Record<string, string> = {}): Promise<Stand> {
  const path = resolve(script);
  const where = folder === null ? await mkdtemp(join(tmpdir(), 'drill-stand-')) : resolve(folder);
  const wasRunning = (await runScript(path, ['status', where])).code === 0;
  const command = async (name: string, ...more: string[]): Promise<string> => {
    const { code, output } = await runScript(path, [name, where, ...more], env);
    if (code !== 0) throw new Error(`${name} of the stand failed with code ${code}\n${output}`);
    return output;
  };
  const close = undoAtEnd(async () => {
    await endScripts();
    if (!wasRunning) await command('stop');
    if (folder === null) await rm(where, { recursive: true, force: true });
  });
  try {
    const started = wasRunning ? await command('status') : await command('start');
    const primaryUrl = /^primary +(\S+)$/m.exec(started)?.[1];
    if (primaryUrl === undefined) throw new Error(`the stand names no primary\n${started}`);
    const poolerUrl = /^pooler +(\S+)$/m.exec(started)?.[1] ?? null;
    const nodes = new Map([...started.matchAll(/^(node\d+) +(postgresql:\S+)$/gm)].map(([, name, url]) => [name!, url!]));
    return { primaryUrl, poolerUrl, nodes, command, recover: () => recover(path, where), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function recover(path: string, where: string): Promise<number> {
  const startedAt = performance.now();
  await runScript(path, ['revive', where]);
  // Just after a fault the state of before may still be reported, so it must hold for some time.
  for (let good = 0; good < 3; ) {
    const { code, output } = await runScript(path, ['status', where]);
    good = code === 0 ? good + 1 : 0;
    if (performance.now() - startedAt > RECOVERY_LIMIT_MS) throw new Error(`the stand did not recover\n${output}`);
    await wait(1_000);
  }
  return performance.now() - startedAt;
}

const running = new Set<ChildProcess>();

/** What an interrupted drill has begun: a script that starts processes would go on with it after the stop. */
async function endScripts(): Promise<void> {
  const ends = [...running].map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ends);
}

async function runScript(
  path: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; output: string }> {
  const child = spawn('bash', [path, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  // Not `close`: what the script starts in the background may keep its output open.
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, output: output.trim() };
}
