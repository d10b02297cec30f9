import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, addMs, DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import { runJob } from '../../../src/core/jobs/define-job.ts';
import { engagementJobs } from '../../../src/domain/engagement/jobs.ts';
import {
  changeReferralContest,
  createReferralContest,
  deleteReferralContest,
  listContestEvents,
  listReferralContests,
  readContestDetail,
  readContestStatistics,
} from '../../../src/domain/engagement/referral-contests/contests.ts';
import { sendContestSummaries } from '../../../src/domain/engagement/referral-contests/send-summaries.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { withMessenger } from '../../support/audience-samples.ts';
import { aContest, aPurchase, eventsOf, jobsOf } from '../../support/contest-samples.ts';
import { aPair, merge, setUser } from '../../support/merge-samples.ts';
import { aReferralOf, aReferralPair } from '../../support/referral-samples.ts';
import { aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  const admins = {
    ADMIN_NOTIFICATIONS_ENABLED: 'true',
    ADMIN_NOTIFICATIONS_CHAT_ID: '-1005',
    ADMIN_NOTIFICATIONS_PROMO_TOPIC_ID: '77',
  };
  t = await testApp({ environment: { CONTESTS_ENABLED: 'true', ...admins } });
});
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM referral_contests');
  await t.app.db.sql('DELETE FROM jobs.job');
  await t.app.db.sql('DELETE FROM required_channels');
});

/** Runs the jobs of contests that wait, as a worker does. */
async function work(app: App = t.app): Promise<number> {
  let runs = 0;
  for (const name of ['engagement.score-payment', 'engagement.score-registration']) {
    const definition = engagementJobs.find((job) => job.name === name)!;
    for (const data of await jobsOf<object>(app, name)) {
      await runJob(app, definition as never, { id: 'test', data, signal: new AbortController().signal });
      runs++;
    }
  }
  await app.db.sql("DELETE FROM jobs.job WHERE name LIKE 'engagement.%'");
  return runs;
}

async function anInvited(kopeks = 100_000) {
  const pair = await aReferralPair(t.app);
  await topUp(t.app, pair.referral.id, kopeks);
  return pair;
}

