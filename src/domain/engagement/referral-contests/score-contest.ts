import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { lockReferralPairs } from '../../referrals/register-referral.ts';
import { areContestsEnabled } from '../contests-enabled.ts';
import { type CandidatePlace, listCandidates, scorePaid, scoreRegistered } from './score-repo.ts';
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
  // What was on its way at this moment has sent no job, and may commit after the first run has passed it.
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
