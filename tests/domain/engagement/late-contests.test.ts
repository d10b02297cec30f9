import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays, DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import { runJob } from '../../../src/core/jobs/define-job.ts';
import { engagementJobs } from '../../../src/domain/engagement/jobs.ts';
import {
  changeReferralContest,
  listContestEvents,
  readContestDetail,
  readContestStatistics,
} from '../../../src/domain/engagement/referral-contests/contests.ts';
import { scoreContest } from '../../../src/domain/engagement/referral-contests/scores.ts';
import { aContest, aPurchase, eventsOf, jobsOf } from '../../support/contest-samples.ts';
import { setUser } from '../../support/merge-samples.ts';
import { aReferralOf, aReferralPair } from '../../support/referral-samples.ts';
import { topUp } from '../../support/sale-samples.ts';
import { storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: { CONTESTS_ENABLED: 'true' } });
});
beforeEach(async () => {
  // Those of other tests registered before every period of this one.
  t.clock.advance(60 * DAY_MS);
  await t.app.db.sql('DELETE FROM referral_contests');
  await t.app.db.sql('DELETE FROM jobs.job');
});

/** Runs the waiting jobs of a queue, as a worker does. */
async function run(queue: string): Promise<number> {
  const definition = engagementJobs.find((job) => job.name === queue)!;
  const waiting = await jobsOf<object>(t.app, queue);
  for (const data of waiting) {
    await runJob(t.app, definition as never, { id: 'test', data, signal: new AbortController().signal });
  }
  await t.app.db.sql('DELETE FROM jobs.job WHERE name = $1', [queue]);
  return waiting.length;
}
const scorePayments = () => run('engagement.score-payment');
/** Both runs, that of now and the later one. */
const scoreLate = () => run('engagement.score-contest');

async function anInvited(kopeks = 100_000) {
  const pair = await aReferralPair(t.app);
  await topUp(t.app, pair.referral.id, kopeks);
  return pair;
}

