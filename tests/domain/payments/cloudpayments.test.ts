import { afterEach, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { findPayment } from '../../../src/domain/payments/repo.ts';
import { cloudpaymentsCase, notification } from '../../support/providers/cloudpayments-case.ts';
import { aProviderStage, factsOf, lastCaseId, openCasesOf, type ProviderStage } from '../../support/providers/provider-stage.ts';

/** What CloudPayments has besides the tables of all providers (03a section 12). */
let stage: ProviderStage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

const BEFORE_PAYMENT = { GatewayName: null, Status: 'Completed' };

async function check(staged: ProviderStage, change: Record<string, string | null> = {}): Promise<unknown> {
  const reply = await staged.deliver(notification(staged, 'check', { ...BEFORE_PAYMENT, ...change }));
  expect(reply.status).toBe(200);
  return JSON.parse(reply.body).code;
}

describe('Check is answered by our record', () => {
  test('of an open order, before and after the payment, and stores nothing', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    expect(await check(stage)).toBe(0);
    expect(await check(stage, { AccountId: '999999' })).toBe(11);
    expect(await check(stage, { Amount: '499.99' })).toBe(12);
    expect(await check(stage, { InvoiceId: 'an-order-of-nobody' })).toBe(10);
    const stored = await stage.app.db.sql('SELECT id FROM provider_callbacks WHERE order_id = $1', [stage.current.orderId]);
    expect(stored).toEqual([]);
    for (const genuine of await stage.act('pay')) await stage.deliver(genuine);
    expect(await check(stage)).toBe(13);
  });

  test('of an order that is older than a day', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    stage.t.clock.advance(25 * HOUR_MS);
    expect(await check(stage)).toBe(20);
  });

  test('on the shared path too', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    const reply = await stage.deliver(notification(stage, '', { ...BEFORE_PAYMENT, Amount: '1.00' }));
    expect(reply).toEqual({ status: 200, body: '{"code":12}' });
  });

  test('only for a genuine question', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    const reply = await stage.deliver(notification(stage, 'check', BEFORE_PAYMENT, 'another secret'));
    expect(reply).toEqual({ status: 200, body: '{"code":13}' });
  });
});

describe('a payment', () => {
  test('in test mode is a case and credits nothing', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    const lastCase = await lastCaseId(stage);
    expect(await stage.deliver(notification(stage, 'pay', { TestMode: '1' }))).toMatchObject(cloudpaymentsCase.acknowledges);
    expect((await factsOf(stage)).balance).toBe(0);
    expect(await openCasesOf(stage, lastCase)).toEqual(['test_payment']);
  });

  test('that was held is credited by Confirm', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    await stage.deliver(notification(stage, 'pay', { Status: 'Authorized' }));
    expect((await factsOf(stage)).balance).toBe(0);
    await stage.deliver(notification(stage, 'confirm'));
    expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('of a second attempt on the same order is a case', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    await stage.deliver(notification(stage, 'pay'));
    const lastCase = await lastCaseId(stage);
    await stage.deliver(notification(stage, 'pay', { TransactionId: `6${stage.current.paymentId}` }));
    expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
    expect(await openCasesOf(stage, lastCase)).toEqual(['second_payment']);
  });

  test('has the transaction of the provider in the ledger, and an AccountId that a merge of accounts does not change', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    await stage.deliver(notification(stage, 'pay'));
    const payment = await findPayment(stage.app.db, stage.current.paymentId);
    const { orderId, user } = stage.current;
    expect(payment).toMatchObject({
      chargeId: expect.stringMatching(/^59\d{8}$/),
      externalId: orderId,
      merchantId: String(user.id),
    });
    const rows = await stage.app.db.sql('SELECT external_id FROM transactions WHERE id = $1::int', [payment!.transactionId]);
    expect(rows).toEqual([{ externalId: payment!.chargeId }]);
  });

  test('whose partial refund is reported before it, is credited without that part', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    const inOrder = [...(await stage.act('pay')), ...(await stage.act('refund', 20_000))];
    for (const callback of [...inOrder.toReversed(), ...inOrder]) await stage.deliver(callback);
    expect(await factsOf(stage)).toMatchObject({ balance: 30_000, deposits: 1, payment: { outcome: 'paid' } });
    expect(await checkLedger(stage.app)).toEqual([]);
  });

  test('is refunded in parts, each once', async () => {
    stage = await aProviderStage(cloudpaymentsCase);
    for (const genuine of await stage.act('pay')) await stage.deliver(genuine);
    for (const part of [...(await stage.act('refund', 20_000)), ...(await stage.act('refund', 10_000))]) {
      for (let copy = 0; copy < 2; copy++) await stage.deliver(part);
    }
    expect((await factsOf(stage)).balance).toBe(20_000);
  });
});
