import type { App } from '../../../core/app.ts';
import type { Db } from '../../../core/db/db.ts';
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
  await underLock(
    app,
    (db) => findPayer(db, transactionId),
    (db) => scorePayment(db, transactionId),
  );
}

/** Scores the registration of a referral likewise. */
export async function scoreReferralRegistration(app: App, { referralId, at }: { referralId: number; at: Date }): Promise<void> {
  await underLock(
    app,
    (db) => findReferral(db, referralId),
    (db) => scoreRegistration(db, referralId, at),
  );
}

/** Of two payments of one referral the later run sees what the earlier one has summed. */
async function underLock(
  app: App,
  find: (db: Db) => Promise<ReferralPair | null>,
  score: (db: Db) => Promise<number>,
): Promise<void> {
  if (!areContestsEnabled(app)) return;
  const pair = await find(app.db);
  if (!pair) return;
  await inTransaction(app, async (t) => {
    await lockReferralPair(t, pair);
    const locked = await find(t.db);
    // Changed since it was read (a merge): the locks are on the wrong users, so the job has to start again.
    if (locked?.referralId !== pair.referralId || locked.referrerId !== pair.referrerId) {
      throw new Error(`the referrer of user ${pair.referralId} has changed`);
    }
    await score(t.db);
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
