import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import {
  changeReferralContest,
  createReferralContest,
  readContestStatistics,
} from '../../src/domain/engagement/referral-contests/contests.ts';
import { scoreContest, scoreSubscriptionPayment } from '../../src/domain/engagement/referral-contests/scores.ts';
import { COUNTERS } from '../domain/core/counter-table.ts';
import { aUser } from '../support/builders.ts';
import { aContest, aPurchase } from '../support/contest-samples.ts';
import { setUser } from '../support/merge-samples.ts';
import { topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

// The embedded database has one connection: races need a server.
describe.runIf(serverUrl)('scores of contests', () => {
  let database: TestDatabase;
  let t: TestApp;
  const referrers: number[] = [];
  const referrals: number[] = [];

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 14 });
    t = await testApp({ database, environment: { CONTESTS_ENABLED: 'true' } });
    for (let index = 0; index < 3; index++) referrers.push((await aUser(t.app)).id);
    for (let index = 0; index < 12; index++) {
      const { id } = await aUser(t.app);
      referrals.push(id);
      await setUser(t.app, id, { referred_by_id: referrers[index % 3]! });
      await topUp(t.app, id, 100_000);
    }
  });
  afterAll(() => database.drop());

  const differences = async () => {
    const found: Record<string, unknown> = {};
    for (const { name, maintained, counted } of COUNTERS.filter((counter) => counter.name.startsWith('referral_contest'))) {
      const [is, shall] = [await t.app.db.sql(maintained), await t.app.db.sql(counted)];
      if (JSON.stringify(is) !== JSON.stringify(shall)) found[name] = { is, shall };
    }
    return found;
  };
  const paidInAll = async () => {
    const text =
      "SELECT coalesce(sum(abs(amount_kopeks)), 0)::bigint AS kopeks FROM transactions WHERE type = 'subscription_payment'";
    return (await t.app.db.sql<{ kopeks: number }>(text))[0]!.kopeks;
  };
  const rounds = async (count: number, work: (step: number) => Promise<unknown>) => {
    for (let step = 0; step < count; step++) await work(step);
  };

  it('spec 04 section 11.4: stay equal to the events while payments are scored, periods move, accounts and contests are deleted', async () => {
    const now = t.app.clock.now();
    const contests = [await aContest(t.app), await aContest(t.app)];
    const pay = (worker: number) =>
      rounds(25, async (step) => {
        const transactionId = await aPurchase(t.app, referrals[(worker * 5 + step) % 12]!, 10 + step);
        // A job that meets the deletion of a contest is repeated, as often as it does.
        const score = (): Promise<unknown> =>
          scoreSubscriptionPayment(t.app, { transactionId }).catch((error: Error) =>
            /contest_id_fkey/.test(error.message) ? score() : Promise.reject(error),
          );
        await score();
      });
    const move = () =>
      rounds(12, (step) =>
        changeReferralContest(t.app, contests[step % 2]!.id, { endAt: addDays(now, step % 3 === 0 ? -1 / 24 : 5).toISOString() }),
      );
    const disappear = () =>
      rounds(30, async (step) => {
        const id = step % 5 === 0 ? referrers[step % 3]! : referrals[step % 12]!;
        // In transactions, as every use case: a deadlock is tried again.
        for (const status of ['deleted', 'active']) await inTransaction(t.app, (a) => setUser(a, id, { status }));
      });
    const replace = () =>
      rounds(8, async () => {
        const { id } = await aContest(t.app);
        await scoreContest(t.app, id);
        await changeReferralContest(t.app, id, { isActive: false });
        await inTransaction(t.app, (a) => a.db.sql('DELETE FROM referral_contests WHERE id = $1::int RETURNING id', [id]));
      });
    await Promise.all([pay(0), pay(1), pay(2), pay(3), move(), disappear(), replace()]);
    expect(await differences()).toEqual({});

    const paid = await paidInAll();
    // What was scored while the period excluded it is in no event; scoring again finds all of it.
    for (const { id } of contests) {
      await changeReferralContest(t.app, id, { endAt: addDays(now, 5).toISOString() });
      await scoreContest(t.app, id);
      expect(await readContestStatistics(t.app, id)).toMatchObject({ totalInvited: 12, totalPaidAmount: paid, totalUnpaid: 0 });
    }
    expect(await differences()).toEqual({});
  });

  it('spec 04 section 11.2: payments that are on their way while a contest is created are counted', async () => {
    const now = t.app.clock.now();
    const create = async () => {
      const period = { startAt: addDays(now, -1).toISOString(), endAt: addDays(now, 2).toISOString() };
      const fields = { title: 'Late', contestType: 'referral_paid', timezone: 'UTC', isActive: true };
      return createReferralContest(t.app, { ...period, ...fields });
    };
    const [contest] = await Promise.all([create(), ...referrals.map((id) => aPurchase(t.app, id, 7))]);
    // Both runs that the creation sent, and the jobs of the payments that saw the contest.
    const jobs = await t.app.db.sql<{ transactionId: number }>(
      "SELECT (data->>'transactionId')::int AS transaction_id FROM jobs.job WHERE name = 'engagement.score-payment'",
    );
    await Promise.all([
      scoreContest(t.app, contest.id),
      ...jobs.map(({ transactionId }) => scoreSubscriptionPayment(t.app, { transactionId })),
      scoreContest(t.app, contest.id),
    ]);
    expect(await readContestStatistics(t.app, contest.id)).toMatchObject({
      totalInvited: 12,
      totalPaidAmount: await paidInAll(),
    });
    expect(await differences()).toEqual({});
  });
});
