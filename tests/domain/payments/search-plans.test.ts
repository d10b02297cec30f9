import { beforeAll, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import {
  listAllPending,
  readPendingStats,
  readSearchStats,
  searchPayments,
} from '../../../src/domain/payments/search/search-payments.ts';
import { aConfigAdmin } from '../../support/admins.ts';
import { aUser } from '../../support/builders.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
beforeAll(async () => {
  app = (await testApp()).app;
  const user = await aUser(app);
  // Raw SQL: 8,000 rows in one statement.
  await app.db.sql(
    `INSERT INTO payments (method, user_id, order_id, external_id, charge_id, amount_kopeks, status, outcome, created_at)
     SELECT CASE WHEN n % 50 = 0 THEN 'wata' ELSE 'yookassa' END, CASE WHEN n % 100 = 0 THEN $1::int END, md5(n::text), 'ext' || md5(n::text), CASE WHEN n % 9 = 0 THEN 'c' || n END, 100, 'x',
       (ARRAY['pending', 'failed', 'expired', 'expired'])[1 + n % 7 % 4], now() - interval '1 hour' * n FROM generate_series(1, 8000) n RETURNING id`,
    [user.id],
  );
  await app.db.sql('ANALYZE payments');
});

/** The plans of all statements of `run`, where a table is read as a whole only if no index serves. */
async function plansOf(run: (t: App) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  await inTransaction(app, async (t) => {
    await t.db.sql("SELECT set_config('enable_seqscan', 'off', true) AS set");
    const { sql } = t.db;
    const explained = async (text: string, values: readonly unknown[] = []) => {
      const lines = await sql<Record<string, string>>(`EXPLAIN ${text}`, values);
      plans.push(lines.map((line) => Object.values(line).join('')).join('\n'));
      return sql(text, values);
    };
    await run({ ...t, db: { ...t.db, sql: explained as typeof sql } });
  });
  return plans;
}

const page = { page: 1, perPage: 20, period: 'all' };

const PREFIXES = ['payments_order_id_prefix', 'payments_external_id_prefix', 'payments_charge_id_prefix'];

test.each([
  { request: {}, indexes: ['payments_created_at_id_idx'] },
  { request: { statusFilter: 'pending' }, indexes: ['payments_bucket'] },
  { request: { methodFilter: 'wata' }, indexes: ['payments_method_bucket'] },
  { request: { methodFilter: 'wata', statusFilter: 'cancelled' }, indexes: ['payments_method_bucket'] },
  { request: { page: 80 }, indexes: ['payments_created_at_id_idx'] },
  {
    request: { dateFrom: new Date(Date.now() - 50 * 86_400_000), dateTo: new Date(Date.now() - 30 * 86_400_000) },
    indexes: ['payments_created_at_id_idx'],
  },
  { request: { search: 'abcdef' }, indexes: PREFIXES },
  { request: { search: '123456' }, indexes: [...PREFIXES, 'payments_user_id_created_at_id_idx'] },
])('spec 03 H19: a search for $request uses $indexes', async ({ request, indexes }) => {
  const admin = await aConfigAdmin(app);
  const plans = await plansOf(async (t) => {
    await searchPayments(t, admin, { ...page, ...request });
    await readSearchStats(t, { ...page, ...request });
  });
  for (const index of indexes) expect(plans.join('\n')).toContain(index);
  for (const plan of plans) {
    // Some of the users decide about the way to search: their beginning is read, not the whole table.
    if (/Limit[\s\S]*Seq Scan on users/.test(plan) && !/payments/.test(plan)) continue;
    expect(plan).not.toMatch(/Seq Scan on (?:payments|users)/);
  }
});

test('spec 03 H19: the pending lists read the payments of the last day by an index, and a page is one statement', async () => {
  const admin = await aConfigAdmin(app);
  const all = await plansOf(async (t) => {
    await listAllPending(t, admin, { page: 1, perPage: 20, methodFilter: null });
    await readPendingStats(t);
  });
  const plans = all.filter((plan) => plan.includes('payments'));
  expect(plans).toHaveLength(2);
  for (const plan of plans) expect(plan).not.toMatch(/Seq Scan on payments/);
});
