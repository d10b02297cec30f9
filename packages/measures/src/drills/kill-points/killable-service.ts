/** One process of the service, whose input and output are counted, and which ends itself at a chosen point (count-points.ts). */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { endProcess } from '../../bench/child-process.ts';
import { spawnService } from '../../bench/spawn-service.ts';
import { freePort } from '../../free-port.ts';
import { isReady } from '../instance.ts';
import { SCHEDULED } from '../money/unfinished.ts';
import { ARM_HEADER, RECORD_VARIABLE, SCHEDULED_VARIABLE } from './points.ts';

const START_LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 60_000;
const PRELOAD = pathToFileURL(join(import.meta.dirname, 'count-points.ts')).href;

export interface KillableService {
  readonly url: string;
  readonly logPath: string;
  /** Starts the process and waits until it is ready. @throws Error when it does not become that */
  start(): Promise<void>;
  /** Counts from now on. @param at number of the point at which the process ends; 0 = at none */
  arm(at: number): Promise<void>;
  /** Texts of the points since it was armed, in their order. */
  points(): Promise<string[]>;
  isRunning(): boolean;
  stop(): Promise<void>;
}

/** @param folder for its log and its record of points */
export async function createKillableService(environment: Record<string, string>, folder: string): Promise<KillableService> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logPath = join(folder, 'service.log');
  const recordPath = join(folder, 'points.txt');
  const variables = {
    ...environment,
    [RECORD_VARIABLE]: recordPath,
    [SCHEDULED_VARIABLE]: SCHEDULED.join(','),
    NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
  };
  const log = createWriteStream(logPath, { flags: 'a' });
  let child: ChildProcess | null = null;
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null;
  return {
    ...{ url, logPath, isRunning },
    start: async () => {
      const writeLine = (line: string) => void log.write(`${line}\n`);
      child = spawnService(port, variables, writeLine, ['--import', PRELOAD], 'src/server.ts');
      const end = performance.now() + START_LIMIT_MS;
      while (!(await isReady(url))) {
        if (!isRunning() || performance.now() > end) throw new Error(`the service did not get ready, see ${logPath}`);
        await wait(20);
      }
    },
    arm: async (at) => {
      const response = await fetch(`${url}/livez`, { headers: { [ARM_HEADER]: String(at) } });
      if (!response.ok) throw new Error(`the service cannot be armed: ${response.status}`);
    },
    points: async () => (await readFile(recordPath, 'utf8')).split('\n').slice(0, -1),
    stop: async () => {
      if (child !== null) await endProcess(child, 'SIGTERM', STOP_LIMIT_MS);
      log.end();
      await once(log, 'close');
    },
  };
}
