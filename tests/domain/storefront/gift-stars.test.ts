import { beforeEach, describe, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { receiveStarsUpdate } from '../../../src/domain/payments/credit-stars.ts';
import { listMyPendingPayments } from '../../../src/domain/payments/list-payments.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { clearActiveDiscount } from '../../../src/domain/promo/offers/offers.ts';
import { readGiftConfig } from '../../../src/domain/storefront/gifts/gift-config.ts';
import { giftStars } from '../../../src/domain/storefront/gifts/gift-stars.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import {
  aGiftTariff,
  anOrder,
  buy,
  fulfilments,
  giftOf,
  giftsAreOn,
  moneyOf,
  offerFacts,
  toEmail,
} from '../../support/gift-samples.ts';
import { callbackJobs, casesOf, paymentMethodIsListed } from '../../support/payment-samples.ts';
import { anEmail } from '../../support/purchase-samples.ts';
import { anOffer } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let tariffId: number;
beforeEach(async () => {
  t = await testApp();
  app = t.app;
  await giftsAreOn(app);
  tariffId = await aGiftTariff(app);
  await paymentMethodIsListed(app, 'messenger_stars');
});
const inStars = { paymentMethod: 'messenger_stars' };
/** 300 ₽ at 1.3 ₽ a star. */
const STARS = 231;

async function anInvoice(fields: Parameters<typeof anOrder>[1] = {}, percent = 0) {
  const payer = await aUser(app, { language: 'en' });
  const buyer: UserActor = { kind: 'user', userId: payer.id };
  if (percent > 0) await anOffer(app, payer.id, percent);
  const bought = await buy(app, buyer, anOrder(tariffId, { ...inStars, ...fields }));
  const gift = await giftOf(app, bought.code);
  const [row] = await app.db.sql<{ orderId: string }>('SELECT order_id FROM payments WHERE id = $1::int', [gift.paymentId]);
  return { payer, buyer, bought, id: gift.id, payload: row!.orderId };
}

async function pay(payer: BuiltUser, payload: string, stars = STARS, chargeId = `gift-${unique()}`): Promise<string> {
  const paid = { updateId: unique(), kind: 'stars_paid', chargeId, payerMessengerId: payer.messengerId, payload, stars } as const;
  await receiveStarsUpdate(app, paid, '{}', [giftStars]);
  for (const callbackId of await callbackJobs(app, chargeId)) await processCallback(app, { callbackId }, [giftStars]);
  return chargeId;
}

async function preCheckout(payer: BuiltUser, payload: string, amountStars = STARS): Promise<boolean> {
  const answers: boolean[] = [];
  const messenger = { ...app.ports.messenger, answerPreCheckout: async (_id: string, ok: boolean) => void answers.push(ok) };
  const query = {
    updateId: 1,
    kind: 'pre_checkout',
    queryId: 'q',
    payerMessengerId: payer.messengerId,
    payload,
    amountStars,
  } as const;
  await receiveStarsUpdate({ ...app, ports: { ...app.ports, messenger } }, query, '{}', [giftStars]);
  return answers[0]!;
}

