/** The service under measurement: the production build in a separate process, as `npm start` runs it. */
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { endProcess, residentMiB } from './child-process.ts';
import { spawnService } from './spawn-service.ts';

/** Only ends a service that hangs: on a busy machine an embedded database takes a minute. */
const READY_LIMIT_MS = 180_000;

export interface MeasuredService {
  url: string;
  pid: number;
  /** Milliseconds from spawn to the first 200 of `/readyz`. */
  readyMs: number;
  /** The end of its output. */
  log: readonly string[];
  memoryMiB(): number | null;
  /** Pauses until `resume`, so that its background work does not run while the baseline is measured. */
  pause(): void;
  resume(): void;
  /** Delay of the event loop since the last call, p99 in ms, and callers that wait for a connection now. */
  readLoop(): Promise<{ delayMs: number; poolWaiting: number }>;
  stop(): Promise<void>;
}

/** @throws Error with the end of the log when it does not become ready */
export async function startService(
  environment: Record<string, string>,
  nodeOptions: string[] = [],
  build = 'dist',
): Promise<MeasuredService> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const log: string[] = [];
  const keepLine = (line: string) => {
    log.push(line);
    if (log.length > 200) log.shift();
  };
  // No balancer waits here.
  const child = spawnService(port, { SHUTDOWN_DRAIN_MS: '0', ...environment }, keepLine, nodeOptions, `${build}/server.js`);
  for (;;) {
    const isReady = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) break;
    const isLate = performance.now() - startedAt > READY_LIMIT_MS;
    if (isLate || child.exitCode !== null) throw new Error(`the service did not get ready\n${log.slice(-30).join('\n')}`);
    await wait(10);
  }
  return {
    url,
    pid: child.pid!,
    readyMs: performance.now() - startedAt,
    log,
    memoryMiB: () => residentMiB(child.pid!),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    readLoop: async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const value = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
      return {
        delayMs: value(/^event_loop_delay_seconds\{quantile="0\.99"\} (\S+)/m) * 1000,
        poolWaiting: value(/^db_pool_waiting (\S+)/m),
      };
    },
    stop: () => endProcess(child, 'SIGTERM'),
  };
}
