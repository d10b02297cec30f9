import { setTimeout as delay } from 'node:timers/promises';
import { SECOND_MS } from '../../core/clock.ts';
import { MailError, MessengerError } from '../messaging/ports.ts';
import type { SendOutcome } from './types.ts';

/** Pauses before the second and the third attempt of one message. */
const PAUSES_MS = [500, 1_000];
/** Pause of the whole send while the messenger or the mail server is away. */
export const AWAY_MS = 30 * SECOND_MS;

/**
 * Sends one message, three times where it certainly did not arrive, and classifies what came of it. Without an
 * answer it is unknown whether it arrived: it is not sent again.
 * @param send whether it is the first attempt: the time that was reserved is that of the first
 * @param isRepeatable what is done twice has the effect of once: without an answer it is tried once more, and later again. Each
 *   try may take a whole time-out, and a worker that stores nothing for `LEASE_MS` has lost its send
 */
export async function attemptSend(
  send: (isFirst: boolean) => Promise<{ messageId: number | null }>,
  { isRepeatable = false }: { isRepeatable?: boolean } = {},
): Promise<SendOutcome> {
  for (let attempt = 0; ; attempt++) {
    try {
      return { state: 'sent', messageId: (await send(attempt === 0)).messageId };
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome === 'unanswered' && !isRepeatable) return { state: 'failed' };
      if (outcome !== 'again' && outcome !== 'unanswered') return outcome;
      const pauseMs = outcome === 'unanswered' && attempt > 0 ? undefined : PAUSES_MS[attempt];
      if (pauseMs === undefined) return unsent(AWAY_MS, error);
      await delay(pauseMs);
    }
  }
}

/** @throws what is no failure of the messenger or the mail server */
function outcomeOf(error: unknown): SendOutcome | 'again' | 'unanswered' {
  if (error instanceof MailError) {
    if (error.failure === 'rejected') return { state: 'failed' };
    if (error.failure === 'put_off') return { state: 'put_off', reason: error.message };
    if (error.failure === 'not_configured') return unsent(AWAY_MS, error);
    return error.mayHaveArrived ? 'unanswered' : 'again';
  }
  if (!(error instanceof MessengerError)) throw error;
  const { failure } = error;
  switch (failure.kind) {
    case 'blocked':
    case 'chat_not_found':
      return { state: 'blocked' };
    case 'rate_limited':
      return unsent(failure.retryAfterSeconds * SECOND_MS, error);
    case 'not_configured':
      return unsent(AWAY_MS, error);
    case 'rejected':
      return { state: 'failed' };
    case 'unavailable':
      return failure.mayHaveArrived ? 'unanswered' : 'again';
  }
}

const unsent = (waitMs: number, error: unknown): SendOutcome => ({
  state: 'unsent',
  waitMs,
  reason: error instanceof Error ? error.message : String(error),
});
