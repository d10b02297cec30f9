import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import type { ProviderReversal } from '../../src/domain/payments/ports.ts';
import { requestRefund, sendRefund } from '../../src/domain/payments/refunds.ts';
import { findPayment } from '../../src/domain/payments/repo.ts';
import { runAfterReversal } from '../../src/domain/payments/reversals.ts';
import { refundGift } from '../../src/domain/storefront/gifts/refund-gift.ts';
import { guestPurchases } from '../../src/domain/storefront/purchases/purpose.ts';
import { aUser, unique } from '../support/builders.ts';
import { anInvoice } from '../support/case-samples.ts';
import { activate, aGiftTariff, anOrder, buy, confirmGift, giftOf, giftsAreOn, moneyOf } from '../support/gift-samples.ts';
import { detailOf, settled, won } from '../support/parallel.ts';
import { callback, moneyFacts, reversePayment, runCallbackJobs } from '../support/payment-samples.ts';
import { subscriptionOf } from '../support/purchase-samples.ts';
import { RefundingProvider } from '../support/refunding-provider.ts';
import { aBuyer } from '../support/sale-samples.ts';
import { withProvider } from '../support/scripted-provider.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

/** One payment whose money goes back on several ways at once (spec 03a section 0.5). */
const AMOUNT = 30_000;

let app: App;
let tariffId: number;
const provider = new RefundingProvider();
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  app = await withProvider((await testApp()).app, provider);
  await giftsAreOn(app);
  tariffId = await aGiftTariff(app);
});
beforeEach(async () => {
  provider.faults = [];
  await app.db.sql('DELETE FROM rate_limit_windows');
});

const operator = { kind: 'system', name: 'command line' } as const;
const refundOf = (paymentId: number) => ({ paymentId, amountKopeks: null, reason: 'race', requestedBy: 'test' });

async function chargeBack(paymentId: number): Promise<void> {
  const reversal: ProviderReversal = { reversalId: `chargeback-${unique()}`, kind: 'chargeback', amountKopeks: null };
  await reversePayment(app, (await findPayment(app.db, paymentId))!, [reversal]);
}

async function aPaidCode() {
  const buyer = await aBuyer(app);
  const { code } = await buy(app, buyer, anOrder(tariffId, { paymentMethod: 'sandbox' }));
  await confirmGift(app, provider, code);
  const { id, paymentId } = await giftOf(app, code);
  return { buyer, code, id, paymentId: paymentId! };
}

test('a requested refund that the provider refuses and a chargeback at once: the balance is debited once and gets nothing back', async () => {
  for (let round = 0; round < 10; round++) {
    const { user, paymentId, externalId } = await anInvoice(app, AMOUNT);
    provider.set(externalId, 'paid');
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
    provider.faults = ['rejected'];
    const refund = async () => sendRefund(app, { reversalId: (await requestRefund(app, refundOf(paymentId))).refundId });
    await Promise.allSettled(round % 2 === 0 ? [refund(), chargeBack(paymentId)] : [chargeBack(paymentId), refund()]);
    expect((await moneyFacts(app, user.id)).balance).toBe(0);
  }
  expect(await checkLedger(app)).toEqual([]);
});

test('ten requests for the refund of a payment at once: one is made', async () => {
  const { user, paymentId, externalId } = await anInvoice(app, AMOUNT);
  provider.set(externalId, 'paid');
  await callback(app, externalId);
  await runCallbackJobs(app, externalId);
  expect(won(await settled(10, () => requestRefund(app, refundOf(paymentId))))).toHaveLength(1);
  expect((await moneyFacts(app, user.id)).balance).toBe(0);
});

test('a refund of a gift to the balance, one through the provider and a chargeback at once: no money stays on the balance', async () => {
  for (let round = 0; round < 10; round++) {
    const { buyer, id, paymentId } = await aPaidCode();
    await Promise.allSettled([
      refundGift(app, operator, id, 'race'),
      round % 2 === 0 ? chargeBack(paymentId) : requestRefund(app, refundOf(paymentId)),
      ...(round % 3 === 0 ? [chargeBack(paymentId)] : []),
    ]);
    expect((await moneyOf(app, buyer)).balance).toBe(0);
  }
  expect(await checkLedger(app)).toEqual([]);
});

test('claims and a chargeback at once: what is charged back first is given to nobody', async () => {
  for (let round = 0; round < 10; round++) {
    const { code, paymentId } = await aPaidCode();
    const friend = await aUser(app);
    const claim = () => detailOf(activate(app, { kind: 'user', userId: friend.id }, code));
    const [outcome] = await Promise.all(
      round % 2 === 0 ? [claim(), chargeBack(paymentId)] : [chargeBack(paymentId).then(claim), undefined],
    );
    const rows = await app.db.sql<{ id: number }>('SELECT id FROM payment_reversals WHERE payment_id = $1::int', [paymentId]);
    for (const { id } of rows) await runAfterReversal(app, { reversalId: id }, [guestPurchases]);
    const gift = await giftOf(app, code);
    const isGiven = (await subscriptionOf(app, friend.id)) !== null;
    expect([gift.grantedAt !== null, gift.status === 'failed']).toEqual([isGiven, !isGiven]);
    if (round % 2 === 1) expect(outcome).toBe('This gift cannot be activated');
  }
});
