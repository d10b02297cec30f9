import { afterEach, describe, expect, test } from 'vitest';
import { checkCredentials } from '../../../src/cli/doctor/outside-checks.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { listPaymentMethodsFor } from '../../../src/domain/payments/payment-methods.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import {
  aProviderFixture,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderFixture,
} from '../../support/providers/provider-fixture.ts';
import { reported, wataCase } from '../../support/providers/wata-case.ts';

let fixture: ProviderFixture;
afterEach(() => fixture.close());

const AMOUNT = 50_000;
/** The callbacks about the current invoice that were stored. */
const stored = async ({ app, current }: ProviderFixture) => {
  const rows = await app.db.sql<{ id: number }>("SELECT id FROM provider_callbacks WHERE provider = 'wata' AND order_id = $1", [
    current.orderId,
  ]);
  return rows.map(({ id }) => id);
};

describe('WATA (03a section 9)', () => {
  test('the question before a payment is answered with 200 and not stored, and the payment is credited from what follows', async () => {
    fixture = await aProviderFixture(wataCase);
    const [before, after] = await fixture.act('pay');
    expect(JSON.parse(String(before!.body))).toMatchObject({ transactionStatus: 'Created' });
    expect(await fixture.deliver(before!)).toEqual(wataCase.acknowledges);
    expect(await stored(fixture)).toEqual([]);
    let asked = 0;
    fixture.intercept((request) => {
      asked += request.path === '/public-key' ? 0 : 1;
      return null;
    });
    expect(await fixture.deliver(after!)).toEqual(wataCase.acknowledges);
    expect(await factsOf(fixture)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    expect(asked).toBe(0);
  });

  test('the key cannot be read after a restart: 503, and the repeat is credited', async () => {
    fixture = await aProviderFixture(wataCase);
    const after = (await fixture.act('pay'))[1]!;
    fixture.intercept(() => ({ status: 503, contentType: 'text/plain', body: 'down' }));
    expect((await fixture.deliver(after)).status).toBe(503);
    expect(await stored(fixture)).toEqual([]);
    fixture.intercept(null);
    fixture.t.clock.advance(60_000);
    expect((await fixture.deliver(after)).status).toBe(200);
    expect(await factsOf(fixture)).toMatchObject({ balance: AMOUNT, deposits: 1 });
  });

  test("the answer of the creation was lost: another merchant's payment with our order id is not credited, ours is", async () => {
    fixture = await aProviderFixture(wataCase);
    const { app, current } = fixture;
    const forget = 'UPDATE payments SET external_id = NULL, merchant_id = NULL WHERE id = $1 RETURNING id';
    await app.db.sql(forget, [current.paymentId]);
    const foreign = { terminalPublicId: 'terminal-of-another', paymentLinkId: 'link-of-another', transactionId: 'tx-of-another' };
    // The provider knows no payment of ours by this order; the job asks again later.
    await expect(fixture.deliver(reported(fixture, foreign))).rejects.toMatchObject({ failure: 'unavailable' });
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, deposits: 0, payment: { isPaid: false } });
    await fixture.act('pay');
    fixture.t.clock.advance(60_000);
    for (const callbackId of await stored(fixture)) await processCallback(app, { callbackId });
    expect(await factsOf(fixture)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    const [payment] = await app.db.sql<{ externalId: string }>('SELECT external_id FROM payments WHERE id = $1', [
      current.paymentId,
    ]);
    expect(payment?.externalId).toBe(current.invoice.id);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a link that is paid twice is credited once, and the second money is a case', async () => {
    fixture = await aProviderFixture(wataCase);
    const lastCase = await lastCaseId(fixture);
    for (const callback of await fixture.act('pay')) await fixture.deliver(callback);
    await fixture.deliver(reported(fixture, { transactionId: 'tx-second' }));
    expect(await factsOf(fixture)).toMatchObject({ balance: AMOUNT, deposits: 1 });
    expect(await openCasesOf(fixture, lastCase)).toEqual(['second_payment']);
  });

  test('two refunds of parts are taken from the balance, each once', async () => {
    fixture = await aProviderFixture(wataCase);
    for (const callback of await fixture.act('pay')) await fixture.deliver(callback);
    for (const part of [20_000, 30_000]) {
      const [refund] = await fixture.act('refund', part);
      for (let copy = 0; copy < 2; copy++) await fixture.deliver(refund!);
    }
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, payment: { outcome: 'refunded' } });
    expect(await checkLedger(fixture.app)).toEqual([]);
  });

  test('a refund that was requested here is the one that the callback reports', async () => {
    fixture = await aProviderFixture(wataCase);
    const { app } = fixture;
    for (const callback of await fixture.act('pay')) await fixture.deliver(callback);
    const { refundId } = await requestRefund(app, {
      paymentId: fixture.current.paymentId,
      amountKopeks: null,
      reason: 'asked for',
      requestedBy: 'test',
    });
    await sendRefund(app, { reversalId: refundId });
    const rows = await app.db.sql<{ status: string; reversalId: string }>(
      'SELECT status, reversal_id FROM payment_reversals WHERE payment_id = $1',
      [fixture.current.paymentId],
    );
    expect(rows).toMatchObject([{ status: 'done' }]);
    await fixture.deliver(reported(fixture, { kind: 'Refund', transactionId: rows[0]!.reversalId }));
    expect(await factsOf(fixture)).toMatchObject({ balance: 0, deposits: 1, payment: { outcome: 'refunded' } });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('03 section 2.4: 999999.99 rubles are the most that is offered', async () => {
    fixture = await aProviderFixture(wataCase);
    const offered = async () =>
      (await listPaymentMethodsFor(fixture.app, fixture.current.user.id)).find(({ id }) => id === 'wata')?.maxAmountKopeks;
    expect(await offered()).toBe(99_999_999);
    await fixture.app.db.sql(
      "UPDATE payment_method_configs SET max_amount_kopeks = 200000000 WHERE method_id = 'wata' RETURNING method_id",
    );
    expect(await offered()).toBe(99_999_999);
  });

  test.each([
    [15, 'ok'],
    [14, 'warning'],
    [0, 'problem'],
  ])('doctor: a token that ends in %i days is %s', async (days, verdict) => {
    fixture = await aProviderFixture(wataCase);
    const provider = fixture.app.ports.payments.byMethod('wata')!;
    const now = new Date('2026-03-01T10:00:00Z');
    const expiring = { ...provider, credentialsExpireAt: () => new Date(now.getTime() + days * 86_400_000) };
    const payments = { ...fixture.app.ports.payments, all: () => [expiring] };
    expect(checkCredentials({ payments }, now)).toMatchObject([{ check: 'token of wata', verdict }]);
    expect(checkCredentials({ payments: { ...payments, all: () => [{ ...expiring, isConfigured: () => false }] } }, now)).toEqual(
      [],
    );
  });
});
