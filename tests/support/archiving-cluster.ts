import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '../../packages/measures/src/free-port.ts';
import { readTestedBlocks } from './recovery-guide.ts';

const PACKAGES = '/usr/lib/postgresql';
const USER = 'postgres';
const LOG_LINES = 20;

/** What a PostgreSQL cluster of its own needs of a machine. */
export interface ServerTools {
  /** Folder of `initdb` and `pg_ctl`. */
  bin: string;
  /** The account of the cluster: PostgreSQL refuses to run as root. */
  owner: { uid: number; gid: number };
}

/** @returns what is missing, as text, where the recipe of docs/point-in-time-recovery.md cannot be run */
export function findRecoveryTools(): ServerTools | string {
  if (process.platform === 'win32') return 'pgBackRest does not run on Windows';
  if (!searchPath().some((folder) => existsSync(join(folder, 'pgbackrest')))) return 'pgbackrest is not installed';
  return findServerTools();
}

const searchPath = () => (process.env.PATH ?? '').split(delimiter);

/** @returns what is missing, as text, where no cluster can be made */
export function findServerTools(): ServerTools | string {
  if (process.platform === 'win32') return 'the packages of PostgreSQL are looked for in places of Unix';
  const packaged = existsSync(PACKAGES) ? readdirSync(PACKAGES).filter((name) => Number(name) >= 15) : [];
  const newest = packaged.sort((a, b) => Number(b) - Number(a)).map((version) => join(PACKAGES, version, 'bin'));
  const bin = [...newest, ...searchPath()].find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl')),
  );
  if (bin === undefined) return 'no server of PostgreSQL 15 or later is installed';
  const [uid, gid] = [process.getuid!(), process.getgid!()];
  if (uid !== 0) return { bin, owner: { uid, gid } };
  const id = (flag: string) => Number(spawnSync('id', [flag, USER], { encoding: 'utf8' }).stdout.trim() || Number.NaN);
  const owner = { uid: id('-u'), gid: id('-g') };
  return Number.isInteger(owner.uid) && Number.isInteger(owner.gid) ? { bin, owner } : `there is no user ${USER} to run it as`;
}

/** A PostgreSQL cluster of its own with an archive of its WAL, set up as the document says. */
export interface ArchivingCluster {
  /** Of its database `service`. */
  url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Runs a block of the document in a shell as its owner.
   * @param replaced text of the block and what stands in its place
   * @returns its output @throws Error with the output when it fails
   */
  run(block: string, replaced?: Readonly<Record<string, string>>): Promise<string>;
  /** Stops it and removes everything. */
  remove(): Promise<void>;
}

export async function createArchivingCluster({ bin, owner }: ServerTools): Promise<ArchivingCluster> {
  const blocks = await readTestedBlocks();
  const blockOf = (name: string): string => {
    const text = blocks.get(name);
    if (text === undefined) throw new Error(`docs/point-in-time-recovery.md has no block "${name}"`);
    return text;
  };
  const folder = await mkdtemp(join(placeFor(owner), 'recovery-'));
  const at = (name: string) => join(folder, name);
  const port = await freePort();
  // What differs from the machine of the document, so that its files can be used without a change.
  const places = { PG1_PATH: 'data', PG1_SOCKET_PATH: '', REPO1_PATH: 'repository', LOG_PATH: 'log', LOCK_PATH: 'lock' };
  const environment: Record<string, string> = {
    PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    HOME: folder,
    LC_ALL: 'C',
    PGHOST: folder,
    PGPORT: String(port),
    PGUSER: USER,
    PGBACKREST_CONFIG: at('pgbackrest.conf'),
    PGBACKREST_PG1_PORT: String(port),
    PGBACKREST_PG1_USER: USER,
    ...Object.fromEntries(Object.entries(places).map(([name, place]) => [`PGBACKREST_${name}`, join(folder, place)])),
  };
  const shell = (script: string) => runShell(script, { cwd: folder, env: environment, ...owner });
  const control = async (words: string): Promise<void> => {
    await shell(`pg_ctl -D data -w ${words}`).catch(async (error: Error) => {
      const log = await readFile(at('server.log'), 'utf8').catch(() => '');
      throw new Error(`${error.message}\n${log.split('\n').slice(-LOG_LINES).join('\n')}`);
    });
  };
  const isRunning = () => existsSync(at('data/postmaster.pid'));
  const cluster: ArchivingCluster = {
    url: `postgresql://${USER}@127.0.0.1:${port}/service`,
    // The time limits only end what hangs.
    start: () => control(`-t 300 -l server.log -o "-p ${port} -k '${folder}'" start`),
    stop: () => control('-t 300 -m fast stop'),
    run: (block, replaced = {}) => {
      let script = blockOf(block);
      for (const [text, other] of Object.entries(replaced)) {
        if (!script.includes(text)) throw new Error(`the block "${block}" does not contain: ${text}`);
        script = script.replace(text, other);
      }
      return shell(script);
    },
    remove: async () => {
      if (isRunning()) await control('-m immediate stop');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    await chown(folder, owner.uid, owner.gid);
    await chmod(folder, 0o755);
    for (const name of ['repository', 'log', 'lock']) {
      await mkdir(at(name));
      await chown(at(name), owner.uid, owner.gid);
    }
    await writeFile(at('pgbackrest.conf'), blockOf('pgbackrest.conf'));
    await chown(at('pgbackrest.conf'), owner.uid, owner.gid);
    await shell(`initdb -D data -A trust -U ${USER} --no-sync`);
    await appendFile(at('data/postgresql.conf'), `listen_addresses = '127.0.0.1'\n${blockOf('postgresql.conf')}`);
    await cluster.start();
    await shell('createdb service');
    return cluster;
  } catch (error) {
    await cluster.remove();
    throw error;
  }
}

/** @returns the folder of temporary files, or, where that one is closed to this account (a private TMPDIR of root), a public one */
export function placeFor({ uid, gid }: ServerTools['owner']): string {
  const isOpen = (folder: string) => spawnSync('test', ['-x', folder], { uid, gid, cwd: '/' }).status === 0;
  return [tmpdir(), '/tmp', '/var/tmp'].find(isOpen) ?? tmpdir();
}

export function runShell(
  script: string,
  options: { cwd: string; env: Record<string, string>; uid: number; gid: number },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-euc', script], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`exit code ${code} of: ${script}\n${output}`));
    });
  });
}