describe('a gift paid in Stars', () => {
  test('is paid once per charge, with one revenue row of its buyer', async () => {
    const { payer, buyer, bought, id, payload } = await anInvoice(toEmail(anEmail()));
    expect(bought).toMatchObject({ status: 'created', paymentUrl: expect.stringMatching(/^https?:/) });
    expect(payload).toMatch(/^guest_purchase_[0-9a-f]{30}$/);
    expect(await preCheckout(payer, payload)).toBe(true);
    const charge = await pay(payer, payload);
    await pay(payer, payload, STARS, charge);
    expect(await giftOf(app, bought.code)).toMatchObject({
      status: 'paid',
      amountKopeks: 30_000,
      transactionId: expect.any(Number),
    });
    expect(await fulfilments(app, id)).toBe(1);
    expect(await moneyOf(app, buyer)).toMatchObject({
      rows: [{ type: 'subscription_payment', amountKopeks: -30_000, paymentMethod: 'messenger_stars' }],
      balance: 0,
    });
    expect(await preCheckout(payer, payload)).toBe(false);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('is not paid twice: the stars of a second charge go to the balance of who paid them', async () => {
    const [{ payer, bought, payload }, other] = [await anInvoice(), await aUser(app)];
    await pay(payer, payload);
    const charge = await pay(other, payload);
    await pay(other, payload, STARS, charge);
    expect(await moneyOf(app, { kind: 'user', userId: other.id })).toMatchObject({
      rows: [{ type: 'refund', amountKopeks: 30_030, paymentMethod: 'messenger_stars' }],
      balance: 30_030,
    });
    expect((await giftOf(app, bought.code)).status).toBe('paid');
    expect(await checkLedger(app)).toEqual([]);
  });

  test('another number of stars, and an unknown payload, pay for nothing and are not lost', async () => {
    const { payer, buyer, bought, payload } = await anInvoice();
    expect(await preCheckout(payer, payload, STARS - 1)).toBe(false);
    expect(await preCheckout(payer, `guest_purchase_${'0'.repeat(30)}`)).toBe(false);
    await pay(payer, payload, 10);
    expect((await moneyOf(app, buyer)).balance).toBe(1_300);
    expect((await giftOf(app, bought.code)).status).toBe('pending');
  });

  test('spec 03 H14: uses the discount up when it is paid', async () => {
    const { payer, buyer, payload } = await anInvoice({}, 50);
    expect((await offerFacts(app, buyer)).percent).toBe(50);
    await pay(payer, payload, 116);
    expect(await offerFacts(app, buyer)).toMatchObject({ percent: 0, logs: [{ percent: 50 }] });
  });

  test('spec 10 M3: the stars for a gift whose discount is gone are on the balance of who paid them, and a case says why', async () => {
    const { payer, buyer, bought, payload } = await anInvoice({}, 50);
    await clearActiveDiscount(app, buyer);
    const charge = await pay(payer, payload, 116);
    await pay(payer, payload, 116, charge);
    const gift = await giftOf(app, bought.code);
    expect(gift).toMatchObject({ status: 'failed', lastError: 'offer_gone', transactionId: null });
    expect(await casesOf(app, gift.paymentId!)).toEqual([{ kind: 'offer_gone', amountKopeks: 15_000, status: 'resolved' }]);
    expect((await moneyOf(app, { kind: 'user', userId: payer.id })).balance).toBe(15_000);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 03 H15: expired, it is refused before the payment, and a payment that comes nevertheless counts', async () => {
    const { payer, bought, payload } = await anInvoice();
    t.clock.advance(DAY_MS + MINUTE_MS);
    await app.db.sql("UPDATE guest_purchases SET status = 'expired' WHERE code = $1 RETURNING id", [bought.code]);
    expect(await preCheckout(payer, payload)).toBe(false);
    await pay(payer, payload);
    expect((await giftOf(app, bought.code)).status).toBe('paid');
  });

  test('is no top-up: the list of pending payments does not show it', async () => {
    const { buyer } = await anInvoice();
    expect(await listMyPendingPayments(app, buyer, { page: 1, perPage: 10 })).toMatchObject({ items: [], total: 0 });
  });

  test('is offered while Stars are switched on', async () => {
    const { buyer } = await anInvoice();
    expect((await readGiftConfig(app, buyer)).methods.map(({ id }) => id)).toContain('messenger_stars');
  });

  test('leaves nothing when the messenger makes no link', async () => {
    const payer = await aUser(app);
    const createStarsInvoiceLink = async () => {
      throw new Error('no answer');
    };
    const down: App = { ...app, ports: { ...app.ports, messenger: { ...app.ports.messenger, createStarsInvoiceLink } } };
    await expect(buy(down, { kind: 'user', userId: payer.id }, anOrder(tariffId, inStars))).rejects.toMatchObject({
      status: 502,
    });
    expect(await app.db.sql('SELECT id FROM guest_purchases WHERE buyer_user_id = $1::int', [payer.id])).toEqual([]);
  });
});
