/** Files of tests share a database; what one leaves must not reach the next, whichever way it was removed. */

import { beforeAll, describe, expect, test } from 'vitest';
import { registerUser } from '../../../src/domain/users/account/save-user.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { emptyDatabase } from '../../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

/** Rows of each table that has any, and the sequences that were used. */
async function contents(): Promise<Record<string, number>> {
  const tables = await t.app.db.sql<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'");
  const counts = await t.app.db.sql<{ name: string; count: number }>(
    tables.map(({ name }) => `SELECT '${name}' AS name, (SELECT count(*)::int FROM "${name}") AS count`).join(' UNION ALL '),
  );
  const sequences = await t.app.db.sql<{ name: string; count: number }>(
    `SELECT sequencename AS name, last_value AS count FROM pg_sequences
     WHERE schemaname = 'public' AND last_value IS NOT NULL AND sequencename <> 'promo_groups_id_seq'`,
  );
  const jobs = await t.app.db.sql<{ name: string; count: number }>("SELECT 'jobs' AS name, count(*)::int AS count FROM jobs.job");
  return Object.fromEntries(
    [...counts, ...sequences, ...jobs].filter(({ count }) => count > 0).map(({ name, count }) => [name, count]),
  );
}

const writeUser = (messengerId: number) =>
  registerUser(
    t.app,
    { kind: 'token', tokenId: 1, name: 'test' },
    { messengerId, username: null, firstName: 'Anna', lastName: null, language: 'ru', referredById: null, promoGroupId: null },
  );

describe('between two files of tests', () => {
  test('rows, jobs and sequences are as at the beginning, after few rows and after many', async () => {
    const empty = await contents();
    expect(empty).toMatchObject({ promo_groups: 1, promo_offer_templates: 3, contest_templates: 7 });

    await writeUser(8_100_000_001);
    await storeRow(t.app, 'PromoGroup', { name: 'Another' });
    expect(Object.keys(await contents()).length).toBeGreaterThan(Object.keys(empty).length + 2);
    await emptyDatabase(t.database);
    expect(await contents()).toEqual(empty);

    await writeUser(8_100_000_001);
    // Raw SQL: 10,000 rows in one statement.
    await t.app.db.sql(
      `INSERT INTO server_squads (squad_uuid, display_name) SELECT gen_random_uuid(), repeat('long ', 40)
       FROM generate_series(1, 10000)`,
    );
    await emptyDatabase(t.database);
    expect(await contents()).toEqual(empty);
    const [size] = await t.app.db.sql<{ bytes: number }>("SELECT pg_relation_size('server_squads') AS bytes");
    expect(size!.bytes).toBe(0);
  });
});
