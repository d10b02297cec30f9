import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { readObligations } from './repo.ts';
import type { Obligation } from './types.ts';

/** What a person confirms by asking for an erasure. */
export interface Confirmed {
  forfeitsBalance: boolean;
  endsSubscription: boolean;
}

const OPEN = 'Money or obligations are open: settle them, or confirm that the balance is given up and the subscription ends';

export const obligationsOpen = refusal(
  'obligations_open',
  409,
  { code: 'obligations_open', message: OPEN, obligations: ['pending_payment'] },
  (obligations: readonly Obligation[]) => ({ detail: { code: 'obligations_open', message: OPEN, obligations } }),
);

/**
 * The user must be locked, so that nothing is opened before the commit.
 * @returns the balance that is given up, kopeks
 * @throws AppError 409 with what is open and was not confirmed
 */
export async function requireNoObligations(t: App, userId: number, confirmed: Confirmed): Promise<{ forfeitsKopeks: number }> {
  const { open, balanceKopeks } = await readObligations(t.db, userId, t.clock.now());
  const left = open.filter(
    (obligation) =>
      !(obligation === 'balance' && confirmed.forfeitsBalance) &&
      !(obligation === 'paid_subscription' && confirmed.endsSubscription),
  );
  if (left.length > 0) throw obligationsOpen(left);
  return { forfeitsKopeks: balanceKopeks };
}