describe('scoring of payments (04 11.2)', () => {
  it('a purchase of a referral is one event of the referrer, with what was paid', async () => {
    const contest = await aContest(t.app);
    const { referrer, referral } = await anInvited();
    const tariffId = await aTariff(t.app, { period_prices: { 30: 30_000 } });
    await purchaseTariff(
      t.app,
      { kind: 'user', userId: referral.id },
      { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null },
    );
    expect(await work()).toBe(1);
    expect(await eventsOf(t.app, contest.id)).toEqual([
      {
        referrerId: referrer.id,
        referralId: referral.id,
        eventType: 'subscription_purchase',
        amountKopeks: 30_000,
        occurredAt: t.app.clock.now(),
      },
    ]);
  });

  it('further payments are summed, and a job that runs again changes nothing', async () => {
    const contest = await aContest(t.app);
    const { referral } = await anInvited();
    const first = await aPurchase(t.app, referral.id, 10_000);
    const at = t.app.clock.now();
    await aPurchase(t.app, referral.id, 2_500);
    const payloads = await jobsOf<{ transactionId: number }>(t.app, 'engagement.score-payment');
    expect(payloads[0]).toEqual({ transactionId: first });
    await t.app.jobs.send('engagement.score-payment', payloads[0]!);
    expect(await work()).toBe(3);
    expect(await eventsOf(t.app, contest.id)).toMatchObject([{ amountKopeks: 12_500, occurredAt: at }]);
  });

  it('payments outside of the period are not in the sum', async () => {
    const now = t.app.clock.now();
    const { referral } = await anInvited();
    await setUser(t.app, referral.id, { created_at: addMs(now, -HOUR_MS / 2) });
    t.clock.advance(-2 * HOUR_MS);
    await aPurchase(t.app, referral.id, 70_000);
    t.clock.set(now);
    const contest = await aContest(t.app, { startAt: addMs(now, -HOUR_MS).toISOString() });
    await aPurchase(t.app, referral.id, 1_000);
    await work();
    expect(await eventsOf(t.app, contest.id)).toMatchObject([{ amountKopeks: 1_000 }]);
  });

  it('counts only referrals who registered within the period', async () => {
    const contest = await aContest(t.app);
    const early = await anInvited();
    await setUser(t.app, early.referral.id, { created_at: addDays(t.app.clock.now(), -2) });
    await aPurchase(t.app, early.referral.id, 1_000);
    await work();
    expect(await eventsOf(t.app, contest.id)).toEqual([]);
  });

  it('a payer whom nobody invited, another movement, and an internal one score nothing and send no job', async () => {
    await aContest(t.app);
    const { referral, referrer } = await anInvited();
    await t.app.db.sql("DELETE FROM jobs.job WHERE name LIKE 'engagement.%'");
    await topUp(t.app, referrer.id, 5_000);
    await aPurchase(t.app, referrer.id, 1_000);
    await topUp(t.app, referral.id, 5_000);
    expect(await jobsOf(t.app, 'engagement.score-payment')).toEqual([]);
  });

  it.each([
    ['inactive', { isActive: false }],
    ['of registrations', { contestType: 'referral_registered' }],
    ['of an unknown type', { contestType: 'best_meme' }],
    ['over', { startAt: '2020-01-01T00:00:00Z', endAt: '2020-02-01T00:00:00Z' }],
    ['not begun', { startAt: '2090-01-01T00:00:00Z', endAt: '2090-02-01T00:00:00Z' }],
  ])('a contest that is %s does not score payments, and no job is sent', async (_what, fields) => {
    const { referral } = await anInvited();
    await t.app.db.sql("DELETE FROM jobs.job WHERE name LIKE 'engagement.%'");
    const contest = await aContest(t.app, fields);
    await aPurchase(t.app, referral.id, 1_000);
    expect(await work()).toBe(0);
    expect(await eventsOf(t.app, contest.id)).toEqual([]);
  });

  it('while contests are disabled nothing is scored', async () => {
    const contest = await aContest(t.app);
    const { referral } = await anInvited();
    await aPurchase(t.app, referral.id, 1_000);
    await work((await testApp({ clock: t.clock })).app);
    expect(await eventsOf(t.app, contest.id)).toEqual([]);
  });

  it('an end at midnight UTC is the end of that day (11.1)', async () => {
    const midnight = new Date(Math.floor(t.app.clock.now().getTime() / DAY_MS) * DAY_MS);
    const contest = await aContest(t.app, { endAt: midnight.toISOString(), startAt: addDays(midnight, -3).toISOString() });
    const { referral } = await anInvited();
    await aPurchase(t.app, referral.id, 1_000);
    await work();
    expect(await eventsOf(t.app, contest.id)).toHaveLength(1);
  });
});

describe('scoring of registrations (04 11.2)', () => {
  it('the attribution of a referral is one event without an amount', async () => {
    const contest = await aContest(t.app, { contestType: 'referral_registered' });
    const { referrer, referral } = await aReferralPair(t.app);
    expect(await work()).toBe(1);
    const event = { referrerId: referrer.id, referralId: referral.id, eventType: 'referral_registration', amountKopeks: 0 };
    expect(await eventsOf(t.app, contest.id)).toEqual([{ ...event, occurredAt: t.app.clock.now() }]);
    await t.app.jobs.send('engagement.score-registration', { referralId: referral.id, at: t.app.clock.now().toISOString() });
    await work();
    expect(await eventsOf(t.app, contest.id)).toHaveLength(1);
  });

  it('not for users who registered before the contest', async () => {
    const contest = await aContest(t.app, { contestType: 'referral_registered' });
    const { referral } = await aReferralPair(t.app);
    await setUser(t.app, referral.id, { created_at: addDays(t.app.clock.now(), -2) });
    await work();
    expect(await eventsOf(t.app, contest.id)).toEqual([]);
  });
});

