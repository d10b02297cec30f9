import type { App } from '../app.ts';
import { isRetryable } from './db-errors.ts';

const MAX_ATTEMPTS = 5;

/**
 * Runs one whole transaction, again after a deadlock or a write conflict: the database has rolled it back then. Up to 5 times, with
 * jitter, so that the same callers do not meet again. Inside a transaction it is a part of that transaction, which cannot go on after
 * such an error.
 * @param transaction contains database work only and changes nothing that a rollback leaves
 */
export async function retried<T>(app: App, transaction: () => Promise<T>): Promise<T> {
  if (app.db.begin === null) return transaction();
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || !isRetryable(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, app.random.int(5, 25 * attempt + 6)));
    }
  }
}
