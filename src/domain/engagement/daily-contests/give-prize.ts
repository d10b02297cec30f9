import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { formatPrice } from '../../../core/money.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { text } from '../../messaging/texts.ts';
import { applyManualChange } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { readPrize } from './rules.ts';
import type { PlayedRound } from './types.ts';

/** The winner: locked user with a locked subscription. */
export interface Winner {
  userId: number;
  language: string;
  subscription: Subscription;
}

/** What was given, as a part of the sentence to the winner; null for a prize that people hand over. */
export interface GivenPrize {
  sentence: string | null;
  transactionId: number | null;
}

/** Gives the prize, in the transaction of the attempt (spec 04 section 10.6, hazards 2 and 3). */
export async function givePrize(t: App, winner: Winner, round: PlayedRound): Promise<GivenPrize> {
  const prize = readPrize(round);
  switch (prize?.kind) {
    case 'days':
      return giveDays(t, winner, prize.days);
    case 'balance':
      return credit(t, winner, prize.kopeks, round.name);
    case 'custom':
      return { sentence: null, transactionId: null };
    default:
      // Written before values were checked, by another system: people have to decide.
      t.log.error(
        { roundId: round.id, userId: winner.userId },
        'the prize of a contest cannot be given: its value is not readable',
      );
      return { sentence: null, transactionId: null };
  }
}

/** A deposit without payment method is a bonus (spec 04 section 0.2). */
async function credit(t: App, { userId, language }: Winner, kopeks: number, name: string): Promise<GivenPrize> {
  const posting = await postMovement(t, {
    userId,
    type: 'deposit',
    amountKopeks: kopeks,
    contra: { kind: 'bonus_expense', bonus: 'contest' },
    paymentMethod: null,
    description: text(language, 'contests.transaction_prize', { name }),
  });
  if (posting.outcome !== 'posted') throw new Error(`the prize of a contest was ${posting.outcome}`);
  return { sentence: `Balance increased by ${formatPrice(kopeks, false)}`, transactionId: posting.transactionId };
}

/** From now or from the end, whichever is later; a job updates the panel. */
async function giveDays(t: App, { subscription }: Winner, days: number): Promise<GivenPrize> {
  const now = t.clock.now();
  const from = subscription.endDate.getTime() > now.getTime() ? subscription.endDate : now;
  await applyManualChange(t, subscription.id, { changes: { endDate: addDays(from, days) }, forgetsNotices: true });
  return { sentence: `Subscription extended by ${days} days`, transactionId: null };
}
