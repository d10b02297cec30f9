import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { purchaseDevices } from '../../../src/domain/subscriptions/purchase-devices.ts';
import { listRenewalOptions } from '../../../src/domain/subscriptions/read-subscription.ts';
import { renewSubscription } from '../../../src/domain/subscriptions/renew-subscription.ts';
import { giftsAreOn } from '../../support/gift-samples.ts';
import { type Cart, cart, clearCatalog, PRODUCTS, prepareCart, preview } from '../../support/quote-carts.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { emptyDatabase } from '../../support/test-database.ts';

let t: TestApp;
let classic: TestApp;
async function startApps(): Promise<void> {
  t = await testApp();
  await giftsAreOn(t.app);
  classic = await testApp({ environment: { SALES_MODE: 'classic', TRAFFIC_TOPUP_ENABLED: 'true' } });
}
beforeAll(startApps);

/** `TEST_QUOTE_CARTS=100000 PROPERTY_SEED=1` checks that many; a landing checks a share of them. */
const CARTS = Number(process.env.TEST_QUOTE_CARTS ?? 140);

/** Every cart leaves a tariff, servers and a group behind: with thousands of them a service is slower than any real one. */
const CARTS_PER_APP = 500;

const claimsOf = (quote: string) => JSON.parse(Buffer.from(quote.split('.')[0]!, 'base64url').toString('utf8'));

test('a purchase that sends its quote back is charged exactly that, for any product, group, offer, term and daily plan', async () => {
  const sold = new Map<string, number>();
  const appOf = ({ product, isClassic }: Cart): App =>
    product === 'classic' || (product === 'traffic' && isClassic) ? classic.app : t.app;
  for (let from = 0; from < CARTS; from += CARTS_PER_APP) {
    if (from > 0) {
      await emptyDatabase(t.database);
      await startApps();
    }
    await fc.assert(
      fc.asyncProperty(cart, async (given) => {
        const app = appOf(given);
        await clearCatalog(app);
        const fixture = await prepareCart(app, given);
        const shown = await preview(app, given, fixture);
        if (!shown) return;
        const claims = claimsOf(shown.quote);
        expect(claims).toMatchObject({ product: given.product, user_id: fixture.buyer.userId });
        if (shown.shownKopeks !== null) expect(claims.price_kopeks).toBe(shown.shownKopeks);
        expect(await shown.buy(shown.quote)).toBe(claims.price_kopeks);
        sold.set(given.product, (sold.get(given.product) ?? 0) + 1);
      }),
      { numRuns: Math.min(CARTS_PER_APP, CARTS - from), seed: Number(process.env.PROPERTY_SEED) + from },
    );
    for (const { app } of [t, classic]) expect(await checkLedger(app)).toEqual([]);
  }
  // Each product has really been sold: a preview that refuses everything would prove nothing.
  expect([...sold.keys()].sort()).toEqual([...PRODUCTS].sort());
}, 14_400_000);

