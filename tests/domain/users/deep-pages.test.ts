/** Pages far down the lists of users are reached from their day of creation, and hold what counting off would give. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listUsers, listUsersForAdmin } from '../../../src/domain/users/list/list-users.ts';
import { DEEP_OFFSET, findDayOfRow } from '../../../src/domain/users/list/repo.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const COUNT = 3_000;
const OURS = 'messenger_id BETWEEN 7100000001 AND 7100003000';
let t: TestApp;

beforeAll(async () => {
  t = await testApp();
  // Eleven hours apart, so that days hold two or three, some on the edge of a day; then one day with a thousand.
  // Raw SQL: thousands of rows in one statement.
  await t.app.db.sql(
    `INSERT INTO users (messenger_id, referral_code, status, created_at, updated_at)
     SELECT 7100000000 + n, 'deep' || n, CASE WHEN n % 3 = 0 THEN 'blocked' ELSE 'active' END,
       CASE WHEN n > 2000 THEN '2021-06-01T12:00:00Z'::timestamptz ELSE '2018-01-01T00:00:00Z'::timestamptz + n * interval '12 hours' END, now()
     FROM generate_series(1, $1::int) AS n RETURNING id`,
    [COUNT],
  );
});
afterAll(() => t.app.db.sql(`DELETE FROM users WHERE ${OURS} RETURNING id`));

async function expectedIds(status: string | null, offset: number): Promise<number[]> {
  const rows = await t.app.db.sql<{ id: number }>(
    `SELECT id FROM users WHERE $1::text IS NULL OR status = $1::text ORDER BY created_at DESC, id DESC LIMIT 7 OFFSET $2::int`,
    [status, offset],
  );
  return rows.map((row) => row.id);
}

const web = { page: null, perPage: null, promoGroupId: null, search: null };
const admin = { search: null, email: null, sortBy: 'created_at' as const };

async function comparePages(): Promise<void> {
  for (const status of [null, 'active', 'blocked'] as const) {
    const { total } = await listUsers(t.app, { ...web, status, limit: 1, offset: 0 });
    const offsets = [0, DEEP_OFFSET - 1, DEEP_OFFSET, DEEP_OFFSET + 1, 1_111, 1_999, 2_000, 2_001, 2_500, total - 8, total - 3];
    for (const offset of offsets.filter((at) => at < total)) {
      const expected = await expectedIds(status, offset);
      const [ofWeb, ofAdmin] = [
        await listUsers(t.app, { ...web, status, limit: 7, offset }),
        await listUsersForAdmin(t.app, { ...admin, status, limit: 7, offset }),
      ];
      expect(
        ofWeb.users.map((user) => user.id),
        `${status} ${offset}`,
      ).toEqual(expected);
      expect(
        ofAdmin.users.map((user) => user.id),
        `${status} ${offset}`,
      ).toEqual(expected);
    }
    expect((await listUsers(t.app, { ...web, status, limit: 7, offset: total + 5_000 })).users).toEqual([]);
  }
}

test('hold the same rows as counting off, also after users change and go', async () => {
  await comparePages();
  await t.app.db.sql(`UPDATE users SET status = 'deleted' WHERE ${OURS} AND id % 5 = 0 RETURNING id`);
  await t.app.db.sql(`UPDATE users SET created_at = created_at - interval '31 hours' WHERE ${OURS} AND id % 7 = 0 RETURNING id`);
  await t.app.db.sql(`DELETE FROM users WHERE ${OURS} AND id % 11 = 0 RETURNING id`);
  await comparePages();
  const [row] = await t.app.db.sql<{ differing: number }>(
    `SELECT count(*)::int AS differing FROM (
       (SELECT utc_day(created_at), status, count(*) FROM users GROUP BY 1, 2
        EXCEPT SELECT day, status, sum(users) FROM user_day_counters GROUP BY 1, 2)
       UNION ALL (SELECT day, status, sum(users) FROM user_day_counters GROUP BY 1, 2 HAVING sum(users) <> 0
        EXCEPT SELECT utc_day(created_at), status, count(*) FROM users GROUP BY 1, 2)) d`,
  );
  expect(row).toEqual({ differing: 0 });
});

test('of a long list only the rows of one day are counted off', async () => {
  const deep = await findDayOfRow(t.app.db, 2_400, null);
  expect(deep!.skipped).toBeGreaterThan(2_390);
  expect(deep!.skipped).toBeLessThanOrEqual(2_400);
  expect(await findDayOfRow(t.app.db, 2_147_000_000, null)).toBeNull();
});
