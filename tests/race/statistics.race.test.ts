import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { compactStatistics, countSalesStep, recountStatistics } from '../../src/domain/insight/sales/repo.ts';
import { readDepositStats } from '../../src/domain/insight/sales/sales.ts';
import { countTransactionsByDay } from '../../src/domain/ledger/transactions.ts';
import { COUNTERS } from '../domain/core/counter-table.ts';
import { aUser } from '../support/builders.ts';
import { aStoredSubscription } from '../support/sale-samples.ts';
import { countEverything, EVERYTHING, payAt } from '../support/statistics-setup.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

// The embedded database has one connection: races need a server.
describe.runIf(serverUrl)('statistics', () => {
  let database: TestDatabase;
  let t: TestApp;
  const users: number[] = [];

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 14 });
    t = await testApp({ database });
    for (let index = 0; index < 10; index++) users.push((await aUser(t.app)).id);
    for (const id of users) await aStoredSubscription(t.app, id, { is_trial: id % 2 === 0 });
  });
  afterAll(() => database.drop());

  /**
   * Waits before the commit, so that other workers run in between. A transaction, because that is repeated after a deadlock: new referrers of
   * two people, of whom one refers the other, wait for each other's row and for the numbers of the former referrer.
   */
  const slowly = (statement: string) =>
    inTransaction(t.app, ({ db }) =>
      db.sql(`WITH changed AS (${statement} RETURNING 1) SELECT pg_sleep(0.002)::text AS slept FROM changed`),
    );
  const at = (step: number) => new Date(Date.UTC(2026, 2, 1) + ((step * 7919) % 60) * 86_400_000);
  const rounds = async (work: (step: number) => Promise<unknown>, count = 40) => {
    for (let step = 0; step < count; step++) await work(step);
  };

  it('spec 06 section 4.5: stay equal to the rows while payments, counting, changes of referrers and of the time zone run at once', async () => {
    let paid = 0;
    const underWay = new Set<Promise<unknown>>();
    const pay = (worker: number) =>
      rounds(async (step) => {
        const paying = payAt(t.app, users[(worker * 3 + step) % 10]!, at(step + worker), 100 + step);
        underWay.add(paying);
        await paying.finally(() => underWay.delete(paying));
        paid += 100 + step;
      });
    const count = (isMarking: boolean) =>
      rounds(async () => {
        if (isMarking) {
          // In place of the minute that the job waits: whatever had an id at the last mark has ended.
          await Promise.all(underWay);
          await countTransactionsByDay(t.app, -1);
        }
        await countSalesStep(t.app.db, 5);
        await compactStatistics(t.app.db);
      });
    // Referrers have lower ids, so that no change closes a cycle.
    const refer = (worker: number) =>
      rounds((step) => {
        const place = 1 + ((worker + step) % 9);
        return slowly(
          `UPDATE users SET referred_by_id = ${step % 4 === 0 ? 'NULL' : users[step % place]} WHERE id = ${users[place]}`,
        );
      });
    const link = () =>
      rounds((step) =>
        slowly(`UPDATE users SET vk_id = ${step % 2 === 0 ? 'NULL' : 1_000 + step} WHERE id = ${users[step % 10]}`),
      );
    const convert = (worker: number) =>
      rounds((step) =>
        slowly(
          `UPDATE subscriptions SET is_trial = NOT is_trial, end_date = end_date + interval '1 day' WHERE user_id = ${users[(worker + step) % 10]}`,
        ),
      );
    const zones = () => rounds((step) => recountStatistics(t.app.db, ['UTC', 'Asia/Kathmandu'][step % 2]!), 6);
    // No answer in between is one that was never true: the sum only grows.
    const watch = async () => {
      let last = 0;
      await rounds(async () => {
        const { totalAmountKopeks } = await readDepositStats(t.app, EVERYTHING);
        expect(totalAmountKopeks).toBeGreaterThanOrEqual(last);
        last = totalAmountKopeks;
      }, 25);
    };
    await Promise.all([
      pay(1),
      pay(2),
      pay(3),
      count(true),
      count(false),
      refer(1),
      refer(4),
      link(),
      convert(1),
      convert(2),
      zones(),
      watch(),
    ]);

    const differing = async () => {
      const found: string[] = [];
      for (const { name, maintained, counted } of COUNTERS) {
        const [is, shall] = [await t.app.db.sql(maintained), await t.app.db.sql(counted)];
        if (JSON.stringify(is) !== JSON.stringify(shall)) found.push(name);
      }
      return found;
    };
    expect(await differing()).toEqual([]);
    await countEverything(t.app);
    expect(await differing()).toEqual([]);
    const [rows] = await t.app.db.sql<{ most: number }>(
      'SELECT max(n)::int AS most FROM (SELECT count(*) AS n FROM statistics_days GROUP BY kind, day, key) x',
    );
    expect(rows!.most).toBe(1);
    expect((await readDepositStats(t.app, EVERYTHING)).totalAmountKopeks).toBe(paid);
  });
});