describe('a quote', () => {
  let tariffId: number;
  let buyer: Awaited<ReturnType<typeof aBuyer>>;
  beforeEach(async () => {
    await clearCatalog(t.app);
    tariffId = await aTariff(t.app, { period_prices: { 30: 30_000, 90: 80_000 }, device_price_kopeks: 5_000 });
    buyer = await aBuyer(t.app, 1_000_000);
    await aStoredSubscription(t.app, buyer.userId, { tariff_id: tariffId });
  });

  const quoteOf = async (periodDays: number, actor = buyer) =>
    (await listRenewalOptions(t.app, actor)).find((option) => option.periodDays === periodDays)!.quote;
  const renew = (quote: string, periodDays = 30, idempotencyKey: string | null = null) =>
    renewSubscription(t.app, buyer, { periodDays, quote, idempotencyKey });
  const balance = async () =>
    (await rowOf<{ kopeks: number }>(t.app, 'SELECT balance_kopeks AS kopeks FROM users WHERE id = $1::int', [buyer.userId]))
      .kopeks;
  const setPrice = (kopeks: number) =>
    t.app.db.sql('UPDATE tariffs SET period_prices = $2::jsonb WHERE id = $1::int RETURNING id', [
      tariffId,
      JSON.stringify({ 30: kopeks, 90: 80_000 }),
    ]);

  test.each([
    ['higher', 31_000],
    ['lower', 29_000],
  ])('of a price that is %s now is refused with the new one, which then is charged', async (_name, now) => {
    const quote = await quoteOf(30);
    await setPrice(now);
    const refused = await renew(quote, 30, 'key').catch((error) => error);
    expect(refused).toMatchObject({
      status: 409,
      code: 'quote_changed',
      detail: { code: 'quote_changed', reason: 'price', price_kopeks: now, message: expect.any(String) },
    });
    expect(await balance()).toBe(1_000_000);
    // The refusal has not used up the key.
    expect(await renew(refused.detail.quote, 30, 'key')).toMatchObject({ amountPaidKopeks: now });
    expect(await balance()).toBe(1_000_000 - now);
  });

  test('is valid for ten minutes', async () => {
    const [quote, late] = [await quoteOf(30), await quoteOf(30)];
    t.clock.advance(9 * 60_000);
    expect(await renew(quote)).toMatchObject({ amountPaidKopeks: 30_000 });
    t.clock.advance(60_000);
    await expect(renew(late)).rejects.toMatchObject({ status: 409, detail: { reason: 'expired', price_kopeks: 30_000 } });
    expect(await balance()).toBe(970_000);
  });

  test('of another order, or of what delivers something else now, is refused', async () => {
    await expect(renew(await quoteOf(90))).rejects.toMatchObject({ status: 409, detail: { reason: 'terms' } });
    const quote = await quoteOf(30);
    await t.app.db.sql('UPDATE subscriptions SET traffic_limit_gb = 1 WHERE user_id = $1::int RETURNING id', [buyer.userId]);
    await expect(renew(quote)).rejects.toMatchObject({ status: 409, detail: { reason: 'terms' } });
    expect(await balance()).toBe(1_000_000);
  });

  test('of another user or product, forged, cut or anything else is no quote', async () => {
    const other = await aBuyer(t.app, 1_000_000);
    await aStoredSubscription(t.app, other.userId, { tariff_id: tariffId });
    const honest = await quoteOf(30);
    const [claims, signature] = honest.split('.');
    const cheaper = Buffer.from(JSON.stringify({ ...claimsOf(honest), price_kopeks: 1 })).toString('base64url');
    const forged = [
      ...[await quoteOf(30, other), `${cheaper}.${signature}`, `${claims}.`, `${claims}.${signature}.`, `.${signature}`, claims!],
      ...['', '.', 'null', honest.slice(0, -3), 'x'.repeat(100_000), `${claims}.${signature}x`, '😀.😀'],
    ];
    for (const quote of forged) {
      const issue = { loc: ['body', 'quote'], type: 'quote_invalid' };
      await expect(renew(quote), quote.slice(0, 80)).rejects.toMatchObject({
        status: 422,
        issues: [expect.objectContaining(issue)],
      });
    }
    await expect(purchaseDevices(t.app, buyer, { devices: 1, quote: honest, idempotencyKey: null })).rejects.toMatchObject({
      status: 422,
    });
    expect(await balance()).toBe(1_000_000);
  });

  test('needs no secret in the environment: the mini-app also sells where there is no cabinet', async () => {
    const app = { ...t.app, env: { ...t.app.env, isProduction: true, isCabinetEnabled: false, cabinetJwtSecret: null } };
    const [option] = await listRenewalOptions(app, buyer);
    const order = { periodDays: 30, quote: option!.quote, idempotencyKey: null };
    expect(await renewSubscription(app, buyer, order)).toMatchObject({ amountPaidKopeks: 30_000 });
  });

  test('says what has changed before it says that the balance is too small, and reserves nothing', async () => {
    const quote = await quoteOf(30);
    await setPrice(2_000_000);
    await expect(renew(quote)).rejects.toMatchObject({ status: 409, detail: { price_kopeks: 2_000_000 } });
    await expect(renew(await quoteOf(30))).rejects.toMatchObject({ status: 402 });
  });
});
