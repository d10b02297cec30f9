/** Composition root: environment → service → HTTP and sockets, and the shutdown in order. */

import { startService } from './composition/start-service.ts';
import { EnvError, loadEnv, readProcessEnv } from './core/env.ts';
import { createLogger } from './core/log.ts';
import { LogFiles } from './core/log-files/log-files.ts';
import { createMetrics } from './core/metrics.ts';
import { createRedactor, secretValuesIn } from './core/redaction.ts';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
/** `npm start` passes on a signal that a terminal or a supervisor sends to the whole group, so one stop may arrive twice. */
const SAME_STOP_MS = 1_000;

async function main(): Promise<void> {
  const env = loadEnv(readProcessEnv());
  const redactor = createRedactor(secretValuesIn(env.raw));
  const logFiles = new LogFiles();
  process.on('exit', () => logFiles.flushSync());
  const log = createLogger({ level: env.logLevel, format: env.logFormat, redactor, files: logFiles });
  const metrics = createMetrics();

  // After an error that nobody caught the state of the process is unknown: log it and let the supervisor start a new one.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event);
      setTimeout(() => process.exit(1), 200);
    });
  }

  const running = await startService({ env, log, logFiles, metrics, redactor });
  let stoppingSince: number | null = null;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (stoppingSince !== null) {
        if (performance.now() - stoppingSince > SAME_STOP_MS) running.endDrain();
        return;
      }
      stoppingSince = performance.now();
      // A person at a terminal waits for no balancer.
      const drainMs = signal === 'SIGTERM' ? env.shutdownDrainMs : 0;
      log.info({ signal, drainMs }, 'stopping');
      const timer = setTimeout(() => {
        log.error('the stop took too long; ending now');
        process.exit(1);
      }, drainMs + env.shutdownTimeoutMs);
      timer.unref();
      running.stop(drainMs).then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'the stop failed');
          process.exit(1);
        },
      );
    });
  }
}

main().catch((error: unknown) => {
  // Before the logger exists, or when it cannot help: a person must read this.
  if (error instanceof EnvError) console.error(`${error.message}\n\nEvery variable is explained in .env.example.`);
  else console.error(error instanceof Error && error.name === 'FolderInUseError' ? error.message : error);
  process.exit(1);
});