describe('results (04 11.4)', () => {
  it('leaderboard by referrals, then by amount, then by id, and statistics by referral', async () => {
    const contest = await aContest(t.app);
    const now = t.app.clock.now();
    const [a, b, c] = [await aReferralPair(t.app), await aReferralPair(t.app), await aReferralPair(t.app)];
    const second = await aReferralOf(t.app, a.referrer.id);
    const event = (referrerId: number, referralId: number, amount: number, occurredAt = now) =>
      storeRow(t.app, 'ReferralContestEvent', {
        contestId: contest.id,
        referrerId,
        referralId,
        eventType: 'subscription_purchase',
        amountKopeks: amount,
        occurredAt,
      });
    await event(a.referrer.id, a.referral.id, 100);
    await event(a.referrer.id, second.id, 0);
    await event(b.referrer.id, b.referral.id, 900);
    await event(c.referrer.id, c.referral.id, 900);
    await event(c.referrer.id, b.referrer.id, 5, addDays(now, 30));
    const detail = await readContestDetail(t.app, contest.id, 5);
    expect(detail.totalEvents).toBe(5);
    expect(
      detail.leaderboard.map(({ id, referralsCount, totalAmountKopeks }) => [id, referralsCount, totalAmountKopeks]),
    ).toEqual([
      [a.referrer.id, 2, 100],
      [b.referrer.id, 1, 900],
      [c.referrer.id, 1, 900],
    ]);
    expect((await readContestDetail(t.app, contest.id, 1)).leaderboard).toHaveLength(1);
    const statistics = await readContestStatistics(t.app, contest.id);
    expect(statistics).toMatchObject({ totalParticipants: 3, totalInvited: 4, totalPaidAmount: 1_900, totalUnpaid: 1 });
    expect(statistics.participants[0]).toMatchObject({ referralsCount: 2, paidCount: 1 });
    const page = await listContestEvents(t.app, contest.id, { limit: 2, offset: 0 });
    expect([page.total, page.items.map(({ amountKopeks }) => amountKopeks)]).toEqual([5, [5, 100]]);
    await setUser(t.app, c.referral.id, { status: 'deleted' });
    expect((await listContestEvents(t.app, contest.id, { limit: 50, offset: 0 })).total).toBe(4);
  });

  it('without events: zeros and no participants', async () => {
    const contest = await aContest(t.app);
    const none = { totalParticipants: 0, totalInvited: 0, totalPaidAmount: 0, totalUnpaid: 0, participants: [] };
    expect(await readContestStatistics(t.app, contest.id)).toEqual(none);
    await expect(readContestStatistics(t.app, 2_147_483_648)).rejects.toMatchObject({ status: 404, detail: 'Contest not found' });
  });
});

