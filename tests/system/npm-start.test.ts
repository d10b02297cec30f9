/** `npm start` as a supervisor or a person meets it: ending npm ends the service (spec 10 K1). */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../packages/measures/src/demo/http.ts';
import { fillMigratedFolder } from '../support/migrated-folder.ts';

const root = join(import.meta.dirname, '..', '..');
let dataDir: string;
let npm: ChildProcess;
let serverPid = 0;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'npm-start-'));
  await fillMigratedFolder(dataDir);
});
afterEach(async () => {
  npm.kill('SIGKILL');
  if (serverPid > 0 && isRunning(serverPid)) process.kill(serverPid, 'SIGKILL');
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** @returns the address of the started service */
async function startWithNpm(): Promise<string> {
  npm = spawn('npm', ['start'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      SHUTDOWN_DRAIN_MS: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    npm.once('exit', (code) => reject(new Error(`npm ended with ${code}`)));
    createInterface({ input: npm.stdout! }).on('line', (line) => {
      const address = /^ {2}Address +(http\S+)$/.exec(line)?.[1];
      if (address) resolve(address);
    });
  });
  npm.removeAllListeners('exit');
  serverPid = Number(await readFile(join(dataDir, 'database.lock'), 'utf8'));
  return url;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const isServed = (url: string) =>
  fetch(`${url}/livez`).then(
    () => true,
    () => false,
  );

describe.skipIf(process.platform === 'win32')('npm start', () => {
  test.for(['SIGTERM', 'SIGKILL'] as const)(
    'spec 10 K1: %s to npm alone ends the service in order, and port and data folder are free',
    async (signal) => {
      const url = await startWithNpm();
      expect(await isServed(url)).toBe(true);
      npm.kill(signal);
      await until(
        'the end of the server',
        async () => isRunning(serverPid),
        (runs) => !runs,
      );
      expect(await isServed(url)).toBe(false);
      // A server that was killed would leave its lock.
      expect(existsSync(join(dataDir, 'database.lock'))).toBe(false);
    },
  );
});
