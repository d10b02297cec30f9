import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/core/clock.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import {
  countTransactionsByDay,
  listTransactions,
  readTotalBalance,
  sumTransactions,
  type TransactionFilter,
} from '../../../src/domain/ledger/transactions.ts';
import type { Movement, TransactionType } from '../../../src/domain/ledger/types.ts';
import { UNCOUNTED_ROWS } from '../../../src/domain/ledger/types.ts';
import { aUser } from '../../support/builders.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const START = Date.UTC(2026, 2, 1);
const TYPES: TransactionType[] = ['deposit', 'refund', 'referral_reward'];
const METHODS = ['yookassa', 'manual', null];

let t: TestApp;
let users: number[];
let posted = 0;
beforeAll(async () => {
  t = await testApp();
  users = [(await aUser(t.app)).id, (await aUser(t.app)).id];
  for (let index = 0; index < 60; index++) await post();
});

/** A movement on one of ten days, some of them exactly at midnight, every seventh internal. */
async function post(): Promise<void> {
  const index = posted++;
  const movement: Movement = {
    userId: users[index % 2]!,
    type: TYPES[index % 3]!,
    amountKopeks: 100 + index,
    contra: { kind: 'manual_adjustment' },
    paymentMethod: METHODS[index % 4 === 3 ? 2 : index % 4]!,
    description: null,
    createdAt: new Date(START + (index % 10) * DAY_MS + (index % 5) * 6 * 3_600_000),
    isInternal: index % 7 === 6,
  };
  await postMovement(t.app, movement);
}

const timestamps = fc.option(
  fc.integer({ min: -4, max: 44 }).map((quarter) => new Date(START + quarter * 6 * 3_600_000)),
  { nil: undefined },
);
const filters: fc.Arbitrary<TransactionFilter> = fc
  .record({
    // Left out in half of them: only the lists of all users use the counts by day.
    userId: fc.option(fc.constantFrom(1, 2), { nil: undefined, freq: 2 }),
    type: fc.option(fc.constantFrom(...TYPES, 'nonsense'), { nil: undefined }),
    paymentMethod: fc.option(fc.constantFrom('yookassa', 'manual', 'tribute', ''), { nil: undefined }),
    isCompleted: fc.option(fc.boolean(), { nil: undefined }),
    from: timestamps,
    to: timestamps,
  })
  .map((filter) => Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)));

/** Any filter has the total of counting its rows, and pages divide the list without gap or repeat. */
async function totalsAreExact(): Promise<void> {
  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      const all = await listTransactions(t.app, filter, { limit: 200, offset: 0 });
      expect(all.total).toBe(all.items.length);
      const keys = all.items.map((item) => `${item.createdAt.toISOString()} ${String(item.id).padStart(9, '0')}`);
      expect(keys).toEqual([...keys].sort().reverse());
      const second = await listTransactions(t.app, filter, { limit: 7, offset: 7 });
      expect(second.items).toEqual(all.items.slice(7, 14));
      expect(second.total).toBe(all.total);
    }),
    { numRuns: 60 },
  );
}

/** Every period that begins or ends inside a day, of all users: the days come from counts, the parts of days from rows. */
async function totalsOfPeriodsAreExact(): Promise<void> {
  const periods = Array.from({ length: 12 }, (_value, index) => new Date(START + (index * 5 - 2) * 6 * 3_600_000));
  for (const from of [undefined, ...periods]) {
    for (const to of [undefined, ...periods]) {
      const { items, total } = await listTransactions(t.app, { from, to }, { limit: 200, offset: 0 });
      expect(total, `from ${from?.toISOString()} to ${to?.toISOString()}`).toBe(items.length);
    }
  }
}

describe('listTransactions', () => {
  test('totals are exact before, while and after days are counted', async () => {
    await totalsAreExact();
    // Twice: a round records the highest id, the next one counts up to it.
    await countTransactionsByDay(t.app, -1);
    await countTransactionsByDay(t.app, -1);
    const [mark] = await t.app.db.sql<{ counted: number; through: number }>(
      `SELECT (SELECT sum(total)::int FROM transaction_day_counts) AS counted, through_id AS through FROM transaction_count_mark`,
    );
    expect(mark!.through).toBeGreaterThanOrEqual(60);
    expect(mark!.counted).toBe(posted - Math.floor(posted / 7));
    await totalsAreExact();
    for (let index = 0; index < 10; index++) await post();
    await totalsAreExact();
    await t.app.db.sql('UPDATE transactions SET is_completed = false WHERE id IN (3, 11, 64) RETURNING id');
    await t.app.db.sql("UPDATE transactions SET created_at = created_at + interval '3 days' WHERE id IN (4, 12) RETURNING id");
    await totalsAreExact();
    await countTransactionsByDay(t.app, -1);
    await countTransactionsByDay(t.app, -1);
    await totalsAreExact();
  });

  test('spec 10 G1: totals of all users are exact for periods that begin or end inside a day', async () => {
    await countTransactionsByDay(t.app, -1);
    await countTransactionsByDay(t.app, -1);
    await totalsOfPeriodsAreExact();
  });

  test('spec 10 D2: a request reads a bounded number of uncounted rows, and totals say what is counted until the job has come there', async () => {
    await countTransactionsByDay(t.app, -1);
    await countTransactionsByDay(t.app, -1);
    const total = async () => (await listTransactions(t.app, {}, { limit: 1, offset: 0 })).total;
    const deposits = async () => (await sumTransactions(t.app, new Date(START))).reduce((sum, { count }) => sum + count, 0);
    const counted = [await total(), await deposits(), await readTotalBalance(t.app)];
    // As far above the mark as after an import of many.
    await t.app.db.sql("SELECT setval('transactions_id_seq', (SELECT max(id) FROM transactions) + $1::int)", [UNCOUNTED_ROWS]);
    while (posted % 7 === 6) posted++;
    await post();
    expect([await total(), await deposits(), await readTotalBalance(t.app)]).toEqual(counted);
    const warnings: unknown[] = [];
    const log = { ...t.app.log, warn: (fields: unknown) => warnings.push(fields) } as unknown as typeof t.app.log;
    await countTransactionsByDay(t.app, -1);
    await countTransactionsByDay({ ...t.app, log }, -1);
    expect(await total()).toBe(counted[0]! + 1);
    expect(await readTotalBalance(t.app)).toBe(counted[2]! + 99 + posted);
    expect(warnings).toMatchObject([{ rows: UNCOUNTED_ROWS + 1, since: expect.any(Date) }]);
  });

  test('rows that were not settled when they were seen are not counted by day yet', async () => {
    await post();
    await countTransactionsByDay(t.app, -1);
    const through = async () =>
      (await t.app.db.sql<{ id: number }>('SELECT through_id AS id FROM transaction_count_mark'))[0]!.id;
    const before = await through();
    await post();
    await countTransactionsByDay(t.app, 3_600);
    expect(await through()).toBe(before);
  });
});
