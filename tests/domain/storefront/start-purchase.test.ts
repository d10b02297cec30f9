import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, DAY_MS } from '../../../src/core/clock.ts';
import { startPurchase } from '../../../src/domain/storefront/purchases/start-purchase.ts';
import { aMethod, anOrder, aPurchase, aStorefront, giftTo } from '../../support/purchase-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  t = await testApp();
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
});

const caller = { ip: '203.0.113.7', idempotencyKey: null };

describe('starting a purchase', () => {
  test('spec 03 H4: purchase and invoice with purpose and token are stored before the provider is asked', async () => {
    const storefront = await aStorefront(app, {}, { name: 'Quick' });
    const original = provider.createInvoice;
    let seen: unknown[] = [];
    provider.createInvoice = async (request) => {
      seen = await app.db.sql(
        `SELECT p.status, p.amount_kopeks, length(p.token) AS length, y.purpose, y.user_id, y.outcome FROM guest_purchases p
           JOIN payments y ON y.id = p.payment_id WHERE y.id = $1::int`,
        [request.paymentId],
      );
      return original(request);
    };
    const order = anOrder(storefront);
    const { token, paymentUrl } = await startPurchase(app, order, caller);
    expect(seen).toEqual([
      { status: 'pending', amountKopeks: 30_000, length: 64, purpose: 'guest_purchase', userId: null, outcome: 'pending' },
    ]);
    const [request] = provider.created;
    expect(token).toMatch(/^[\w-]{64}$/);
    expect(paymentUrl).toBe(`https://pay.example.com/${request!.orderId}`);
    expect(request).toMatchObject({
      amountKopeks: 30_000,
      description: 'Quick — 30d',
      payerEmail: order.buyer.value,
      returnUrls: expect.objectContaining({ result: `https://cabinet.example.com/buy/success/${token}` }),
      metadata: { purpose: 'guest_purchase', purchase_token: token, source: 'landing' },
    });
  });

  test('the page of a method takes the place of the usual one, with the token in it', async () => {
    const storefront = await aStorefront(app, {
      paymentMethods: [aMethod({ returnUrl: 'https://shop.example.com/t/{token}?x=1' })],
    });
    const { token } = await aPurchase(app, storefront);
    expect(provider.created.at(-1)!.returnUrls.result).toBe(`https://shop.example.com/t/${token}?x=1`);
  });

  test('a discounted price is asked, at least one kopek, with overrides per tariff', async () => {
    const now = app.clock.now();
    const discount = { discountPercent: 50, discountStartsAt: now, discountEndsAt: addDays(now, 1) };
    await aPurchase(app, await aStorefront(app, discount));
    expect(provider.created.at(-1)!.amountKopeks).toBe(15_000);
    await aPurchase(app, await aStorefront(app, { ...discount, discountPercent: 99 }, { period_prices: { 30: 50 } }));
    expect(provider.created.at(-1)!.amountKopeks).toBe(1);
    const storefront = await aStorefront(app, discount);
    await app.db.sql('UPDATE landing_pages SET discount_overrides = $2::jsonb WHERE id = $1::int RETURNING id', [
      storefront.landing.id,
      JSON.stringify({ [storefront.tariffId]: 10 }),
    ]);
    await aPurchase(app, storefront);
    expect(provider.created.at(-1)!.amountKopeks).toBe(27_000);
    t.clock.advance(DAY_MS);
    await aPurchase(app, storefront);
    expect(provider.created.at(-1)!.amountKopeks).toBe(30_000);
  });

  test('one key from one address gives one purchase, and from another address another', async () => {
    const order = anOrder(await aStorefront(app));
    const key = `key-${order.slug}`;
    const first = await startPurchase(app, order, { ip: '203.0.113.7', idempotencyKey: key });
    expect(await startPurchase(app, order, { ip: '203.0.113.7', idempotencyKey: key })).toEqual(first);
    const other = await startPurchase(app, order, { ip: '203.0.113.8', idempotencyKey: key });
    expect(other.token).not.toBe(first.token);
    const changed = { ...order, periodDays: 90 };
    await expect(startPurchase(app, changed, { ip: '203.0.113.7', idempotencyKey: key })).rejects.toMatchObject({ status: 422 });
  });

  const refusals: [
    string,
    number,
    Parameters<typeof aStorefront>[1],
    Record<string, unknown>,
    Partial<ReturnType<typeof anOrder>>,
  ][] = [
    ['Landing page not found', 404, { isActive: false }, {}, {}],
    ['Landing page not found', 404, {}, {}, { slug: 'no-such-page' }],
    ['Gift purchases are not enabled for this landing page', 400, { giftEnabled: false }, {}, giftTo('@somebody')],
    ['Payment method is not available on this landing page', 400, {}, {}, { paymentMethod: 'yookassa' }],
    ['Payment method is not available on this landing page', 400, {}, {}, { paymentMethod: 'sandbox_sbp' }],
    ['Tariff is not available on this landing page', 400, { allowedTariffIds: [] }, {}, {}],
    ['Tariff not found or inactive', 400, {}, { is_active: false }, {}],
    ['This tariff is not available for gift purchases', 400, {}, { show_in_gift: false }, giftTo('@somebody')],
    ['Period is not available for this tariff', 400, {}, {}, { periodDays: 31 }],
    ['Price is not configured for this period', 400, {}, { period_prices: { 30: 0 } }, {}],
    ['Price is not configured for this period', 400, {}, { is_daily: true, daily_price_kopeks: 100 }, {}],
    [
      'Amount is below the minimum (300.01 ₽) for this payment method',
      400,
      { paymentMethods: [aMethod({ minAmountKopeks: 30_001 })] },
      {},
      {},
    ],
    [
      'Amount exceeds the maximum (299.99 ₽) for this payment method',
      400,
      { paymentMethods: [aMethod({ maxAmountKopeks: 29_999 })] },
      {},
      {},
    ],
    // These cannot be used without an account (spec 03 section 7.2).
    [
      'Payment provider is unavailable, please try again later',
      502,
      { paymentMethods: [aMethod({ methodId: 'messenger_stars' })] },
      {},
      { paymentMethod: 'messenger_stars' },
    ],
  ];
  test.each(refusals)('refuses: %s', async (detail, status, landing, tariff, order) => {
    const storefront = await aStorefront(app, landing, tariff);
    await expect(startPurchase(app, anOrder(storefront, order), caller)).rejects.toMatchObject({ status, detail });
    expect(await app.db.sql('SELECT id FROM guest_purchases WHERE landing_id = $1::int', [storefront.landing.id])).toEqual([]);
    expect(provider.created).toEqual([]);
  });

  test("a page's own periods are the only ones", async () => {
    const storefront = await aStorefront(app);
    await app.db.sql('UPDATE landing_pages SET allowed_periods = $2::jsonb WHERE id = $1::int RETURNING id', [
      storefront.landing.id,
      JSON.stringify({ [storefront.tariffId]: [90, 7] }),
    ]);
    const start = (periodDays: number) => startPurchase(app, anOrder(storefront, { periodDays }), caller);
    await expect(start(30)).rejects.toMatchObject({ detail: 'Period is not available for this tariff on this landing page' });
    await expect(start(7)).rejects.toMatchObject({ detail: 'Price is not configured for this period' });
    expect(await start(90)).toMatchObject({ token: expect.any(String) });
  });

  test.each([
    ['unavailable', 'Payment provider is unavailable, please try again later'],
    ['rejected', 'Payment provider is unavailable, please try again later'],
    ['crash', 'Payment provider is unavailable, please try again later'],
  ] as const)('a provider that fails (%s) is 502, and no purchase stays', async (fault, detail) => {
    const storefront = await aStorefront(app);
    provider.createFaults = [fault];
    await expect(startPurchase(app, anOrder(storefront), caller)).rejects.toMatchObject({ status: 502, detail });
    expect(await app.db.sql('SELECT id FROM guest_purchases WHERE landing_id = $1::int', [storefront.landing.id])).toEqual([]);
  });

  test('an answer without a web address is 502, and no purchase stays', async () => {
    const storefront = await aStorefront(app);
    provider.paymentUrl = 'javascript:pay/';
    await expect(startPurchase(app, anOrder(storefront), caller)).rejects.toMatchObject({
      status: 502,
      detail: 'Payment provider returned an invalid response',
    });
    expect(await app.db.sql('SELECT id FROM guest_purchases WHERE landing_id = $1::int', [storefront.landing.id])).toEqual([]);
  });
});
