/** Starts the service as a separate process and waits until it serves. Shared by the demo, the benchmark and system tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SERVICE_FLAGS } from '../../../../scripts/service-flags.mjs';
import { limitedPool } from '../bench/spawn-service.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');

export interface ServiceProcess {
  url: string;
  /** The token that a first start left in its data folder; null when an earlier start made one. */
  apiToken: string | null;
  dataDir: string;
  process: ChildProcess;
  /** Milliseconds from spawn to ready. */
  startMs: number;
  /** Lines of the log so far. */
  log: string[];
  /** SIGTERM and wait. @returns the exit code */
  stop(): Promise<number | null>;
  /** SIGKILL and wait. */
  kill(): Promise<void>;
}

export interface ServiceOptions {
  environment?: Record<string, string>;
  /** Reuse a data folder; a new temporary one otherwise, removed by `stop`. */
  dataDir?: string;
  /** Folder of another built checkout whose service is started instead of this one's. */
  checkout?: string;
  /** Relative to the checkout: `dist/server.js` unless given. `src/server.ts` where a preloaded module watches a package. */
  program?: string;
}

const READY_LIMIT_MS = 300_000;

/** @throws Error with the end of the log when the service does not become ready */
export async function startServiceProcess(options: ServiceOptions = {}): Promise<ServiceProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'subscription-service-')));
  const startedAt = performance.now();
  const folder = options.checkout ?? root;
  const child = spawn(process.execPath, [...SERVICE_FLAGS, join(folder, options.program ?? 'dist/server.js')], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_ROOT: dataDir,
      LOG_FORMAT: 'json',
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost',
      // No balancer waits here.
      SHUTDOWN_DRAIN_MS: '0',
      ...limitedPool(options.environment ?? {}),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  const keep = (line: string) => {
    log.push(line);
    if (log.length > 5_000) log.shift();
  };
  createInterface({ input: child.stderr! }).on('line', keep);
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`${reason}\n${log.slice(-30).join('\n')}`));
    const timer = setTimeout(() => fail('The service did not get ready in time'), READY_LIMIT_MS);
    child.once('exit', (code) => fail(`The service ended with code ${code} before it was ready`));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      keep(line);
      const address = /^ {2}Address +(http\S+)$/.exec(line)?.[1];
      if (!address) return;
      clearTimeout(timer);
      resolve(address);
    });
  }).catch(async (error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  child.removeAllListeners('exit');
  const startMs = performance.now() - startedAt;
  const tokenFile = join(dataDir, 'api-token');
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  };
  return {
    url,
    apiToken: existsSync(tokenFile) ? (await readFile(tokenFile, 'utf8')).trim() : null,
    dataDir,
    process: child,
    startMs,
    log,
    stop: async () => {
      const code = await end('SIGTERM');
      if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
      return code;
    },
    kill: async () => {
      await end('SIGKILL');
    },
  };
}
