import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { expirePromo } from '../../../src/domain/promo/offers/expiry.ts';
import { clearActiveDiscount } from '../../../src/domain/promo/offers/offers.ts';
import { watchPurchases } from '../../../src/domain/storefront/purchases/watch-purchases.ts';
import { aGiftTariff, anOrder, buy, confirmGift, giftOf, giftsAreOn, moneyOf, offerFacts } from '../../support/gift-samples.ts';
import { casesOf } from '../../support/payment-samples.ts';
import { aBuyer, anOffer } from '../../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let provider: ScriptedProvider;
let tariffId: number;
beforeEach(async () => {
  t = await testApp();
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
  await giftsAreOn(app);
  // The job reads all purchases, ten at a time.
  await app.db.sql('DELETE FROM guest_purchases');
  tariffId = await aGiftTariff(app);
});
const gateway = { paymentMethod: 'sandbox' };

describe('a discount of one use lowers one purchase (spec 10 M3)', () => {
  /** A buyer with a discount of 50 % and this many open invoices for gifts at half the price. */
  async function withInvoices(count: number, balance = 0) {
    const buyer = await aBuyer(app, balance);
    await anOffer(app, buyer.userId, 50);
    const codes: string[] = [];
    for (let index = 0; index < count; index++) codes.push((await buy(app, buyer, anOrder(tariffId, gateway))).code);
    return { buyer, codes };
  }
  const reserving = (buyer: { userId: number }) =>
    app.db.sql('SELECT code FROM guest_purchases WHERE buyer_user_id = $1::int AND reserves_offer', [buyer.userId]);

  test('four invoices, then a purchase from the balance that uses it: their money goes to the balance, and cases say why', async () => {
    const { buyer, codes } = await withInvoices(4, 15_000);
    expect(await reserving(buyer)).toEqual([{ code: codes[3] }]);
    t.clock.advance(MINUTE_MS);
    await buy(app, buyer, anOrder(tariffId));
    expect(await reserving(buyer)).toEqual([]);
    for (const code of codes) await confirmGift(app, provider, code);
    const gifts = await Promise.all(codes.map((code) => giftOf(app, code)));
    for (const gift of gifts) {
      expect(gift).toMatchObject({ status: 'failed', lastError: 'offer_gone', transactionId: null });
      expect(await casesOf(app, gift.paymentId!)).toEqual([{ kind: 'offer_gone', amountKopeks: 15_000, status: 'resolved' }]);
      await confirmGift(app, provider, gift.code);
    }
    expect(await moneyOf(app, buyer)).toMatchObject({ rows: [{ amountKopeks: -15_000 }], balance: 60_000 });
    expect(await offerFacts(app, buyer)).toMatchObject({ percent: 0, logs: [{ action: 'consumed' }] });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('of several open invoices the one that is paid first uses it, whichever reserves it', async () => {
    const { buyer, codes } = await withInvoices(3);
    for (const code of [codes[1]!, codes[2]!, codes[0]!]) await confirmGift(app, provider, code);
    const states = (await Promise.all(codes.map((code) => giftOf(app, code)))).map(({ status }) => status);
    expect(states).toEqual(['failed', 'paid', 'failed']);
    expect((await moneyOf(app, buyer)).balance).toBe(30_000);
  });

  test.each([
    ['ended by time, and the invoice is open', 2, null, 'paid'],
    ['ended by time, and the invoice too', 25, null, 'failed'],
    ['was given up', 0, clearActiveDiscount, 'failed'],
  ] as const)('the discount %s', async (_name, hours, end, status) => {
    const { buyer, codes } = await withInvoices(1);
    await end?.(app, buyer);
    t.clock.advance(hours * 60 * MINUTE_MS);
    await expirePromo(app);
    await watchPurchases(app);
    await confirmGift(app, provider, codes[0]!);
    expect((await giftOf(app, codes[0]!)).status).toBe(status);
    expect((await moneyOf(app, buyer)).balance).toBe(status === 'paid' ? 0 : 15_000);
    expect(await reserving(buyer)).toEqual([]);
  });

  test('an invoice that failed at its provider reserves nothing', async () => {
    const { buyer, codes } = await withInvoices(1);
    const { paymentId } = await giftOf(app, codes[0]!);
    await app.db.sql("UPDATE payments SET outcome = 'failed' WHERE id = $1::int RETURNING id", [paymentId]);
    expect(await reserving(buyer)).toEqual([]);
  });

  test('the database refuses a second reservation of one buyer', async () => {
    const { buyer, codes } = await withInvoices(2);
    // The functions release the earlier reservation first, so that only the index refuses what is written beside them.
    const second = app.db.sql('UPDATE guest_purchases SET reserves_offer = true WHERE code = $1 RETURNING id', [codes[0]]);
    await expect(second).rejects.toThrow('guest_purchases_one_offer');
    expect(await reserving(buyer)).toEqual([{ code: codes[1] }]);
  });

  test('without the account of the buyer the money waits in a case', async () => {
    const { buyer, codes } = await withInvoices(1);
    await clearActiveDiscount(app, buyer);
    await app.db.sql("UPDATE users SET status = 'deleted' WHERE id = $1::int RETURNING id", [buyer.userId]);
    await confirmGift(app, provider, codes[0]!);
    const gift = await giftOf(app, codes[0]!);
    expect(gift).toMatchObject({ status: 'failed', lastError: 'offer_gone' });
    expect(await casesOf(app, gift.paymentId!)).toEqual([{ kind: 'offer_gone', amountKopeks: 15_000, status: 'open' }]);
    expect((await moneyOf(app, buyer)).balance).toBe(0);
  });

  test('any order of invoices, payments, purchases and ends: never more uses than discounts, and no money is lost', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('offer', 'invoice', 'invoice', 'gift', 'clear', 'expire') }),
      fc.record({ kind: fc.constant('pay'), which: fc.nat(9) }),
      fc.record({ kind: fc.constant('wait'), hours: fc.constantFrom(0.5, 2, 30) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const buyer = await aBuyer(app, 100_000);
        const codes: string[] = [];
        let [offers, paid] = [0, 0];
        for (const now of steps) {
          t.clock.advance(MINUTE_MS);
          if (now.kind === 'offer') await anOffer(app, buyer.userId, 50).then(() => offers++);
          if (now.kind === 'invoice') codes.push((await buy(app, buyer, anOrder(tariffId, gateway))).code);
          if (now.kind === 'gift') await buy(app, buyer, anOrder(tariffId)).catch(() => null);
          if (now.kind === 'clear') await clearActiveDiscount(app, buyer);
          if (now.kind === 'expire') await Promise.all([expirePromo(app), watchPurchases(app)]);
          if ('hours' in now) t.clock.advance(now.hours * 60 * MINUTE_MS);
          if ('which' in now && codes.length > 0) {
            const code = codes[now.which % codes.length]!;
            const gift = await giftOf(app, code);
            const [row] = await app.db.sql<{ isPaid: boolean }>('SELECT is_paid FROM payments WHERE id = $1::int', [
              gift.paymentId,
            ]);
            if (!row!.isPaid) paid += gift.amountKopeks;
            await confirmGift(app, provider, code);
          }
        }
        const gifts = await app.db.sql<{ amountKopeks: number }>(
          "SELECT amount_kopeks FROM guest_purchases WHERE buyer_user_id = $1::int AND status = 'paid'",
          [buyer.userId],
        );
        expect(gifts.filter(({ amountKopeks }) => amountKopeks < 30_000).length).toBeLessThanOrEqual(offers);
        const spent = gifts.reduce((sum, { amountKopeks }) => sum + amountKopeks, 0);
        expect((await moneyOf(app, buyer)).balance + spent).toBe(100_000 + paid);
        expect((await reserving(buyer)).length).toBeLessThanOrEqual(1);
        expect(await checkLedger(app)).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});
