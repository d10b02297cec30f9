import { beforeEach, describe, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import type { ProviderReversal } from '../../../src/domain/payments/ports.ts';
import { requestRefund, sendRefund } from '../../../src/domain/payments/refunds.ts';
import { runAfterReversal } from '../../../src/domain/payments/reversals.ts';
import { refundGift } from '../../../src/domain/storefront/gifts/refund-gift.ts';
import { fulfilPurchase } from '../../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { guestPurchases } from '../../../src/domain/storefront/purchases/purpose.ts';
import { aUser, unique } from '../../support/builders.ts';
import {
  activate,
  aGiftTariff,
  anOrder,
  buy,
  confirmGift,
  type GiftFacts,
  giftOf,
  giftsAreOn,
  moneyOf,
  toEmail,
} from '../../support/gift-samples.ts';
import { callback, casesOf, paymentFacts, runCallbackJobs } from '../../support/payment-samples.ts';
import { anEmail, panelAnswers } from '../../support/purchase-samples.ts';
import { RefundingProvider } from '../../support/refunding-provider.ts';
import { aBuyer, aStoredSubscription } from '../../support/sale-samples.ts';
import { withProvider } from '../../support/scripted-provider.ts';
import { testApp } from '../../support/test-app.ts';

/** Money of a gift that goes back to its payer (spec 03a section 0.5, spec 03 H21). */
const PRICE = 30_000;

let app: App;
let provider: RefundingProvider;
let tariffId: number;
const open = async (environment: Record<string, string> = {}) => {
  provider = new RefundingProvider();
  app = await withProvider((await testApp({ environment })).app, provider);
  await giftsAreOn(app);
  tariffId = await aGiftTariff(app);
};
beforeEach(() => open());

const operator = { kind: 'system', name: 'command line' } as const;
const asUser = ({ id }: { id: number }): UserActor => ({ kind: 'user', userId: id });

async function aPaidGift(order: Parameters<typeof anOrder>[1] = {}) {
  const buyer = await aBuyer(app);
  const { code } = await buy(app, buyer, anOrder(tariffId, { ...order, paymentMethod: 'sandbox' }));
  await confirmGift(app, provider, code);
  const gift = await giftOf(app, code);
  return { buyer, code, gift, paymentId: gift.paymentId! };
}

/** The provider reports that it gave money back, and everything that follows is done. */
async function reverse(paymentId: number, kind: ProviderReversal['kind'] = 'chargeback', amountKopeks: number | null = null) {
  const { externalId } = await paymentFacts(app, paymentId);
  provider.set(externalId!, 'paid', { reversals: [{ reversalId: `${kind}-${unique()}`, kind, amountKopeks }] });
  await callback(app, externalId!);
  await runCallbackJobs(app, externalId!, [guestPurchases]);
  await runFollowUps(paymentId);
}

async function runFollowUps(paymentId: number): Promise<void> {
  const rows = await app.db.sql<{ id: number }>('SELECT id FROM payment_reversals WHERE payment_id = $1::int', [paymentId]);
  for (const { id } of rows) await runAfterReversal(app, { reversalId: id }, [guestPurchases]);
}

const order = (paymentId: number) => ({ paymentId, amountKopeks: null, reason: 'asked for it', requestedBy: 'test' });
const claim = async ({ code }: Pick<GiftFacts, 'code'>) => activate(app, asUser(await aUser(app)), code);
const NOT_CLAIMABLE = { status: 400, detail: 'This gift cannot be activated' };

describe('an unclaimed gift whose money went back', () => {
  test('by a chargeback cannot be claimed any more, nor refunded to the balance', async () => {
    const { buyer, code, gift, paymentId } = await aPaidGift();
    await reverse(paymentId);
    await expect(claim(gift)).rejects.toMatchObject(NOT_CLAIMABLE);
    expect(await giftOf(app, code)).toMatchObject({ status: 'failed', lastError: 'payment_reversed', grantedAt: null });
    await expect(refundGift(app, operator, gift.id, 'asked')).rejects.toMatchObject({ status: 409, code: 'gift_returned' });
    expect((await moneyOf(app, buyer)).balance).toBe(0);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('cannot be claimed before the job that follows has run', async () => {
    const { code, gift, paymentId } = await aPaidGift();
    const { externalId } = await paymentFacts(app, paymentId);
    provider.set(externalId!, 'paid', {
      reversals: [{ reversalId: `chargeback-${unique()}`, kind: 'chargeback', amountKopeks: null }],
    });
    await callback(app, externalId!);
    await runCallbackJobs(app, externalId!, [guestPurchases]);
    await expect(claim(gift)).rejects.toMatchObject(NOT_CLAIMABLE);
    expect((await giftOf(app, code)).userId).toBeNull();
  });

  test('by a refund through the provider cannot be claimed from the request on, unless the provider refuses', async () => {
    const { code, gift, paymentId } = await aPaidGift();
    const first = await requestRefund(app, order(paymentId));
    await expect(claim(gift)).rejects.toMatchObject(NOT_CLAIMABLE);
    await expect(refundGift(app, operator, gift.id, 'asked')).rejects.toMatchObject({ status: 409, code: 'gift_returned' });
    provider.faults = ['rejected'];
    await sendRefund(app, { reversalId: first.refundId });
    await claim(gift);
    expect((await giftOf(app, code)).grantedAt).not.toBeNull();
  });

  test('partly before it was credited: what follows a reversal is done, and the part is a case, since the gift is whole', async () => {
    const buyer = await aBuyer(app);
    const { code } = await buy(app, buyer, anOrder(tariffId, { paymentMethod: 'sandbox' }));
    const paymentId = (await giftOf(app, code)).paymentId!;
    const { externalId } = await paymentFacts(app, paymentId);
    const reversals = [{ reversalId: `refund-${unique()}`, kind: 'refund', amountKopeks: 10_000 }] as const;
    for (const outcome of ['pending', 'paid'] as const) {
      provider.set(externalId!, outcome, { reversals });
      await callback(app, externalId!);
      await runCallbackJobs(app, externalId!, [guestPurchases]);
    }
    expect((await giftOf(app, code)).status).toBe('paid');
    expect(await casesOf(app, paymentId)).toEqual([{ kind: 'reversal_remainder', amountKopeks: 10_000, status: 'open' }]);
    const followUps = await app.db.sql(
      `SELECT j.name FROM jobs.job j JOIN payment_reversals r ON r.id = (j.data ->> 'reversalId')::int
       WHERE j.name = 'payments.after-reversal' AND r.payment_id = $1::int`,
      [paymentId],
    );
    expect(followUps).toHaveLength(1);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('partly stays claimable', async () => {
    const { gift, paymentId } = await aPaidGift();
    await reverse(paymentId, 'refund', 1_000);
    await claim(gift);
    expect((await giftOf(app, gift.code)).grantedAt).not.toBeNull();
  });

  test('and that names its recipient is not given, neither by the job nor on request', async () => {
    const email = anEmail();
    const friend = await aUser(app, { email });
    await aStoredSubscription(app, friend.id);
    const { gift, paymentId } = await aPaidGift(toEmail(email));
    await fulfilPurchase(app, { purchaseId: gift.id });
    expect((await giftOf(app, gift.code)).status).toBe('pending_activation');
    await reverse(paymentId);
    await expect(activate(app, asUser(friend), gift.code)).rejects.toMatchObject(NOT_CLAIMABLE);

    const other = await aPaidGift(toEmail(anEmail()));
    await requestRefund(app, order(other.paymentId));
    await fulfilPurchase(app, { purchaseId: other.gift.id });
    expect(await giftOf(app, other.code)).toMatchObject({ status: 'paid', grantedAt: null });
  });
});

describe('a gift whose money is on the balance of its buyer', () => {
  test.each(['chargeback', 'refund'] as const)('a %s by the provider is taken from that balance', async (kind) => {
    const { buyer, gift, paymentId } = await aPaidGift();
    await refundGift(app, operator, gift.id, 'asked');
    expect((await moneyOf(app, buyer)).balance).toBe(PRICE);
    await reverse(paymentId, kind);
    expect((await moneyOf(app, buyer)).balance).toBe(0);
    expect(await casesOf(app, paymentId)).toEqual([]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a refund through the provider debits it at once, and gives it back when the provider refuses', async () => {
    const { buyer, gift, paymentId } = await aPaidGift();
    await refundGift(app, operator, gift.id, 'asked');
    const { refundId, debitedKopeks } = await requestRefund(app, order(paymentId));
    expect([debitedKopeks, (await moneyOf(app, buyer)).balance]).toEqual([PRICE, 0]);
    provider.faults = ['rejected'];
    await sendRefund(app, { reversalId: refundId });
    expect((await moneyOf(app, buyer)).balance).toBe(PRICE);
    expect(await checkLedger(app)).toEqual([]);
  });
});

describe('a gift that was given', () => {
  test.each([
    ['keep', 'active'],
    ['end', 'expired'],
  ])('with the rule %s the subscription of a reversed payment is %s', async (rule, status) => {
    await open({ REFUND_SUBSCRIPTION_RULE: rule });
    const { gift, paymentId } = await aPaidGift();
    const friend = await aUser(app);
    await activate(app, asUser(friend), gift.code);
    await panelAnswers(app, gift.id);
    await reverse(paymentId);
    const [row] = await app.db.sql('SELECT status FROM subscriptions WHERE user_id = $1::int', [friend.id]);
    expect(row).toEqual({ status });
    expect(await giftOf(app, gift.code)).toMatchObject({ status: 'delivered' });
    expect(await casesOf(app, paymentId)).toMatchObject([{ kind: 'reversal_remainder', amountKopeks: PRICE }]);
  });
});
