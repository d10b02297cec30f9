import { setTimeout as delay } from 'node:timers/promises';
import { SECOND_MS } from '../../core/clock.ts';
import { isDatabaseUnavailable, isRetryable } from '../../core/db/db-errors.ts';

const TRIES = 10;

/** Stores what became of a message, again while the database is away: a lost result would become a second message. */
export async function storeResult<T>(store: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await store();
    } catch (error) {
      if (tries >= TRIES || !(isRetryable(error) || isDatabaseUnavailable(error))) throw error;
      await delay(Math.min(tries, 5) * SECOND_MS);
    }
  }
}