describe('administration (04 11.4)', () => {
  const fields = { title: 'Spring', contestType: 'referral_paid', timezone: 'Europe/Berlin', isActive: true };
  const period = { startAt: '2030-03-01T00:00:00', endAt: '2030-04-01T00:00:00' };

  it('times without a zone are of the zone of the contest, on both sides of the change of clocks', async () => {
    const contest = await createReferralContest(t.app, { ...fields, ...period });
    expect(contest.startAt.toISOString()).toBe('2030-02-28T23:00:00.000Z');
    expect(contest.endAt.toISOString()).toBe('2030-03-31T22:00:00.000Z');
    const changed = await changeReferralContest(t.app, contest.id, { endAt: '2030-05-01T00:00:00' });
    expect(changed.endAt.toISOString()).toBe('2030-04-30T22:00:00.000Z');
    const moved = await changeReferralContest(t.app, contest.id, { endAt: '2030-05-01T00:00:00', timezone: 'UTC' });
    expect([moved.endAt.toISOString(), moved.closesAt.toISOString()]).toEqual([
      '2030-05-01T00:00:00.000Z',
      '2030-05-01T23:59:59.999Z',
    ]);
  });

  it('the first of the times of summaries is the one time', async () => {
    const contest = await createReferralContest(t.app, {
      ...fields,
      ...period,
      dailySummaryTime: '09:00',
      dailySummaryTimes: '18:30, 8:15',
    });
    expect(contest).toMatchObject({ dailySummaryTime: '18:30:00', dailySummaryTimes: '18:30,08:15' });
    expect(await changeReferralContest(t.app, contest.id, { dailySummaryTime: '07:05:09' })).toMatchObject({
      dailySummaryTime: '07:05:09',
    });
    expect(await createReferralContest(t.app, { ...fields, ...period })).toMatchObject({
      dailySummaryTime: '12:00:00',
      dailySummaryTimes: null,
    });
  });

  it.each([
    [{ timezone: 'Mars/Base' }, 422],
    [{ dailySummaryTimes: '25:00' }, 422],
    [{ dailySummaryTime: 'noon' }, 422],
    [{ title: ' ' }, 422],
    [{ createdBy: 2_000_000_000 }, 422],
    [{ createdBy: 3_000_000_000 }, 422],
    [{ endAt: '2030-03-01T00:00:00' }, 400],
    [{ endAt: '2029-03-01T00:00:00' }, 400],
  ])('%o is refused, by creation and by change', async (wrong, status) => {
    await expect(createReferralContest(t.app, { ...fields, ...period, ...wrong })).rejects.toMatchObject({ status });
    const contest = await createReferralContest(t.app, { ...fields, ...period });
    await expect(changeReferralContest(t.app, contest.id, wrong)).rejects.toMatchObject({ status });
  });

  it('only what is over and inactive may be deleted, with its events', async () => {
    const contest = await aContest(t.app);
    const refusal = { status: 400, detail: 'Удалять можно только завершённые конкурсы' };
    await expect(deleteReferralContest(t.app, contest.id)).rejects.toMatchObject(refusal);
    await changeReferralContest(t.app, contest.id, { isActive: false });
    await expect(deleteReferralContest(t.app, contest.id)).rejects.toMatchObject(refusal);
    await changeReferralContest(t.app, contest.id, { endAt: addMs(t.app.clock.now(), -1_000).toISOString() });
    await deleteReferralContest(t.app, contest.id);
    await expect(deleteReferralContest(t.app, contest.id)).rejects.toMatchObject({ status: 404 });
  });

  it('lists by type, the latest start first, where an empty type is none', async () => {
    const now = t.app.clock.now();
    const early = await aContest(t.app, { startAt: addDays(now, -5).toISOString() });
    const late = await aContest(t.app, { contestType: 'referral_registered' });
    const ids = async (type: string | null) =>
      (await listReferralContests(t.app, type, { limit: 10, offset: 0 })).items.map(({ id }) => id);
    expect(await ids(null)).toEqual([late.id, early.id]);
    expect(await ids('')).toEqual([late.id, early.id]);
    expect(await ids('referral_registered')).toEqual([late.id]);
  });
});

