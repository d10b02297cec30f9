import { setTimeout as wait } from 'node:timers/promises';
import { isPanelError } from '../ports.ts';

const TRIES = 3;
const FIRST_PAUSE_MS = 50;

/**
 * Repeats an idempotent call to the panel up to two times when there was no answer, so that one failed call does not send a whole
 * batch back to the queue. A panel that stays down is left to the caller's longer pauses.
 * @throws PanelError after the last try, or when the panel refused
 */
export async function retryPanelCall<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const isRetryable = isPanelError(error) && error.kind === 'unavailable' && error.status !== 404 && error.status !== 405;
      if (!isRetryable || attempt >= TRIES) throw error;
    }
    await wait(FIRST_PAUSE_MS * 2 ** (attempt - 1));
  }
}
