import { beforeAll, expect, test } from 'vitest';
import type { App } from '../../../../src/core/app.ts';
import type { Rows } from '../../../../src/core/db/columns.ts';
import { exportPayouts } from '../../../../src/domain/referrals/withdrawals/decide.ts';
import type { PayoutStatus } from '../../../../src/domain/referrals/withdrawals/types.ts';
import { setUser } from '../../../support/merge-samples.ts';
import { storeRow } from '../../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../../support/test-app.ts';
import { anEarner } from '../../../support/withdrawal-samples.ts';

let t: TestApp;
let app: App;
beforeAll(async () => {
  t = await testApp();
  app = t.app;
});

/** Rows that only this test has: a year of its own. */
async function payouts(
  userId: number,
  year: number,
  rows: { status: Rows['WithdrawalRequest']['status']; at: string; kopeks: number; details?: string }[],
) {
  for (const row of rows) {
    await storeRow(app, 'WithdrawalRequest', {
      userId,
      amountKopeks: row.kopeks,
      status: row.status,
      paymentDetails: row.details ?? 'Card',
      createdAt: new Date(`${year}-01-01T00:00:00Z`),
      processedAt: new Date(`${year}-${row.at}`),
    });
  }
}

async function exported(from: string, to: string, status: PayoutStatus | null = null) {
  const parts: string[] = [];
  const found = await exportPayouts(app, { from: new Date(from), to: new Date(to), status }, (csv) => void parts.push(csv));
  const [header, ...lines] = parts.join('').split('\r\n');
  return { found, header, lines: lines.slice(0, -1), parts };
}

test('approved and completed requests by the day of their last decision, both ends as asked, in their order', async () => {
  const { userId, messengerId } = await anEarner(app, 100);
  await setUser(app, userId, { username: 'anna', first_name: 'Anna', last_name: null, email: null });
  await payouts(userId, 1990, [
    { status: 'completed', at: '02-01T00:00:00Z', kopeks: 30_050, details: 'Card, 2200' },
    { status: 'approved', at: '02-03T23:59:59.999Z', kopeks: 200 },
    { status: 'approved', at: '01-31T23:59:59.999Z', kopeks: 1 },
    { status: 'completed', at: '02-04T00:00:00Z', kopeks: 2 },
    { status: 'rejected', at: '02-02T00:00:00Z', kopeks: 3 },
  ]);
  const { found, header, lines } = await exported('1990-02-01', '1990-02-04');
  expect(header).toBe(
    'request_id,status,amount_kopeks,amount_rubles,payment_details,user_id,messenger_id,username,first_name,last_name,email,risk_score,' +
      'created_at,processed_at,first_approved_by,processed_by,admin_comment,transaction_id,payout_transaction_id',
  );
  expect(lines.map((line) => line.replace(/^\d+,/, ''))).toEqual([
    `completed,30050,300.50,"Card, 2200",${userId},${messengerId},anna,Anna,,,0,1990-01-01T00:00:00.000Z,1990-02-01T00:00:00.000Z,,,,,`,
    `approved,200,2.00,Card,${userId},${messengerId},anna,Anna,,,0,1990-01-01T00:00:00.000Z,1990-02-03T23:59:59.999Z,,,,,`,
  ]);
  expect(found).toEqual({ payouts: 2, amountKopeks: 30_250 });
  expect((await exported('1990-02-01', '1990-02-04', 'approved')).found).toEqual({ payouts: 1, amountKopeks: 200 });
});

test('what a user wrote is never a formula, and cannot add cells or lines (spec 06 section 17, hazard 20)', async () => {
  const { userId } = await anEarner(app, 100);
  await setUser(app, userId, { username: '@cmd', first_name: '=HYPERLINK("http://evil")' });
  await payouts(userId, 1991, [
    { status: 'approved', at: '02-01T00:00:00Z', kopeks: 100, details: '=1+1' },
    { status: 'approved', at: '02-02T00:00:00Z', kopeks: 100, details: '+7 999 000' },
    { status: 'approved', at: '02-03T00:00:00Z', kopeks: 100, details: 'a",b\r\nc;d' },
    { status: 'approved', at: '02-04T00:00:00Z', kopeks: 100, details: '\t-2' },
  ]);
  const { parts } = await exported('1991-01-01', '1992-01-01');
  const text = parts.join('');
  expect(text).toContain(`,'=1+1,${userId},`);
  expect(text).toContain(`,'+7 999 000,${userId},`);
  expect(text).toContain(`,"a"",b\r\nc;d",${userId},`);
  expect(text).toContain(`,'\t-2,${userId},`);
  expect(text).toContain(`,'@cmd,"'=HYPERLINK(""http://evil"")",`);
});

test('thousands of payouts are written page by page, each once, also with equal times', async () => {
  const { userId } = await anEarner(app, 100);
  // Raw SQL: 2,101 rows in one statement.
  await app.db.sql(
    `INSERT INTO withdrawal_requests (user_id, amount_kopeks, status, processed_at)
     SELECT $1::int, n, 'completed', timestamptz '1992-01-01Z' + n / 700 * interval '1 day' FROM generate_series(1, 2101) n`,
    [userId],
  );
  const { found, lines, parts } = await exported('1992-01-01', '1993-01-01');
  expect(parts.length).toBe(1 + 5);
  expect(found).toEqual({ payouts: 2_101, amountKopeks: (2_101 * 2_102) / 2 });
  expect(new Set(lines.map((line) => line.split(',')[0])).size).toBe(2_101);
});

test('an empty file has the header', async () => {
  expect(await exported('1980-01-01', '1980-01-02')).toMatchObject({ lines: [], found: { payouts: 0, amountKopeks: 0 } });
});
