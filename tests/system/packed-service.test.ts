/** The packed service as a person meets it who has nothing but the tarball: `npx` in an empty folder. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runDemo } from '../../packages/measures/src/demo/run-demo.ts';
import { type PackedService, packService } from '../../scripts/pack-service.ts';

const MIB = 1024 ** 2;
let folder: string;
let project: string;
let packed: PackedService;
let running: ChildProcess | null = null;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'packed-service-'));
  project = join(folder, 'empty');
  await mkdir(project);
  packed = await packService(folder);
}, 600_000);
afterAll(async () => {
  if (running) process.kill(-running.pid!, 'SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  HOME: folder,
  // A new one, so that npx unpacks this tarball; without a registry, because there is nothing to be asked for.
  npm_config_cache: join(folder, 'cache'),
  npm_config_offline: 'true',
  npm_config_yes: 'true',
  HOST: '127.0.0.1',
  PORT: '0',
  SHUTDOWN_DRAIN_MS: '0',
  WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  ...more,
});
const specifier = () => `file:${packed.tarball}`;
const npx = (words: readonly string[], more: Record<string, string> = {}) =>
  spawnSync('npx', [specifier(), ...words], { cwd: project, env: environment(more), encoding: 'utf8' });

/** @returns what it prints when it is ready */
async function start(): Promise<Record<'url' | 'administrator', string>> {
  // A group of its own, which gets SIGINT as that of a terminal does.
  const child = spawn('npx', [specifier()], {
    cwd: project,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  running = child;
  return new Promise((resolve, reject) => {
    let url = '';
    child.once('exit', (code) => reject(new Error(`npx ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      url = /^ {2}Address +(http\S+)$/.exec(line)?.[1] ?? url;
      const administrator = /^ {2}Administrator +(.+)$/.exec(line)?.[1];
      if (administrator) resolve({ url, administrator });
    });
  });
}

/** As Ctrl-C. */
async function stop(): Promise<void> {
  const exited = once(running!, 'exit');
  process.kill(-running!.pid!, 'SIGINT');
  await exited;
  running = null;
  // npx can end before the service; one that was killed would leave its lock.
  await expect.poll(() => existsSync(join(project, 'data', 'database.lock')), { timeout: 600_000 }).toBe(false);
}

describe.skipIf(process.platform === 'win32')('the packed service', { shuffle: false }, () => {
  test('is small', () => {
    console.log(`Tarball ${(packed.packedBytes / MIB).toFixed(1)} MiB, installed ${(packed.unpackedBytes / MIB).toFixed(1)} MiB`);
    expect(packed.packedBytes).toBeLessThan(16 * MIB);
    expect(packed.unpackedBytes).toBeLessThan(50 * MIB);
  });

  test('serves from sign-up to a working link in an empty folder', async () => {
    const { url, administrator } = await start();
    expect(administrator).toBe(`npx ${specifier()} admin create you@example.com`);
    const apiToken = (await readFile(join(project, 'data', 'api-token'), 'utf8')).trim();
    const { balanceKopeks } = await runDemo({ url, apiToken, onStep: () => undefined });
    expect(balanceKopeks).toBeGreaterThanOrEqual(0);
    await stop();
    expect((await readdir(project)).sort()).toEqual(['data', 'logs']);
  });

  test('has its data after another start, and the command line in the running service', async () => {
    const { url } = await start();
    const headers = { 'x-api-key': (await readFile(join(project, 'data', 'api-token'), 'utf8')).trim() };
    const { items } = (await (await fetch(`${url}/transactions`, { headers })).json()) as { items: unknown[] };
    expect(items.length).toBeGreaterThan(0);
    const check = npx(['ledger', 'check']);
    expect(check.stdout).toMatch(/^The ledger is clean \([1-9]/);
    expect(check.status).toBe(0);
    await stop();
  });

  test('refuses a Node that is too old in one line', () => {
    const older = "Object.defineProperty(process.versions, 'node', { value: '22.17.9' })";
    const refused = npx([], { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(older)}` });
    expect(refused.stderr.trim().split('\n').at(-1)).toBe(
      'subscription-service needs Node 22.18 or later; this is Node 22.17.9.',
    );
    expect(refused.status).toBe(1);
  });

  test('has neither sources of the fakes nor maps, and says what its code consists of', async () => {
    const installed = join(folder, 'unpacked');
    await mkdir(installed);
    expect(spawnSync('tar', ['-xzf', packed.tarball, '-C', installed]).status).toBe(0);
    const files = (await readdir(installed, { recursive: true })) as string[];
    expect(files.filter((file) => /\.ts$|\.map$/.test(file))).toEqual([]);
    expect((await stat(join(installed, 'package', 'dist', 'THIRD-PARTY-LICENSES'))).size).toBeGreaterThan(100_000);
  });
});
