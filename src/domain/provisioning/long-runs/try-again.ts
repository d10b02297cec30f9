import { setTimeout as wait } from 'node:timers/promises';
import { isPanelError } from '../ports.ts';

const TRIES = 3;
const FIRST_PAUSE_MS = 50;

/**
 * Makes a call to the panel that may be made twice, and makes it again at once when there was no answer: a call that fails now and
 * then must not send a whole batch back to the end of the row. A panel that is down is for the caller's longer pauses.
 * @throws PanelError after the last try, or when the panel refused
 */
export async function tryAgain<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const isWorthIt = isPanelError(error) && error.kind === 'unavailable' && error.status !== 404 && error.status !== 405;
      if (!isWorthIt || attempt >= TRIES) throw error;
    }
    await wait(FIRST_PAUSE_MS * 2 ** (attempt - 1));
  }
}
