import { beforeEach, describe, expect, test } from 'vitest';
import type { ReceiptSandbox } from '../../../packages/sandbox/src/nalogo/receipt-sandbox.ts';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { findMissingReceipts, queueReceipt } from '../../../src/domain/receipts/receipt-queue.ts';
import {
  aCreditedTopup,
  aQueuedReceipt,
  incomesOf,
  notices,
  type Paid,
  receiptFixture,
  receiptsOf,
  reverse,
  round,
  shownReceipt,
  statesOf,
} from '../../support/receipt-samples.ts';
import type { TestClock } from '../../support/test-app.ts';

let app: App;
let clock: TestClock;
let nalogo: ReceiptSandbox;
beforeEach(async () => {
  ({ app, clock, nalogo } = await receiptFixture());
});

async function aReceipt(): Promise<Paid> {
  const paid = await aQueuedReceipt(app);
  await round(app);
  expect(await statesOf(app, paid)).toEqual(['created']);
  return paid;
}

const amounts = async (paid: Paid) =>
  (await incomesOf(app, nalogo, paid)).map(({ totalAmount, cancellation }) => [totalAmount, cancellation?.comment ?? null]);
const cancels = () => nalogo.calls.filter((call) => call === 'POST /cancel').length;

describe('a payment with a receipt', () => {
  test('spec 03a 15: that is returned as a whole has its receipt cancelled, once', async () => {
    const paid = await aReceipt();
    await reverse(app, paid);
    expect(await statesOf(app, paid)).toEqual(['cancel_requested']);
    for (let run = 0; run < 3; run++) {
      await queueReceipt(app, paid);
      await findMissingReceipts(app);
      await round(app);
    }
    expect(await amounts(paid)).toEqual([['499.90', 'Возврат средств']]);
    expect(cancels()).toBe(1);
    expect(await statesOf(app, paid)).toEqual(['cancelled']);
    expect(await shownReceipt(app, paid)).toBeNull();
  });

  test('that is returned in part gets a new one for the rest, of the same time', async () => {
    const paid = await aReceipt();
    clock.advance(48 * HOUR_MS);
    await reverse(app, paid, 10_000);
    for (let run = 0; run < 3; run++) await round(app);
    expect(await amounts(paid)).toEqual([
      ['499.90', 'Возврат средств'],
      ['399.90', null],
    ]);
    const [first, second] = await incomesOf(app, nalogo, paid);
    expect(second!.operationTime).toBe(first!.operationTime);
    expect(await shownReceipt(app, paid)).toBe(second!.uuid);
    await reverse(app, paid);
    for (let run = 0; run < 3; run++) await round(app);
    expect(await amounts(paid)).toEqual([
      ['499.90', 'Возврат средств'],
      ['399.90', 'Возврат средств'],
    ]);
    expect(await shownReceipt(app, paid)).toBeNull();
  });

  test('whose correction was lost with its job is found by the search', async () => {
    const paid = await aReceipt();
    await app.db.sql("SELECT outcome FROM reverse_payment($1::int, 'lost', 'chargeback', NULL, '{}', $2::timestamptz)", [
      paid.paymentId,
      app.clock.now(),
    ]);
    await findMissingReceipts(app);
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['cancelled']);
  });

  test('a cancellation whose answer was lost is looked up before it is sent again', async () => {
    const paid = await aReceipt();
    await reverse(app, paid);
    nalogo.faults.next.push({ call: 'POST /cancel', fault: 'lost_after' });
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['cancel_requested']);
    clock.advance(MINUTE_MS);
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['cancelled']);
    expect(cancels()).toBe(1);
  });

  test('a cancellation that did not arrive is sent again', async () => {
    const lost = await aReceipt();
    await reverse(app, lost);
    nalogo.faults.next.push({ call: 'POST /cancel', fault: 'lost_before' });
    await round(app);
    clock.advance(MINUTE_MS);
    await round(app);
    expect(await statesOf(app, lost)).toEqual(['cancelled']);
  });

  test('a cancellation that somebody made by hand counts', async () => {
    const byHand = await aReceipt();
    await nalogo.cancelByHand((await incomesOf(app, nalogo, byHand))[0]!.uuid);
    await reverse(app, byHand);
    await round(app);
    expect(await statesOf(app, byHand)).toEqual(['cancelled']);
  });

  test('a refused cancellation is reported once and tried again after a day', async () => {
    const paid = await aReceipt();
    await reverse(app, paid);
    nalogo.faults.next.push({ call: 'POST /cancel', fault: 'refused' });
    for (let run = 0; run < 3; run++) await round(app);
    expect(await statesOf(app, paid)).toEqual(['cancel_requested']);
    expect(await notices(app)).toHaveLength(1);
    clock.advance(24 * HOUR_MS);
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['cancelled']);
  });
});

describe('a payment whose receipt does not exist yet', () => {
  test('that is returned as a whole gets none', async () => {
    const [queued, unqueued] = [await aQueuedReceipt(app), await aCreditedTopup(app)];
    await reverse(app, queued);
    await reverse(app, unqueued);
    await round(app);
    expect(await statesOf(app, queued)).toEqual(['cancelled']);
    expect(await receiptsOf(app, unqueued)).toEqual([]);
    expect(await incomesOf(app, nalogo, queued)).toEqual([]);
  });

  test('that is returned in part gets one for the rest', async () => {
    const paid = await aQueuedReceipt(app);
    await reverse(app, paid, 9_990);
    await round(app);
    expect(await amounts(paid)).toEqual([['400.00', null]]);
  });

  test('that is returned while it is being sent, or unclear, is cancelled when its fate is known', async () => {
    const [sending, unclear] = [await aQueuedReceipt(app), await aQueuedReceipt(app)];
    nalogo.faults.next.push({ call: 'POST /income', fault: 'hook', hook: () => reverse(app, sending) });
    nalogo.faults.next.push({ call: 'POST /income', fault: 'lost_after' });
    await round(app);
    await reverse(app, unclear);
    expect(await statesOf(app, unclear)).toEqual(['unclear']);
    clock.advance(MINUTE_MS);
    await round(app);
    await round(app);
    for (const paid of [sending, unclear]) {
      expect(await statesOf(app, paid)).toEqual(['cancelled']);
      expect(await amounts(paid)).toEqual([['499.90', 'Возврат средств']]);
    }
  });
});
