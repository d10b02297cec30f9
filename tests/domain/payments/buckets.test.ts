import { expect, test } from 'vitest';
import { BUCKETS, bucketOf } from '../../../src/domain/payments/search/payment-filter.ts';
import type { Payment } from '../../../src/domain/payments/types.ts';
import { testApp } from '../../support/test-app.ts';

test('spec 03 H20: one table sorts the payments of all methods, the same in the database and in the program', async () => {
  const { app } = await testApp();
  // The outcomes are read off the constraint, so that a new one cannot be forgotten.
  const [check] = await app.db.sql<{ text: string }>(
    "SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conname = 'payments_outcome_known'",
  );
  const outcomes = [...check!.text.matchAll(/'(\w+)'/g)].map((match) => match[1] as Payment['outcome']);
  expect([...outcomes].sort()).toEqual(['amount_mismatch', 'expired', 'failed', 'paid', 'pending', 'refunded']);
  const cases = outcomes.flatMap((outcome) => [true, false].map((isPaid) => ({ outcome, isPaid })));
  const rows = await app.db.sql<{ outcome: Payment['outcome']; isPaid: boolean; bucket: string }>(
    `SELECT outcome, is_paid, payment_bucket(is_paid, outcome) AS bucket
     FROM jsonb_to_recordset($1::jsonb) AS c (outcome text, is_paid boolean)`,
    [JSON.stringify(cases.map(({ outcome, isPaid }) => ({ outcome, is_paid: isPaid })))],
  );
  expect(rows).toHaveLength(12);
  for (const row of rows) expect([row, bucketOf(row)]).toEqual([row, row.bucket]);
  expect(new Set(rows.map((row) => row.bucket))).toEqual(new Set(BUCKETS));
  expect(
    rows
      .filter((row) => !row.isPaid && row.bucket === 'cancelled')
      .map((row) => row.outcome)
      .sort(),
  ).toEqual([...['amount_mismatch', 'expired', 'failed', 'refunded']]);
});
