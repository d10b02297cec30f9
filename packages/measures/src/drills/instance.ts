/** An instance of the built service that a drill stops, kills and starts again on the same port. */
import type { ChildProcess } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { endProcess } from '../bench/child-process.ts';
import { spawnService } from '../bench/spawn-service.ts';
import { freePort } from '../free-port.ts';

const READY_LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 60_000;
const ERROR_LEVEL = 50;
const MAX_ERRORS = 5_000;
/** Pause of a supervisor before it starts a process again. */
const RESTART_PAUSE_MS = 1_000;

export interface Instance {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  /** Log lines of level `error` and above of all its processes, as written. */
  readonly errors: readonly string[];
  readonly logPath: string;
  /** Each time that a process ended by itself, with its exit code; it was started again, as a supervisor does. */
  readonly crashes: readonly string[];
  isRunning(): boolean;
  /** Starts the process and waits until `/readyz` answers 200, or until another condition holds. @throws Error when it does not */
  start(isStarted?: (url: string) => Promise<boolean>): Promise<void>;
  /** SIGTERM and wait. @returns the exit code */
  stop(): Promise<number | null>;
  /** SIGKILL and wait. */
  kill(): Promise<void>;
  /** Closes the log file; the process must have ended. */
  close(): void;
}

/** @param logFolder where its log is written, one file for all its starts */
export async function createInstance(name: string, environment: Record<string, string>, logFolder: string): Promise<Instance> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logPath = join(logFolder, `${name}.log`);
  const file = createWriteStream(logPath, { flags: 'a' });
  const errors: string[] = [];
  let child: ChildProcess | null = null;
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null;

  const crashes: string[] = [];
  let isWanted = false;

  const launch = (): ChildProcess => {
    const started = spawnService(port, environment, (line) => keepLine(line, file, errors));
    child = started;
    started.once('exit', (code, signal) => {
      if (!isWanted || child !== started) return;
      crashes.push(`${name} ended by itself at ${new Date().toISOString()} (${signal ?? `exit code ${code}`}), see ${logPath}`);
      setTimeout(() => {
        if (isWanted && child === started) launch();
      }, RESTART_PAUSE_MS);
    });
    return started;
  };
  const start = async (isStarted = isReady): Promise<void> => {
    const startedAt = performance.now();
    const crashesBefore = crashes.length;
    isWanted = true;
    launch();
    while (!(await isStarted(url))) {
      const isLate = performance.now() - startedAt > READY_LIMIT_MS;
      if (crashes.length > crashesBefore || isLate) throw new Error(`${name} did not get ready, see ${logPath}`);
      await wait(50);
    }
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    isWanted = false;
    if (child !== null) await endProcess(child, signal, STOP_LIMIT_MS);
    return child?.exitCode ?? null;
  };
  return {
    name,
    port,
    url,
    errors,
    logPath,
    crashes,
    isRunning,
    start,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
    close: () => file.end(),
  };
}

/** Whether the instance accepts requests now. */
export function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

function keepLine(line: string, file: WriteStream, errors: string[]): void {
  file.write(`${line}\n`);
  if (line.startsWith('{') && errors.length < MAX_ERRORS && levelOf(line) >= ERROR_LEVEL) errors.push(line);
}

/** Of a line of the JSON log, as a number or by its name; 0 for any other line. */
function levelOf(line: string): number {
  try {
    const { level } = JSON.parse(line) as { level?: unknown };
    if (typeof level === 'number') return level;
    return level === 'error' || level === 'fatal' ? ERROR_LEVEL : 0;
  } catch {
    return 0;
  }
}
