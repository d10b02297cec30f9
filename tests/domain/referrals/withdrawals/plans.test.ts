/** That lists of requests read an index and not the table: proved by the plan, so it does not depend on the machine. */
import { beforeAll, expect, test } from 'vitest';
import type { Db, SqlRunner } from '../../../../src/core/db/db.ts';
import { inTransaction } from '../../../../src/core/db/transaction.ts';
import { listRequests } from '../../../../src/domain/referrals/withdrawals/decide.ts';
import { findWithdrawalSums, listPayouts } from '../../../../src/domain/referrals/withdrawals/repo.ts';
import { aUser } from '../../../support/builders.ts';
import { type TestApp, testApp } from '../../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

/** Ends the transaction without a trace. */
class Undo extends Error {}

/** Runs `read` on 20,000 requests of 200 users; returns the plan of each statement. */
async function plansOf(read: (db: Db, userId: number) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  const { id } = await aUser(t.app);
  await inTransaction(t.app, async (x) => {
    // Raw SQL: 20,000 requests of 200 users in one statement.
    await x.db.sql(`INSERT INTO users (referral_code) SELECT 'plan' || $1::int || '-' || n FROM generate_series(1, 200) n`, [id]);
    await x.db.sql('ALTER TABLE withdrawal_requests DISABLE TRIGGER USER');
    await x.db.sql(
      `INSERT INTO withdrawal_requests (user_id, amount_kopeks, status, created_at, processed_at)
       SELECT u.id, n, (ARRAY['pending', 'approved', 'rejected', 'completed', 'cancelled'])[1 + n % 5],
         now() - n * interval '1 day', now() - n * interval '1 day'
       FROM generate_series(1, 100) n, users u WHERE u.referral_code LIKE 'plan' || $1::int || '-%'`,
      [id],
    );
    await x.db.sql('ANALYZE withdrawal_requests');
    const explaining: SqlRunner = async (sql, values) => {
      const rows = await x.db.sql<{ queryPlan: string }>(`EXPLAIN ${sql}`, values);
      plans.push(rows.map((row) => Object.values(row)[0]).join('\n'));
      return [];
    };
    await read({ ...x.db, sql: explaining }, id);
    throw new Undo();
  }).catch((error: unknown) => {
    if (!(error instanceof Undo)) throw error;
  });
  return plans;
}

test('lists and sums read an index, and a page is not sorted', async () => {
  const from = new Date(Date.now() - 5 * 86_400_000);
  const [all, far, pending, payouts, sums] = await plansOf(async (db, userId) => {
    await listRequests(db, null, { limit: 50, offset: 0 });
    await listRequests(db, null, { limit: 50, offset: 1_000 });
    await listRequests(db, 'pending', { limit: 50, offset: 500 });
    await listPayouts(db, { from, to: new Date(), status: null }, { processedAt: from, id: 5 }, 500);
    await findWithdrawalSums(db, userId);
  });
  for (const plan of [all, far]) expect(plan).toMatch(/Index Only Scan using withdrawal_requests_created_at_id_idx/);
  expect(pending).toMatch(/Index Only Scan using withdrawal_requests_status_created_at_id_idx/);
  expect(payouts).toMatch(/withdrawal_requests_payouts_idx/);
  expect(sums).toMatch(/withdrawal_requests_user_id_created_at_id_idx/);
  for (const plan of [all, far, pending, payouts, sums]) expect(plan).not.toMatch(/Seq Scan on withdrawal_requests/);
});
