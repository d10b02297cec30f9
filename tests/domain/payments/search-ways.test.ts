import { beforeAll, expect, test } from 'vitest';
import type { AdminActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { MAX_MATCHES, readSearchStats, searchPayments } from '../../../src/domain/payments/search/search-payments.ts';
import { aConfigAdmin } from '../../support/admins.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
let admin: AdminActor;
beforeAll(async () => {
  app = (await testApp()).app;
  admin = await aConfigAdmin(app);
  // Raw SQL: 4,700 users with a payment each, in two statements.
  await app.db.sql(
    `INSERT INTO users (referral_code, username, created_at)
     SELECT 'ways' || n, CASE WHEN n <= 3000 THEN 'plain_' ELSE 'walker_' END || n, now() FROM generate_series(1, 4700) n RETURNING id`,
  );
  await app.db.sql(
    `INSERT INTO payments (method, user_id, order_id, amount_kopeks, status, created_at)
     SELECT 'wata', u.id, CASE WHEN u.username LIKE 'plain%' THEN 'plain-' ELSE 'walker-' END || u.id, 100, 'x', now() - interval '1 minute' * row_number() OVER (ORDER BY u.id)
     FROM users u WHERE u.referral_code LIKE 'ways%' RETURNING id`,
  );
  await app.db.sql('ANALYZE users');
  await app.db.sql('ANALYZE payments');
});

/** What a plain comparison of all rows finds, newest first. */
async function expectedIds(where: string): Promise<number[]> {
  const rows = await app.db.sql<{ id: number }>(
    `SELECT p.id FROM payments p LEFT JOIN users u ON u.id = p.user_id WHERE ${where} ORDER BY p.created_at DESC, p.id DESC LIMIT ${MAX_MATCHES}`,
  );
  return rows.map(({ id }) => id);
}

test.each([
  // Of few users, of more than are looked up one by one, of a large part of all users.
  ['@walker_450', "u.username LIKE '%walker_450%'"],
  ['@walker_', "u.username LIKE '%walker~_%' ESCAPE '~'"],
  ['@PLAIN', "u.username LIKE '%plain%'"],
  // The beginning of an id, rare and common.
  ['walker-', "p.order_id LIKE 'walker-%'"],
  ['plain-', "p.order_id LIKE 'plain-%'"],
])('spec 03 H19: %s is found the same way whatever way the search takes', async (search, where) => {
  const expected = await expectedIds(where);
  const request = { search, period: 'all', perPage: 100 };
  const found = [];
  for (let page = 1; page <= Math.ceil(expected.length / 100); page++) {
    const { items, total } = await searchPayments(app, admin, { ...request, page });
    expect(total).toBe(expected.length);
    found.push(...items.map(({ id }) => id));
  }
  expect(found).toEqual(expected);
  expect(await readSearchStats(app, request)).toMatchObject({ total: expected.length, byMethod: { wata: expected.length } });
  expect((await searchPayments(app, admin, { ...request, page: 1, statusFilter: 'paid' })).total).toBe(0);
});
