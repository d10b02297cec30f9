/** Composition root: environment → service → HTTP and sockets, and the shutdown in order. */

import { setTimeout as delay } from 'node:timers/promises';
import { serveCommands } from './cli/command-socket.ts';
import { type RunningService, startService } from './composition/start-service.ts';
import type { App } from './core/app.ts';
import { EnvError, loadEnv } from './core/env.ts';
import { createLogger, loadLogFormat } from './core/log.ts';
import { LogFiles } from './core/log-files/log-files.ts';
import { createMetrics } from './core/metrics.ts';
import { readProcessEnv } from './core/process-env.ts';
import { createRedactor, secretValuesIn } from './core/redaction.ts';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
/** `npm start` passes on a signal that a terminal or a supervisor sends to the whole group, so one stop may arrive twice. */
const SAME_STOP_MS = 1_000;
/** Given by `scripts/start.mjs`: the channel to it closes when it ends, also by SIGKILL (spec 10 K1). */
const END_WITH_PARENT = '--end-with-parent';
/** Errors whose message says what to do. */
const EXPLAINED: ReadonlySet<string> = new Set(['FolderInUseError', 'ListenError']);
/** After a crash: time for the log, and at most for the report to the administrators. */
const LOG_FLUSH_MS = 200;
const REPORT_LIMIT_MS = 2_000;

async function main(): Promise<void> {
  const env = loadEnv(readProcessEnv());
  const redactor = createRedactor(secretValuesIn(env.raw));
  const logFiles = new LogFiles();
  process.on('exit', () => logFiles.flushSync());
  const log = createLogger({ level: env.logLevel, format: await loadLogFormat(env.logFormat), redactor, files: logFiles });
  const metrics = createMetrics();

  // After an error that nobody caught the state of the process is unknown: log it and let the supervisor start a new one.
  let running: RunningService | null = null;
  let hasCrashed = false;
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event);
      if (hasCrashed) return;
      hasCrashed = true;
      // The report is a stored job, which another instance or the next start sends.
      void Promise.all([running?.reportCrash(error), delay(LOG_FLUSH_MS)]).then(() => process.exit(1));
      setTimeout(() => process.exit(1), REPORT_LIMIT_MS);
    });
  }

  const commands = Promise.withResolvers<() => Promise<void>>();
  // A command that follows the line `ready` at once would find the embedded database in use.
  const beforeReady = async (app: App) => commands.resolve(await serveCommands(app));
  const service = await startService({ env, log, logFiles, metrics, redactor, beforeReady });
  running = service;
  let stoppingSince: number | null = null;
  const stop = (signal: NodeJS.Signals | 'end of the parent') => {
    if (stoppingSince !== null) {
      if (performance.now() - stoppingSince > SAME_STOP_MS) service.endDrain();
      return;
    }
    stoppingSince = performance.now();
    // A person at a terminal waits for no balancer.
    const drainMs = signal === 'SIGINT' ? 0 : env.shutdownDrainMs;
    log.info({ signal, drainMs }, 'stopping');
    const timer = setTimeout(() => {
      log.error('the stop took too long; ending now');
      process.exit(1);
    }, drainMs + env.shutdownTimeoutMs);
    timer.unref();
    commands.promise
      .then((close) => close())
      .then(() => service.stop(drainMs))
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'the stop failed');
          process.exit(1);
        },
      );
  };
  for (const signal of SIGNALS) process.on(signal, () => stop(signal));
  if (process.argv.includes(END_WITH_PARENT)) {
    if (process.connected) process.on('disconnect', () => stop('end of the parent'));
    else stop('end of the parent');
  }
}

main().catch((error: unknown) => {
  // Before the logger exists, or when it cannot help: a person must read this.
  if (error instanceof EnvError) console.error(`${error.message}\n\nEvery variable is explained in .env.example.`);
  else console.error(error instanceof Error && EXPLAINED.has(error.name) ? error.message : error);
  process.exit(1);
});