describe('summaries (04 11.3)', () => {
  const sent = () => jobsOf<{ messengerId: number; threadId?: number; html: string }>(t.app, 'messenger.send');
  const noon = (days: number) => addMs(new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS), days * DAY_MS + 12 * HOUR_MS);

  it('daily ones once each, with invented participants, to the administrators and to the first required channel', async () => {
    await storeRow(t.app, 'RequiredChannel', { channelId: '-1001234567890', sortOrder: 1 });
    t.clock.set(addMs(noon(0), -HOUR_MS));
    const { app } = withMessenger(t.app);
    const contest = await aContest(app, { title: 'A <b>', prizeText: 'A & B', dailySummaryTimes: '12:00' });
    const { referral } = await anInvited();
    await aPurchase(t.app, referral.id, 12_345);
    await work(app);
    const invented = { displayName: 'Invented', referralCount: 9, totalAmountKopeks: 100 };
    await storeRow(t.app, 'ReferralContestVirtualParticipant', { contestId: contest.id, ...invented });
    await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'messenger.send'");
    await sendContestSummaries(app);
    expect(await sent()).toEqual([]);
    t.clock.set(noon(0));
    await sendContestSummaries(app);
    await sendContestSummaries(app);
    const messages = (await sent()).sort((a, b) => b.messengerId - a.messengerId);
    expect(messages.map(({ messengerId, threadId }) => [messengerId, threadId])).toEqual([
      [-1005, 77],
      [-1_001_234_567_890, undefined],
    ]);
    const { html } = messages[0]!;
    expect(html).toContain('A &lt;b&gt;');
    expect(html).toContain('A &amp; B');
    expect(html).toContain('1. Invented: 9 (1 ₽)');
    expect(html).toMatch(/2\. User \d+: 1 \(123\.45 ₽\)/);
    expect(html).toContain('Рефералов: 10');
    expect(html).toContain('124.45 ₽');
    expect((await readContestDetail(t.app, contest.id, 5)).leaderboard).toHaveLength(1);
    expect((await readContestDetail(t.app, contest.id, 5)).lastDailySummaryAt).toEqual(noon(0));
  });

  it('the final one once, and the contest is over', async () => {
    t.clock.set(noon(0));
    const { app } = withMessenger(t.app);
    const contest = await aContest(app, { endAt: addMs(noon(0), HOUR_MS).toISOString(), dailySummaryTimes: '11:00' });
    t.clock.set(addMs(noon(0), 2 * HOUR_MS));
    await sendContestSummaries(app);
    expect(
      await rowOf(t.app, 'SELECT is_active, final_summary_sent FROM referral_contests WHERE id = $1::int', [contest.id]),
    ).toEqual({
      isActive: false,
      finalSummarySent: true,
    });
    expect(await sent()).toHaveLength(1);
    // Made active again by hand: the key of the summary stays.
    await changeReferralContest(app, contest.id, { isActive: true, finalSummarySent: false });
    await sendContestSummaries(app);
    expect(await sent()).toHaveLength(1);
  });

  it('without a messenger, and while contests are disabled, nothing is sent and nothing is marked', async () => {
    t.clock.set(noon(0));
    const contest = await aContest(t.app, { dailySummaryTimes: '11:00' });
    const none = { ...t.app, ports: { ...t.app.ports, messenger: { ...t.app.ports.messenger, isConfigured: () => false } } };
    await sendContestSummaries(none);
    await sendContestSummaries(withMessenger((await testApp({ clock: t.clock })).app).app);
    expect((await readContestDetail(t.app, contest.id, 5)).lastDailySummaryAt).toBeNull();
  });
});

describe('merged accounts (01 section 8)', () => {
  it('one event of a contest remains, with the payments of both, and none of each other', async () => {
    t.clock.set(new Date());
    const contest = await aContest(t.app);
    const other = await aContest(t.app);
    const { referrer } = await aReferralPair(t.app);
    const pair = await aPair(t.app);
    for (const id of [pair.primaryId, pair.secondaryId]) {
      await setUser(t.app, id, { referred_by_id: referrer.id });
      await topUp(t.app, id, 10_000);
    }
    await aPurchase(t.app, pair.primaryId, 1_000);
    await aPurchase(t.app, pair.secondaryId, 200);
    await work();
    const third = await aReferralPair(t.app);
    await t.app.db.sql('DELETE FROM referral_contest_events WHERE contest_id = $1::int', [other.id]);
    const invited = (referrerId: number, referralId: number) =>
      storeRow(t.app, 'ReferralContestEvent', {
        contestId: other.id,
        referrerId,
        referralId,
        eventType: 'referral_registration',
        occurredAt: t.app.clock.now(),
      });
    await invited(pair.primaryId, pair.secondaryId);
    await invited(pair.secondaryId, third.referral.id);
    await merge(t.app, pair);
    expect(await eventsOf(t.app, contest.id)).toMatchObject([
      { referrerId: referrer.id, referralId: pair.primaryId, amountKopeks: 1_200 },
    ]);
    expect(await eventsOf(t.app, other.id)).toMatchObject([{ referrerId: pair.primaryId, referralId: third.referral.id }]);
  });
});
