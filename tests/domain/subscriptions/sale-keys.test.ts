/** What a sale writes has one list of keys and one of columns in SQL; both are those of the TypeScript types. */
import { expect, test } from 'vitest';
import { SALE_KEYS } from '../../../src/domain/subscriptions/purchase/sale-row.ts';
import { columnsOf } from '../../../src/domain/subscriptions/repo.ts';
import { CHANGED_FIELDS, type SubscriptionChanges } from '../../../src/domain/subscriptions/types.ts';
import { aUser } from '../../support/builders.ts';
import { testApp } from '../../support/test-app.ts';

const { app } = await testApp();

test('the keys of complete_sale() are those of SaleRow', async () => {
  const [row] = await app.db.sql<{ source: string }>("SELECT prosrc AS source FROM pg_proc WHERE proname = 'complete_sale'");
  const list = /jsonb_to_record\(p_sale\) AS r \(([^)]*)\)/.exec(row!.source)?.[1] ?? '';
  const keys = list.split(',').map((column) => column.trim().split(' ')[0]);
  expect(keys.sort()).toEqual([...SALE_KEYS].sort());
});

test('sale_columns() are the fields that a rule may set', async () => {
  const [row] = await app.db.sql<{ columns: string[] }>('SELECT sale_columns() AS columns');
  const changes = Object.fromEntries(CHANGED_FIELDS.map((field) => [field, null])) as unknown as SubscriptionChanges;
  expect(row!.columns.sort()).toEqual(Object.keys(columnsOf(changes)).sort());
});

test('a sale to a subscription writes sale_columns() and what a request to the panel changes', async () => {
  const [row] = await app.db.sql<{ columns: string[]; source: string }>(
    "SELECT sale_columns() AS columns, prosrc AS source FROM pg_proc WHERE proname = 'complete_sale'",
  );
  const written = [...row!.source.matchAll(/(\w+) = v_new\.(\w+)/g)].map(([, column, source]) => [column, source]);
  const requested = [...row!.source.matchAll(/'(provision_\w+)'/g)].map(([, column]) => column!);
  expect(requested).toHaveLength(7);
  const columns = [...row!.columns, ...requested];
  expect(written.sort()).toEqual(columns.map((column) => [column, column]).sort());
});

const emptySale = Object.fromEntries(SALE_KEYS.map((key) => [key, null]));

test.each([
  ['of the sale', { ...emptySale, changes: {}, price_kopeks: 1 }, 'complete_sale() does not know the keys price_kopeks'],
  [
    'of the subscription',
    { ...emptySale, changes: { device_limit: 2, user_id: 7, balance: 1 } },
    'complete_sale() does not know the keys balance, user_id',
  ],
])('an unknown key %s is refused, and nothing is written', async (_place, sale, message) => {
  const user = await aUser(app);
  const sent = app.db.sql('SELECT outcome FROM complete_sale($1::jsonb, now())', [JSON.stringify({ ...sale, user_id: user.id })]);
  await expect(sent).rejects.toThrow(message);
  expect(await app.db.sql('SELECT id FROM subscriptions WHERE user_id = $1::int', [user.id])).toEqual([]);
});
