import { beforeEach, describe, expect, test } from 'vitest';
import type { ReceiptSandbox } from '../../../packages/sandbox/src/nalogo/receipt-sandbox.ts';
import type { App } from '../../../src/core/app.ts';
import { addMs, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { runAfterTopup } from '../../../src/domain/payments/after-topup.ts';
import { findMissingReceipts, queueReceipt } from '../../../src/domain/receipts/receipt-queue.ts';
import { aPaidPurchase, aStorefront } from '../../support/purchase-samples.ts';
import {
  aCreditedTopup,
  aQueuedReceipt,
  incomesOf,
  notices,
  receiptFixture,
  receiptsOf,
  round,
  shownReceipt,
  statesOf,
} from '../../support/receipt-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import type { TestClock } from '../../support/test-app.ts';

let app: App;
let clock: TestClock;
let nalogo: ReceiptSandbox;
beforeEach(async () => {
  ({ app, clock, nalogo } = await receiptFixture());
});

const jobsOf = (paymentId: number) =>
  app.db.sql("SELECT id FROM jobs.job WHERE name = 'receipts.queue' AND data ->> 'paymentId' = $1", [String(paymentId)]);

describe('which payments have a receipt', () => {
  test('a credited payment of YooKassa: the job after the credit queues one, however often it runs', async () => {
    const paid = await aCreditedTopup(app);
    await runAfterTopup(app, paid);
    await runAfterTopup(app, paid);
    expect(await jobsOf(paid.paymentId)).toHaveLength(1);
    for (let run = 0; run < 3; run++) await queueReceipt(app, paid);
    await round(app);
    await round(app);
    const [receipt, ...others] = await receiptsOf(app, paid);
    expect(others).toEqual([]);
    expect(receipt).toMatchObject({ state: 'created', amountKopeks: 49_990, lastError: null });
    const [income, ...more] = await incomesOf(app, nalogo, paid);
    expect(more).toEqual([]);
    expect(income).toMatchObject({ uuid: receipt!.uuid, totalAmount: '499.90', cancellation: null });
    expect(income!.name).toMatch(/^Пополнение баланса \(ID \d+\) #[0-9a-f]{12}$/);
    expect(await shownReceipt(app, paid)).toBe(receipt!.uuid);
  });

  test('a recurrent charge has one, and still no message', async () => {
    const paid = await aCreditedTopup(app);
    await app.db.sql("UPDATE payments SET purpose = 'recurrent_topup' WHERE id = $1::int RETURNING id", [paid.paymentId]);
    await runAfterTopup(app, paid);
    expect(await jobsOf(paid.paymentId)).toHaveLength(1);
    const [steps] = await app.db.sql<{ steps: string[] }>(
      "SELECT metadata -> 'done_steps' AS steps FROM payments WHERE id = $1::int",
      [paid.paymentId],
    );
    expect(steps!.steps).toEqual(['receipt', 'renew_ended']);
  });

  test('a top-up by another provider has none', async () => {
    const paid = await aQueuedReceipt(app, { method: 'cryptobot' });
    expect(await receiptsOf(app, paid)).toEqual([]);
  });

  test('a payment whose receipt another system made has none', async () => {
    const paid = await aCreditedTopup(app);
    await app.db.sql("UPDATE transactions SET receipt_uuid = 'theirs' WHERE id = $1::int RETURNING id", [paid.transactionId]);
    await queueReceipt(app, paid);
    await findMissingReceipts(app);
    expect(await receiptsOf(app, paid)).toEqual([]);
  });

  test('a payment in the test mode of YooKassa has none, unless the tax service is a fake too', async () => {
    const instance = { ...app.ports.instance, sandboxKinds: () => [] };
    const real: App = { ...app, ports: { ...app.ports, instance } };
    await findMissingReceipts(real);
    const [paid, live] = [await aCreditedTopup(app), await aCreditedTopup(app)];
    await app.db.sql(`UPDATE payments SET callback_payload = '{"id": "x", "test": true}' WHERE id = $1::int RETURNING id`, [
      paid.paymentId,
    ]);
    await queueReceipt(real, paid);
    await findMissingReceipts(real);
    expect(await receiptsOf(app, paid)).toEqual([]);
    expect(await statesOf(app, live)).toEqual(['queued']);
    await queueReceipt(app, paid);
    expect(await statesOf(app, paid)).toEqual(['queued']);
  });

  test('every paid guest purchase has one, without an id of the payer', async () => {
    const provider = new ScriptedProvider();
    const paidApp = await withProvider(app, provider);
    const { paymentId, id } = await aPaidPurchase(paidApp, provider, await aStorefront(paidApp));
    expect(await jobsOf(paymentId)).toHaveLength(1);
    await queueReceipt(paidApp, { paymentId });
    await round(paidApp);
    const paid = { paymentId, transactionId: 0, userId: 0 };
    const [income] = await incomesOf(app, nalogo, paid);
    expect(income).toMatchObject({ totalAmount: '300.00' });
    expect(income!.name).toMatch(/^Пополнение баланса #[0-9a-f]{12}$/);
    const [row] = await app.db.sql<{ receiptUuid: string; shown: string }>(
      `SELECT g.receipt_uuid, t.receipt_uuid AS shown FROM guest_purchases g JOIN transactions t ON t.id = g.transaction_id WHERE g.id = $1::int`,
      [id],
    );
    expect(row).toEqual({ receiptUuid: income!.uuid, shown: income!.uuid });
  });

  test('while receipts are off no payment gets one, and those of that time get none later', async () => {
    const off = await receiptFixture({ NALOGO_ENABLED: 'false' });
    const before = await aCreditedTopup(off.app);
    await runAfterTopup(off.app, before);
    expect(await jobsOf(before.paymentId)).toEqual([]);
    await queueReceipt(off.app, before);
    await findMissingReceipts(off.app);
    clock.set(addMs(off.clock.now(), HOUR_MS));
    await findMissingReceipts(app);
    const after = await aCreditedTopup(app);
    await findMissingReceipts(app);
    expect(await receiptsOf(app, before)).toEqual([]);
    expect(await statesOf(app, after)).toEqual(['queued']);
  });

  test('a lost job loses no receipt: the search finds the payment', async () => {
    await findMissingReceipts(app);
    const paid = await aCreditedTopup(app);
    expect(await receiptsOf(app, paid)).toEqual([]);
    await findMissingReceipts(app);
    await findMissingReceipts(app);
    expect(await statesOf(app, paid)).toEqual(['queued']);
  });
});

describe('the time of the operation', () => {
  test('spec 03a 15: is that of the payment in Moscow, also shortly before its midnight and days later', async () => {
    clock.set(new Date('2026-10-31T20:59:59.900Z'));
    const october = await aQueuedReceipt(app);
    clock.set(new Date('2026-10-31T21:00:00.000Z'));
    const november = await aQueuedReceipt(app);
    clock.set(new Date('2026-11-03T09:00:00.000Z'));
    await round(app);
    expect((await incomesOf(app, nalogo, october))[0]!.operationTime).toBe('2026-10-31T23:59:59+03:00');
    expect((await incomesOf(app, nalogo, november))[0]!.operationTime).toBe('2026-11-01T00:00:00+03:00');
  });
});

describe('an answer that was lost', () => {
  test.each(['lost_after', 'html', 'unavailable'] as const)('spec 03a 15: %s stops the queue and is looked up', async (fault) => {
    const [paid, next] = [await aQueuedReceipt(app), await aQueuedReceipt(app)];
    nalogo.faults.next.push({ call: 'POST /income', fault });
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['unclear']);
    expect(await statesOf(app, next)).toEqual(['queued']);
  });

  test('spec 03a 15: time-out after sending, then found: the id is stored, nothing is sent again', async () => {
    const paid = await aQueuedReceipt(app);
    nalogo.faults.next.push({ call: 'POST /income', fault: 'lost_after' });
    await round(app);
    clock.advance(MINUTE_MS);
    await round(app);
    const [receipt] = await receiptsOf(app, paid);
    const incomes = await incomesOf(app, nalogo, paid);
    expect(incomes).toHaveLength(1);
    expect(receipt).toMatchObject({ state: 'created', uuid: incomes[0]!.uuid });
    expect(await shownReceipt(app, paid)).toBe(receipt!.uuid);
    expect(nalogo.calls.filter((call) => call === 'POST /income')).toHaveLength(1);
  });

  test('spec 03a 15: time-out, then not found: sent again once, after 10 minutes and not before', async () => {
    const paid = await aQueuedReceipt(app);
    nalogo.faults.next.push({ call: 'POST /income', fault: 'lost_before' });
    await round(app);
    for (let minute = 1; minute < 10; minute++) {
      clock.advance(MINUTE_MS);
      await round(app);
      expect(await statesOf(app, paid)).toEqual(['unclear']);
    }
    clock.advance(MINUTE_MS);
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['created']);
    expect(await incomesOf(app, nalogo, paid)).toHaveLength(1);
    expect(nalogo.calls.filter((call) => call === 'POST /income')).toHaveLength(2);
  });

  test('spec 03a 15: a page with status 200 instead of the answer is no receipt: looked up, then sent again', async () => {
    const paid = await aQueuedReceipt(app);
    nalogo.faults.next.push({ call: 'POST /income', fault: 'html' });
    await round(app);
    clock.advance(10 * MINUTE_MS);
    await round(app);
    expect(await incomesOf(app, nalogo, paid)).toHaveLength(1);
    expect(await statesOf(app, paid)).toEqual(['created']);
  });

  test('a page with status 200 instead of the list is no empty list: nothing is sent', async () => {
    const paid = await aQueuedReceipt(app);
    nalogo.faults.next.push({ call: 'POST /income', fault: 'lost_after' }, { call: 'GET /incomes', fault: 'html' });
    await round(app);
    clock.advance(HOUR_MS);
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['unclear']);
    clock.advance(MINUTE_MS);
    await round(app);
    expect(await incomesOf(app, nalogo, paid)).toHaveLength(1);
  });

  test('a process that ends between sending and storing: another one finds the receipt', async () => {
    const paid = await aQueuedReceipt(app);
    const killed: App = {
      ...app,
      ports: { ...app.ports, receipts: { ...app.ports.receipts, open: (session) => dying(session) } },
    };
    const dying: typeof app.ports.receipts.open = (session) => {
      const service = app.ports.receipts.open(session);
      return {
        listAround: (at) => service.listAround(at),
        cancel: (uuid) => service.cancel(uuid),
        issue: async (draft) => {
          await service.issue(draft);
          throw new Error('killed');
        },
      };
    };
    await expect(round(killed)).rejects.toThrow('killed');
    expect(await statesOf(app, paid)).toEqual(['sending']);
    clock.advance(9 * MINUTE_MS);
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['sending']);
    clock.advance(MINUTE_MS);
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['created']);
    expect(await incomesOf(app, nalogo, paid)).toHaveLength(1);
  });

  test('spec 03a 15: two matches are a case for a person, and when one is cancelled there, the other is stored', async () => {
    const paid = await aQueuedReceipt(app);
    nalogo.faults.next.push({ call: 'POST /income', fault: 'lost_after' });
    await round(app);
    // The first one was only late: it is made after the second was sent.
    const [income] = await incomesOf(app, nalogo, paid);
    const service = app.ports.receipts.open({ deviceId: 'a'.repeat(21), load: async () => null, save: async () => undefined });
    const other = await service.issue({ name: income!.name, amountKopeks: 49_990, operationAt: app.clock.now() });
    for (let hour = 0; hour < 3; hour++) {
      clock.advance(HOUR_MS);
      await round(app);
      expect(await statesOf(app, paid)).toEqual(['duplicate']);
    }
    expect((await notices(app)).filter((html) => html.includes('twice'))).toHaveLength(1);
    await nalogo.cancelByHand(other);
    clock.advance(HOUR_MS);
    await round(app);
    expect(await receiptsOf(app, paid)).toMatchObject([{ state: 'created', uuid: income!.uuid }]);
  });
});

