import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { lockReferralPair } from '../../referrals/register-referral.ts';
import type { ReferralPair } from '../../referrals/types.ts';
import { areContestsEnabled } from '../contests-enabled.ts';
import { deleteMutualEvents, findPayer, findReferral, renewAmounts, scorePayment, scoreRegistration } from './score-repo.ts';

/**
 * Scores a payment for a subscription (spec 04 section 11.2). The job is sent with the movement by a trigger (prisma/sql/contests.sql);
 * any number of runs come to the same.
 */
export async function scoreSubscriptionPayment(app: App, { transactionId }: { transactionId: number }): Promise<void> {
  if (!areContestsEnabled(app)) return;
  const pair = await findPayer(app.db, transactionId);
  if (pair) await underLock(app, pair, (t) => scorePayment(t.db, transactionId));
}

/** Scores the registration of a referral likewise. */
export async function scoreReferralRegistration(app: App, { referralId, at }: { referralId: number; at: Date }): Promise<void> {
  if (!areContestsEnabled(app)) return;
  const pair = await findReferral(app.db, referralId);
  if (pair) await underLock(app, pair, (t) => scoreRegistration(t.db, referralId, at));
}

/** Of two payments of one referral the later run sees what the earlier one has summed. */
async function underLock(app: App, pair: ReferralPair, score: (t: App) => Promise<number>): Promise<void> {
  await inTransaction(app, async (t) => {
    await lockReferralPair(t, pair);
    await score(t);
  });
}

/** Before the rows of two accounts become those of one: nobody is the own referrer. In the transaction of the merge. */
export function forgetMutualContestEvents(t: App, secondaryId: number, primaryId: number): Promise<void> {
  return deleteMutualEvents(t.db, secondaryId, primaryId);
}

/** Afterwards: the movements of both are those of the primary. */
export function renewContestAmounts(t: App, primaryId: number): Promise<void> {
  return renewAmounts(t.db, primaryId);
}