describe('a contest that is created, activated or moved late (04 11.2)', () => {
  const results = async (id: number) => {
    const { participants, ...sums } = await readContestStatistics(t.app, id);
    return {
      ...sums,
      participants: participants.map(({ id: user, referralsCount, paidCount }) => [user, referralsCount, paidCount]),
    };
  };

  it('counts the payments of its period that were made before it existed, as if it had existed', async () => {
    const now = t.app.clock.now();
    const { referrer, referral } = await anInvited();
    const idle = await aReferralOf(t.app, referrer.id);
    await aPurchase(t.app, referral.id, 3_000);
    t.clock.advance(HOUR_MS);
    await aPurchase(t.app, referral.id, 500);
    const contest = await aContest(t.app);
    expect(await scorePayments()).toBe(0);
    expect(await scoreLate()).toBe(2);
    expect(await eventsOf(t.app, contest.id)).toEqual([
      {
        referrerId: referrer.id,
        referralId: referral.id,
        eventType: 'subscription_purchase',
        amountKopeks: 3_500,
        occurredAt: now,
      },
    ]);
    expect(idle.id).not.toBe(referral.id);
    await aPurchase(t.app, referral.id, 1);
    await scorePayments();
    expect(await results(contest.id)).toMatchObject({
      totalInvited: 1,
      totalPaidAmount: 3_501,
      participants: [[referrer.id, 1, 1]],
    });
  });

  it('likewise the registrations', async () => {
    const { referral } = await aReferralPair(t.app);
    const at = t.app.clock.now();
    const contest = await aContest(t.app, { contestType: 'referral_registered' });
    await scoreLate();
    expect(await eventsOf(t.app, contest.id)).toMatchObject([
      { referralId: referral.id, eventType: 'referral_registration', amountKopeks: 0, occurredAt: at },
    ]);
  });

  it('is scored when it is activated and when its period begins earlier, while a later begin takes payments away again', async () => {
    const now = t.app.clock.now();
    const { referrer, referral } = await anInvited();
    await setUser(t.app, referral.id, { created_at: addDays(now, -5) });
    t.clock.set(addDays(now, -4));
    await aPurchase(t.app, referral.id, 700);
    t.clock.set(now);
    await aPurchase(t.app, referral.id, 20);
    const contest = await aContest(t.app, { isActive: false, startAt: addDays(now, -2).toISOString() });
    expect(await scoreLate()).toBe(0);
    await changeReferralContest(t.app, contest.id, { isActive: true });
    await scoreLate();
    // The referral registered before the period.
    expect(await results(contest.id)).toMatchObject({ totalInvited: 0 });
    await changeReferralContest(t.app, contest.id, { startAt: addDays(now, -6).toISOString() });
    await scoreLate();
    expect(await results(contest.id)).toMatchObject({ totalPaidAmount: 720, participants: [[referrer.id, 1, 1]] });
    await changeReferralContest(t.app, contest.id, { title: 'Renamed' });
    expect(await scoreLate()).toBe(0);
    await changeReferralContest(t.app, contest.id, { startAt: addDays(now, -3).toISOString() });
    await scoreLate();
    expect(await results(contest.id)).toMatchObject({ totalInvited: 0, participants: [] });
    expect(await readContestDetail(t.app, contest.id, 5)).toMatchObject({ totalEvents: 1, leaderboard: [] });
  });

  it('more referrals than one share, but nothing of one that has not begun or has another type', async () => {
    const { referrer } = await aReferralPair(t.app);
    const createdAt = t.app.clock.now();
    const late = Array.from({ length: 449 }, () => ({ referredById: referrer.id, createdAt }));
    const referrals = await storeRows(t.app, 'User', late);
    const earned = { userId: referrer.id, amountKopeks: 0, reason: 'referral_registration_pending', createdAt } as const;
    await storeRows(
      t.app,
      'ReferralEarning',
      referrals.map(({ id }) => ({ ...earned, referralId: id })),
    );
    const contest = await aContest(t.app, { contestType: 'referral_registered' });
    await aContest(t.app, { startAt: addDays(t.app.clock.now(), 1).toISOString() });
    const other = await aContest(t.app, { contestType: 'something' });
    expect(await scoreLate()).toBe(4);
    expect(await results(contest.id)).toMatchObject({ totalInvited: 450, totalUnpaid: 450 });
    expect(await results(other.id)).toMatchObject({ totalInvited: 0 });
  });

  it('nothing while contests are disabled', async () => {
    const { referral } = await anInvited();
    await aPurchase(t.app, referral.id, 3_000);
    const contest = await aContest(t.app);
    const off = await testApp({ database: t.database, environment: { CONTESTS_ENABLED: 'false' } });
    await scoreContest(off.app, contest.id);
    expect(await eventsOf(t.app, contest.id)).toEqual([]);
  });
});

describe('the list of events (04 11.4)', () => {
  it('leaves out those of deleted accounts, of referrals and of referrers, in items and total', async () => {
    const contest = await aContest(t.app);
    const { referrer, referral } = await anInvited();
    const second = await aReferralOf(t.app, referrer.id);
    await topUp(t.app, second.id, 1_000);
    await aPurchase(t.app, referral.id, 1_000);
    await aPurchase(t.app, second.id, 1_000);
    await scorePayments();
    const listed = async () => {
      const { items, total } = await listContestEvents(t.app, contest.id, { limit: 50, offset: 0 });
      return [items.map((event) => event.referral.id), total];
    };
    expect((await listed())[1]).toBe(2);
    await setUser(t.app, second.id, { status: 'deleted' });
    expect(await listed()).toEqual([[referral.id], 1]);
    await setUser(t.app, referrer.id, { status: 'deleted' });
    expect(await listed()).toEqual([[], 0]);
    await setUser(t.app, second.id, { status: 'active' });
    await setUser(t.app, referrer.id, { status: 'active' });
    expect((await listed())[1]).toBe(2);
    expect(await readContestDetail(t.app, contest.id, 5)).toMatchObject({ totalEvents: 2 });
  });
});
