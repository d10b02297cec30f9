import { afterEach, describe, expect, test } from 'vitest';
import { checkCredentials } from '../../../src/cli/doctor/outside-checks.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { listPaymentMethodsFor } from '../../../src/domain/payments/payment-methods.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import { aProviderStage, factsOf, lastCaseId, openCasesOf, type ProviderStage } from '../../support/providers/provider-stage.ts';
import { reported, wataCase } from '../../support/providers/wata-case.ts';

let stage: ProviderStage;
afterEach(() => stage.close());

const AMOUNT = 50_000;
/** The callbacks about the current invoice that were stored. */
const stored = async ({ app, current }: ProviderStage) => {
  const rows = await app.db.sql<{ id: number }>("SELECT id FROM provider_callbacks WHERE provider = 'wata' AND order_id = $1", [
    current.orderId,
  ]);
  return rows.map(({ id }) => id);
};

describe('WATA (03a section 9)', () => {
  test('the question before a payment is answered with 200 and not stored; the payment is credited from what follows', async () => {
    stage = await aProviderStage(wataCase);
    const [before, after] = await stage.act('pay');
    expect(JSON.parse(String(before!.body))).toMatchObject({ transactionStatus: 'Created' });
    expect(await stage.deliver(before!)).toEqual(wataCase.acknowledges);
    expect(await stored(stage)).toEqual([]);
    let asked = 0;
    stage.intercept((request) => {
      asked += request.path === '/public-key' ? 0 : 1;
      return null;
    });
    expect(await stage.deliver(after!)).toEqual(wataCase.acknowledges);
    expect(await factsOf(stage)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    expect(asked).toBe(0);
  });

  test('the key cannot be read after a restart: 503, and the repeat is credited', async () => {
    stage = await aProviderStage(wataCase);
    const after = (await stage.act('pay'))[1]!;
    stage.intercept(() => ({ status: 503, contentType: 'text/plain', body: 'down' }));
    expect((await stage.deliver(after)).status).toBe(503);
    expect(await stored(stage)).toEqual([]);
    stage.intercept(null);
    stage.t.clock.advance(60_000);
    expect((await stage.deliver(after)).status).toBe(200);
    expect(await factsOf(stage)).toMatchObject({ balance: AMOUNT, deposits: 1 });
  });

  test("the answer of the creation was lost: another merchant's payment with our order id is not credited, ours is", async () => {
    stage = await aProviderStage(wataCase);
    const { app, current } = stage;
    const forget = 'UPDATE payments SET external_id = NULL, merchant_id = NULL WHERE id = $1 RETURNING id';
    await app.db.sql(forget, [current.paymentId]);
    const foreign = { terminalPublicId: 'terminal-of-another', paymentLinkId: 'link-of-another', transactionId: 'tx-of-another' };
    // The provider knows no payment of ours by this order; the job asks again later.
    await expect(stage.deliver(reported(stage, foreign))).rejects.toMatchObject({ failure: 'unavailable' });
    expect(await factsOf(stage)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false } });
    await stage.act('pay');
    stage.t.clock.advance(60_000);
    for (const callbackId of await stored(stage)) await processCallback(app, { callbackId });
    expect(await factsOf(stage)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    const [payment] = await app.db.sql<{ externalId: string }>('SELECT external_id FROM payments WHERE id = $1', [
      current.paymentId,
    ]);
    expect(payment?.externalId).toBe(current.invoice.id);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a link that is paid twice is credited once; the second money is a case', async () => {
    stage = await aProviderStage(wataCase);
    const lastCase = await lastCaseId(stage);
    for (const callback of await stage.act('pay')) await stage.deliver(callback);
    await stage.deliver(reported(stage, { transactionId: 'tx-second' }));
    expect(await factsOf(stage)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    expect(await openCasesOf(stage, lastCase)).toEqual(['second_payment']);
  });

  test('two refunds of parts are taken from the balance, each once', async () => {
    stage = await aProviderStage(wataCase);
    for (const callback of await stage.act('pay')) await stage.deliver(callback);
    for (const part of [20_000, 30_000]) {
      const [refund] = await stage.act('refund', part);
      for (let copy = 0; copy < 2; copy++) await stage.deliver(refund!);
    }
    expect(await factsOf(stage)).toMatchObject({ balance: 0, payment: { outcome: 'refunded' } });
    expect(await checkLedger(stage.app)).toEqual([]);
  });

  test('a refund that was requested here is the one that the callback reports', async () => {
    stage = await aProviderStage(wataCase);
    const { app } = stage;
    for (const callback of await stage.act('pay')) await stage.deliver(callback);
    const { refundId } = await requestRefund(app, {
      ...{ paymentId: stage.current.paymentId, amountKopeks: null, reason: 'asked for', requestedBy: 'test' },
    });
    await sendRefund(app, { reversalId: refundId });
    const rows = await app.db.sql<{ status: string; reversalId: string }>(
      'SELECT status, reversal_id FROM payment_reversals WHERE payment_id = $1',
      [stage.current.paymentId],
    );
    expect(rows).toMatchObject([{ status: 'done' }]);
    await stage.deliver(reported(stage, { kind: 'Refund', transactionId: rows[0]!.reversalId }));
    expect(await factsOf(stage)).toMatchObject({ balance: 0, deposits: 1, payment: { outcome: 'refunded' } });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('03 section 2.4: 999999.99 rubles are the most that is offered', async () => {
    stage = await aProviderStage(wataCase);
    const offered = async () =>
      (await listPaymentMethodsFor(stage.app, stage.current.user.id)).find(({ id }) => id === 'wata')?.maxAmountKopeks;
    expect(await offered()).toBe(99_999_999);
    await stage.app.db.sql(
      "UPDATE payment_method_configs SET max_amount_kopeks = 200000000 WHERE method_id = 'wata' RETURNING method_id",
    );
    expect(await offered()).toBe(99_999_999);
  });

  test.each([
    [15, 'ok'],
    [14, 'warning'],
    [0, 'problem'],
  ])('doctor: a token that ends in %i days is %s', async (days, verdict) => {
    stage = await aProviderStage(wataCase);
    const provider = stage.app.ports.payments.byMethod('wata')!;
    const now = new Date('2026-03-01T10:00:00Z');
    const expiring = { ...provider, credentialsExpireAt: () => new Date(now.getTime() + days * 86_400_000) };
    const payments = { ...stage.app.ports.payments, all: () => [expiring] };
    expect(checkCredentials({ payments }, now)).toMatchObject([{ check: 'token of wata', verdict }]);
    expect(checkCredentials({ payments: { ...payments, all: () => [{ ...expiring, isConfigured: () => false }] } }, now)).toEqual(
      [],
    );
  });
});
