import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COUNTERS } from '../domain/core/counter-table.ts';
import { aUser } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

// The embedded database has one connection: races need a server.
describe.runIf(serverUrl)('counters of subscriptions', () => {
  let database: TestDatabase;
  let t: TestApp;

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 12 });
    t = await testApp({ database });
  });
  afterAll(() => database.drop());

  /** Waits between the two statements of a transaction, so that those of other workers run in between. */
  const slowly = (statement: string) =>
    t.app.db.sql(`WITH changed AS (${statement} RETURNING 1) SELECT pg_sleep(0.002)::text AS slept FROM changed`);

  it('stay exact while users pay, trials begin, change and end at once, in a small number of counter rows', async () => {
    const users: number[] = [];
    for (let index = 0; index < 12; index++) users.push((await aUser(t.app)).id);
    const pay = async (worker: number) => {
      for (let round = 0; round < 60; round++)
        await slowly(
          `UPDATE users SET has_had_paid_subscription = NOT has_had_paid_subscription WHERE id = ${users[(worker * 5 + round) % 12]}`,
        );
    };
    const change = async (worker: number) => {
      for (let round = 0; round < 60; round++) {
        const userId = users[(worker + round) % 12];
        const end = `now() + interval '${(round % 9) * 12 - 48} hours'`;
        const trial = (worker + round) % 3 > 0;
        await slowly(
          // Raw SQL: whether the row is new depends on what runs concurrently.
          `INSERT INTO subscriptions AS s (user_id, status, is_trial, end_date) VALUES (${userId}, 'trial', ${trial}, ${end})
           ON CONFLICT (user_id) DO UPDATE SET is_trial = ${trial}, end_date = ${end},
             status = CASE s.status WHEN 'trial' THEN 'active' WHEN 'active' THEN 'expired' ELSE 'trial' END`,
        );
        if (round % 7 === 0) await t.app.db.sql('DELETE FROM subscriptions WHERE user_id = $1::int RETURNING id', [userId]);
      }
    };
    await Promise.all([pay(1), pay(2), pay(3), change(1), change(2), change(3), change(4)]);

    for (const { name, maintained, counted } of COUNTERS)
      expect([name, await t.app.db.sql(maintained)]).toEqual([name, await t.app.db.sql(counted)]);
    const [rows] = await t.app.db.sql<{ trials: number; kept: number }>(
      `SELECT (SELECT count(*)::int FROM subscription_counters) AS kept, (SELECT count(*)::int FROM subscriptions WHERE is_trial) AS trials`,
    );
    expect(rows!.trials).toBeGreaterThan(2);
    expect(rows!.kept).toBeLessThan(300);
  });
});
