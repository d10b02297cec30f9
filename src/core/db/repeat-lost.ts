import type { App } from '../app.ts';
import { isConnectionLost } from './db-errors.ts';

/** With jitter, so that requests that lost their sessions at the same moment do not all connect at the same moment. */
const PAUSE_MS = { from: 20, to: 100 };

/**
 * Runs work again, once, when its database session was cut (spec 08 L3): the driver takes such a session out of the pool, so the second
 * attempt has another one. A COMMIT may have been carried out although its answer was lost, hence `work` must be a read or must find what
 * its first attempt has stored (an idempotency key, the key of an event). Nothing is repeated inside a transaction, whose session is the
 * one that was lost.
 * @param work must have no effect outside of the database
 * @throws what the second attempt throws; every other error at once
 */
export async function repeatWhenLost<T>(app: App, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (app.db.begin === null || !isConnectionLost(error)) throw error;
    await pauseAfterLoss(app);
    return work();
  }
}

/** The pause before a second attempt. */
export function pauseAfterLoss({ random }: Pick<App, 'random'>): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, random.int(PAUSE_MS.from, PAUSE_MS.to + 1)));
}
