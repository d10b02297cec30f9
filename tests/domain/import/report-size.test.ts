/** Spec 07 section 10: a report has the sums of both sides and every deviation with its money, and stays small; a verification finds what is here only. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FinishedPass } from '../../../src/domain/import/run-import.ts';
import { type Imported, importedFrom } from '../../support/imported-databases.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { serverUrl } from '../../support/test-database.ts';

const CODES = 1_200;

describe.skipIf(!serverUrl)('a report (left out without a server: TEST_DATABASE_URL)', () => {
  let imported: Imported;
  let debts: number;
  beforeAll(async () => {
    imported = await importedFrom(['--version', 'v4', '--users', '60'], async (source) => {
      // Raw SQL: thousands of rows of the other product's database.
      await source.query(
        `INSERT INTO promocodes (id, code, type, balance_bonus_kopeks, subscription_days, max_uses, current_uses, is_active, valid_from, first_purchase_only)
           SELECT 10000 + n, 'MANY' || n, 'balance', 100, 0, 5, 1, true, now(), false FROM generate_series(1, ${CODES}) n;
         INSERT INTO promocode_uses (promocode_id, user_id, used_at) SELECT 10000 + n, 21, now() FROM generate_series(1, ${CODES}) n`,
      );
      const { rows } = await source.query<{ kopeks: number }>(
        'SELECT sum(-balance_kopeks)::int AS kopeks FROM users WHERE balance_kopeks < 0',
      );
      debts = rows[0]!.kopeks;
    });
  });
  afterAll(() => imported.drop());

  test('has a thousand keys of a sum at most, and all further ones in one row', () => {
    const { rows } = imported.result.sums.find(({ name }) => name === 'uses by promo code')!;
    expect(rows).toHaveLength(1_001);
    expect(rows.at(-1)!.key).toBe('all others');
    const all = (side: 'sourceRows' | 'targetRows') => rows.reduce((sum, row) => sum + row[side], 0);
    // Uses that are kept aside are in the source's sums only.
    for (const side of ['sourceRows', 'targetRows'] as const) expect(all(side)).toBeGreaterThanOrEqual(CODES);
  });

  test('says how much money the rows of a deviation are about, by table', () => {
    const { deviations } = imported.result as FinishedPass;
    const { balance_negative: users } = imported.made.issues;
    expect(deviations.find(({ code }) => code === 'balance_negative')!.tables).toEqual({
      users: { count: users, kopeks: debts },
    });
  });

  test('of a verification names a setting that only this service has', async () => {
    await storeRow(imported.app, 'SystemSetting', { key: 'CONTESTS_ENABLED', value: 'true' });
    expect(await imported.verify()).toMatchObject({
      differing: 1,
      differences: [{ table: 'system_settings', source: null, target: { source_key: 'CONTESTS_ENABLED' } }],
    });
  });
});
