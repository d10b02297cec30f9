import { beforeAll, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { listRenewalOptions, readSubscription } from '../../../src/domain/subscriptions/read-subscription.ts';
import { renewSubscription } from '../../../src/domain/subscriptions/renew-subscription.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { aBuyer, aMembership, anOffer, aServer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { readCart } from '../../support/saved-cart.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const DAY = 86_400_000;
const order = (periodDays = 30) => ({ periodDays, idempotencyKey: null });

describe('a renewal', () => {
  test('adds the period to the end date and writes row, feed and event together', async () => {
    const buyer = await aBuyer(t.app, 50_000);
    const id = await aStoredSubscription(t.app, buyer.userId, { tariff_id: await aTariff(t.app, { name: 'Gold' }) });
    const before = (await readSubscription(t.app, buyer))!.endDate;
    const after = new Date(before.getTime() + 30 * DAY).toISOString();
    expect(await renewSubscription(t.app, buyer, order())).toEqual({
      message: 'The subscription has been renewed. Charged: 300 ₽',
      subscriptionId: id,
      newEndDate: new Date(after),
      amountPaidKopeks: 30_000,
      balanceKopeks: 20_000,
    });
    const feed = await rowOf<object>(t.app, 'SELECT * FROM subscription_events WHERE user_id = $1::int', [buyer.userId]);
    expect(feed).toMatchObject({
      eventType: 'renewal',
      subscriptionId: id,
      amountKopeks: 30_000,
      extra: {
        extended_days: 30,
        previous_end_date: before.toISOString(),
        new_end_date: after,
        payment_method: 'balance',
        balance_after: 20_000,
      },
    });
    const events = await recordedEvents(t.app, 'subscription.renewed', buyer.userId);
    expect(events).toEqual([{ new_expires_at: after, amount_kopeks: 30_000, amount_rubles: 300 }]);
    const push = await rowOf<object>(
      t.app,
      'SELECT provision_version, provision_reset_traffic FROM subscriptions WHERE id = $1::int',
      [id],
    );
    expect(push).toEqual({ provisionVersion: 1, provisionResetTraffic: false });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('of a trial clears the flag and writes one conversion row (spec 02 H8)', async () => {
    const buyer = await aBuyer(t.app, 50_000);
    const now = t.clock.now().getTime();
    await aStoredSubscription(t.app, buyer.userId, {
      is_trial: true,
      start_date: new Date(now - DAY),
      end_date: new Date(now + 2 * DAY),
      tariff_id: await aTariff(t.app),
    });
    await renewSubscription(t.app, buyer, order());
    expect(await readSubscription(t.app, buyer)).toMatchObject({ isTrial: false, daysLeft: 30 });
    const rows = await t.app.db.sql<object>(
      'SELECT trial_duration_days, first_paid_period_days FROM subscription_conversions WHERE user_id = $1::int',
      [buyer.userId],
    );
    expect(rows).toEqual([{ trialDurationDays: 1, firstPaidPeriodDays: 30 }]);
  });

  test.each([
    [1.9, 1],
    [0.5, 0],
    [12.25, 12],
  ])('spec 10 X16: of a trial of %d days ago counts %d days', async (ago, trialDurationDays) => {
    const buyer = await aBuyer(t.app, 50_000);
    const start_date = new Date(t.clock.now().getTime() - ago * DAY);
    await aStoredSubscription(t.app, buyer.userId, { is_trial: true, start_date, tariff_id: await aTariff(t.app) });
    await renewSubscription(t.app, buyer, order());
    const sql = 'SELECT trial_duration_days FROM subscription_conversions WHERE user_id = $1::int';
    expect(await rowOf(t.app, sql, [buyer.userId])).toEqual({ trialDurationDays });
  });

  test('of an expired one starts now and turns it active', async () => {
    const buyer = await aBuyer(t.app, 50_000);
    const end = new Date(t.clock.now().getTime() - 5 * DAY);
    await aStoredSubscription(t.app, buyer.userId, { status: 'expired', end_date: end, tariff_id: await aTariff(t.app) });
    await renewSubscription(t.app, buyer, order());
    expect(await readSubscription(t.app, buyer)).toMatchObject({ status: 'active', daysLeft: 30 });
  });

  test('of a classic one is priced by parts and sums up what each server has cost (spec 02 H20)', async () => {
    const server = await aServer(t.app, { price_kopeks: 2_000 });
    const buyer = await aBuyer(t.app, 500_000);
    const id = await aStoredSubscription(t.app, buyer.userId, { connected_squads: [server.uuid] });
    const [option] = await listRenewalOptions(t.app, buyer);
    for (const _round of [1, 2]) {
      expect(await renewSubscription(t.app, buyer, order())).toMatchObject({ amountPaidKopeks: option!.priceKopeks });
    }
    expect(option!.priceKopeks).toBe(99_000 + 15_000 + 2_000);
    const rows = await t.app.db.sql<object>(
      'SELECT server_squad_id, paid_price_kopeks FROM subscription_servers WHERE subscription_id = $1::int',
      [id],
    );
    expect(rows).toEqual([{ serverSquadId: server.id, paidPriceKopeks: 4_000 }]);
  });

  test('uses the personal offer up and says so', async () => {
    const buyer = await aBuyer(t.app, 50_000);
    await aStoredSubscription(t.app, buyer.userId, { tariff_id: await aTariff(t.app) });
    await anOffer(t.app, buyer.userId, 50);
    expect((await listRenewalOptions(t.app, buyer))[0]).toMatchObject({
      priceKopeks: 15_000,
      originalPriceKopeks: 30_000,
      discountPercent: 50,
    });
    expect(await renewSubscription(t.app, buyer, order())).toMatchObject({
      amountPaidKopeks: 15_000,
      promoDiscountPercent: 50,
      promoDiscountAmountKopeks: 15_000,
      originalPriceKopeks: 30_000,
    });
    expect((await listRenewalOptions(t.app, buyer))[0]).toMatchObject({ priceKopeks: 30_000 });
  });

  test('spec 10 X11: the original price of the answer is that before group and offer', async () => {
    const buyer = await aBuyer(t.app, 50_000);
    await aStoredSubscription(t.app, buyer.userId, { tariff_id: await aTariff(t.app) });
    await aMembership(t.app, buyer.userId, { period_discounts: { 30: 10 } });
    await anOffer(t.app, buyer.userId, 20);
    expect(await renewSubscription(t.app, buyer, order())).toMatchObject({
      amountPaidKopeks: 21_600,
      promoDiscountAmountKopeks: 5_400,
      originalPriceKopeks: 30_000,
    });
  });
});

describe('a refused renewal', () => {
  test('spec 10 X21: of a base that the group makes free while nothing else costs', async () => {
    const buyer = await aBuyer(t.app, 50_000);
    const id = await aStoredSubscription(t.app, buyer.userId, { tariff_id: await aTariff(t.app) });
    await aMembership(t.app, buyer.userId, { period_discounts: { 30: 100, 90: 99 } });
    expect(await listRenewalOptions(t.app, buyer)).toMatchObject([{ periodDays: 90, priceKopeks: 800 }]);
    await expect(renewSubscription(t.app, buyer, order())).rejects.toMatchObject({
      status: 400,
      detail: 'Invalid renewal period',
    });
    expect(await rowOf(t.app, 'SELECT id, balance_kopeks FROM users WHERE id = $1::int', [buyer.userId])).toMatchObject({
      balanceKopeks: 50_000,
    });
    // A first purchase of the same tariff stays possible.
    await t.app.db.sql('DELETE FROM subscriptions WHERE id = $1::int RETURNING id', [id]);
    const free = { tariffId: await aTariff(t.app), periodDays: 30, trafficGb: null, idempotencyKey: null };
    expect(await purchaseTariff(t.app, buyer, free)).toMatchObject({ chargedAmount: 0 });
  });

  test('for lack of money is 402 and saves an `extend` order', async () => {
    const buyer = await aBuyer(t.app, 29_999);
    const tariffId = await aTariff(t.app);
    const id = await aStoredSubscription(t.app, buyer.userId, { tariff_id: tariffId });
    await expect(renewSubscription(t.app, buyer, order())).rejects.toMatchObject({
      status: 402,
      detail: { code: 'insufficient_funds', missing_amount: 1, cart_saved: true, cart_mode: 'extend' },
    });
    expect(await readCart(t.app, buyer.userId)).toMatchObject({
      cart_mode: 'extend',
      subscription_id: id,
      tariff_id: tariffId,
      period_days: 30,
      total_price: 30_000,
      consume_promo_offer: false,
    });
    t.clock.advance(t.app.settings.get('CART_TTL_SECONDS') * 1_000);
    expect(await readCart(t.app, buyer.userId)).toBeNull();
  });

  test('without a subscription, with a period not on offer, or by a restricted user', async () => {
    const buyer = await aBuyer(t.app, 50_000);
    expect(await listRenewalOptions(t.app, buyer)).toEqual([]);
    await expect(renewSubscription(t.app, buyer, order())).rejects.toMatchObject({
      status: 404,
      detail: 'No subscription found',
    });
    await aStoredSubscription(t.app, buyer.userId, { tariff_id: await aTariff(t.app) });
    await expect(renewSubscription(t.app, buyer, order(31))).rejects.toMatchObject({
      status: 400,
      detail: 'Selected renewal period is not available',
    });
    await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [buyer.userId]);
    await expect(renewSubscription(t.app, buyer, order())).rejects.toMatchObject({
      status: 403,
      detail: 'Subscription renewal is restricted for this account',
    });
  });

  test('of a period that has no price is refused, not given away (spec 02 H1)', async () => {
    const environment = { AVAILABLE_RENEWAL_PERIODS: '7,30', PRICE_TRAFFIC_UNLIMITED: '0' };
    const other = await testApp({ environment });
    const buyer = await aBuyer(t.app, 50_000);
    await aStoredSubscription(t.app, buyer.userId, { traffic_limit_gb: 0 });
    await expect(renewSubscription(other.app, buyer, order(7))).rejects.toMatchObject({
      status: 400,
      detail: 'Invalid renewal period',
    });
  });
});

test('one key renews once', async () => {
  const buyer = await aBuyer(t.app, 90_000);
  await aStoredSubscription(t.app, buyer.userId, { tariff_id: await aTariff(t.app) });
  const first = await renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: 'again' });
  expect(await renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: 'again' })).toEqual(first);
  expect((await readSubscription(t.app, buyer))!.daysLeft).toBe(40);
});
