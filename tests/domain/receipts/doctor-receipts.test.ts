import { beforeEach, describe, expect, test } from 'vitest';
import { checkReceipts } from '../../../src/cli/doctor/content-checks.ts';
import type { App } from '../../../src/core/app.ts';
import { aQueuedReceipt, type Paid, receiptFixture } from '../../support/receipt-samples.ts';

const ACCOUNT = { NALOGO_INN: '123456789012', NALOGO_PASSWORD: 'a password' };

let app: App;
beforeEach(async () => {
  ({ app } = await receiptFixture(ACCOUNT));
});

const doctor = () => checkReceipts(app, app.settings);
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
const paidAt = (paid: Paid, timestamp: Date, state = 'queued') =>
  app.db.sql('UPDATE receipts SET operation_at = $2::timestamptz, state = $3 WHERE payment_id = $1::int RETURNING id', [
    paid.paymentId,
    timestamp,
    state,
  ]);

describe('doctor about tax receipts', () => {
  test('is content while none waits for more than a day', async () => {
    expect(await doctor()).toMatchObject({ verdict: 'ok', detail: 'none is waiting' });
    await aQueuedReceipt(app);
    expect(await doctor()).toMatchObject({ verdict: 'ok', detail: expect.stringContaining('1 waiting') });
  });

  test('warns of one that waits for two days, and of one that a person has to look after', async () => {
    const paid = await aQueuedReceipt(app);
    // Within the first days of a month the last day of the month before has not passed either.
    await paidAt(paid, daysAgo(2));
    expect(await doctor()).toMatchObject({ verdict: 'warning' });
    await paidAt(paid, new Date(), 'failed');
    expect(await doctor()).toMatchObject({ verdict: 'warning', detail: expect.stringContaining('1 of them refused') });
  });

  test('reports one whose last day has passed', async () => {
    await paidAt(await aQueuedReceipt(app), daysAgo(41));
    expect(await doctor()).toMatchObject({ verdict: 'problem' });
  });

  test('warns when receipts are on without an account, or off while some wait', async () => {
    await aQueuedReceipt(app);
    const { app: without } = await receiptFixture({});
    expect(await checkReceipts(app, without.settings)).toMatchObject({
      verdict: 'warning',
      next: expect.stringContaining('NALOGO_INN'),
    });
    const { app: off } = await receiptFixture({ NALOGO_ENABLED: 'false' });
    await aQueuedReceipt(app);
    expect(await checkReceipts(app, off.settings)).toMatchObject({
      verdict: 'warning',
      next: expect.stringContaining('switch it on'),
    });
  });
});