describe('a database that was restored from a backup', () => {
  test('makes no receipt again that the service has: a late one is looked for before it is sent', async () => {
    const paid = await aQueuedReceipt(app);
    await round(app);
    const [income] = await incomesOf(app, nalogo, paid);
    await app.db.sql('DELETE FROM receipts RETURNING id');
    await app.db.sql('UPDATE transactions SET receipt_uuid = NULL WHERE id = $1::int RETURNING id', [paid.transactionId]);
    clock.advance(HOUR_MS);
    await queueReceipt(app, paid);
    nalogo.faults.next.push({ call: 'GET /incomes', fault: 'refused' });
    await round(app);
    expect(await statesOf(app, paid)).toEqual(['queued']);
    expect(await notices(app)).toHaveLength(1);
    await round(app);
    expect(await receiptsOf(app, paid)).toMatchObject([{ state: 'created', uuid: income!.uuid }]);
    expect(await incomesOf(app, nalogo, paid)).toHaveLength(1);
  });
});

describe('a receipt that the service refuses', () => {
  test('is reported once, stays, does not hold up the others, and is tried again after a day', async () => {
    const [refused, next] = [await aQueuedReceipt(app), await aQueuedReceipt(app)];
    nalogo.faults.next.push({ call: 'POST /income', fault: 'refused' });
    await round(app);
    expect(await receiptsOf(app, refused)).toMatchObject([
      { state: 'failed', lastError: expect.stringContaining('taxpayer.income.limit') },
    ]);
    await round(app);
    expect(await statesOf(app, next)).toEqual(['created']);
    expect((await notices(app)).map((html) => html.split('\n')[0])).toEqual(['⚠️ <b>The tax service refuses a receipt</b>']);
    clock.advance(24 * HOUR_MS);
    await round(app);
    expect(await statesOf(app, refused)).toEqual(['created']);
  });
});
