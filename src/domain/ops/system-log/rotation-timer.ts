import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { rotateWhenDue } from './rotate-logs.ts';

const LOOK_MS = 30 * SECOND_MS;

/**
 * Looks regularly whether a rotation of the log files is due. No job of the queue: jobs run on any instance, but the files are on the disk
 * of this one. @returns a function that stops it, and resolves when a rotation under way has ended
 */
export function startLogRotation(app: App): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve();
  let isRunning = false;
  const look = () => {
    if (isRunning) return;
    isRunning = true;
    running = rotateWhenDue(app)
      // Any failure: there is no caller; the next look repeats it.
      .catch((error: unknown) => app.log.warn({ err: error }, 'the log files could not be rotated'))
      .finally(() => {
        isRunning = false;
      });
  };
  const timer = setInterval(look, LOOK_MS).unref();
  look();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
