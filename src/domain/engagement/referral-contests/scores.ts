import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { lockReferralPair, lockReferralPairs } from '../../referrals/register-referral.ts';
import type { ReferralPair } from '../../referrals/types.ts';
import { areContestsEnabled } from '../contest-settings.ts';
import {
  type CandidatePlace,
  deleteMutualEvents,
  findPayer,
  findReferral,
  listCandidates,
  renewAmounts,
  scorePaid,
  scorePayment,
  scoreRegistered,
  scoreRegistration,
} from './repo.ts';
import type { ReferralContest } from './types.ts';

/** Referrals that are scored in one transaction; they and their referrers are locked for its duration. */
const SHARE = 200;
/** By then every transaction has ended that did not see the contest when it paid or registered. */
const SECOND_RUN_MS = 2 * MINUTE_MS;

/**
 * Has a contest scored for what happened before it existed, was active or had its period: payments and registrations of the period count,
 * whenever they were made (spec 04 section 11.2). In the transaction that creates or changes the contest.
 */
export async function sendContestScore(t: App, contest: ReferralContest): Promise<void> {
  const now = t.clock.now();
  if (!contest.isActive || contest.startAt.getTime() > now.getTime()) return;
  await t.jobs.send('engagement.score-contest', { contestId: contest.id });
  // What was on its way at that time has sent no job, and may commit after the first run has passed it.
  await t.jobs.send('engagement.score-contest', { contestId: contest.id }, { startAfter: addMs(now, SECOND_RUN_MS) });
}

/** Scores all referrals of a contest from the movements themselves; any number of runs come to the same. */
export async function scoreContest(app: App, contestId: number, signal?: AbortSignal): Promise<void> {
  if (!areContestsEnabled(app)) return;
  let after: CandidatePlace | null = null;
  for (;;) {
    signal?.throwIfAborted();
    const candidates: Awaited<ReturnType<typeof listCandidates>> = await listCandidates(app.db, contestId, after, SHARE);
    if (candidates.length === 0) return;
    const ids = candidates.map(({ referralId }) => referralId);
    await inTransaction(app, async (t) => {
      await lockReferralPairs(t, candidates);
      await scorePaid(t.db, contestId, ids);
      await scoreRegistered(t.db, contestId, ids);
    });
    after = candidates.at(-1)!;
  }
}

/**
 * Scores a payment for a subscription. The job is sent with the movement by a trigger (prisma/sql/contests.sql);
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
