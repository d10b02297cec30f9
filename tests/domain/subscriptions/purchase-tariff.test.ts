import { beforeAll, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { readSubscription } from '../../../src/domain/subscriptions/read-subscription.ts';
import { recordedEvents, recordedEventsOf, recordedTypesOf } from '../../support/recorded-events.ts';
import { aBuyer, aMembership, anOffer, aServer, aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { readCart } from '../../support/saved-cart.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const order = (tariffId: number, periodDays = 30) => ({ tariffId, periodDays, trafficGb: null, idempotencyKey: null });
const DAY = 86_400_000;

describe('a first purchase', () => {
  test('writes money, subscription, servers, flags, feed, event and push together', async () => {
    const server = await aServer(t.app);
    const tariffId = await aTariff(t.app, { name: 'Gold', allowed_squads: [server.uuid], traffic_limit_gb: 50, device_limit: 3 });
    const buyer = await aBuyer(t.app, 40_000);
    const answer = await purchaseTariff(t.app, buyer, order(tariffId));
    const end = new Date(t.clock.now().getTime() + 30 * DAY);
    expect(answer).toMatchObject({
      success: true,
      tariffId: tariffId,
      tariffName: 'Gold',
      chargedAmount: 30_000,
      chargedLabel: '300 ₽',
      balanceKopeks: 10_000,
      subscription: {
        status: 'active',
        isTrial: false,
        endDate: end,
        daysLeft: 30,
        trafficLimitGb: 50,
        deviceLimit: 3,
        connectedSquads: [server.uuid],
        servers: [{ uuid: server.uuid, name: server.uuid, countryCode: null }],
        tariffName: 'Gold',
      },
    });
    const row = await rowOf<Record<string, unknown>>(
      t.app,
      `SELECT u.balance_kopeks, u.has_had_paid_subscription, s.provision_state, s.provision_version, s.provision_reset_traffic,
         (SELECT count(*)::int FROM subscription_servers v WHERE v.subscription_id = s.id) AS servers,
         (SELECT count(*)::int FROM jobs.job j WHERE j.name = 'provisioning.push' AND j.data ->> 'subscriptionId' = s.id::text) AS pushes
       FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
      [buyer.userId],
    );
    expect(row).toMatchObject({
      balanceKopeks: 10_000,
      hasHadPaidSubscription: true,
      provisionState: 'pending',
      provisionVersion: 1,
      provisionResetTraffic: true,
      servers: 1,
      pushes: 1,
    });
    const events = await recordedEventsOf(t.app, buyer.userId);
    expect(events.filter(({ type }) => !type.startsWith('payment.'))).toMatchObject([
      { type: 'transaction.created', payload: { amount_kopeks: 30_000 }, audience: 'feed' },
      { type: 'balance.change', payload: { amount_kopeks: -30_000, new_balance_kopeks: 10_000 }, audience: 'user' },
      { type: 'subscription.activated', payload: { expires_at: end.toISOString(), tariff_name: 'Gold' }, audience: 'user' },
    ]);
    const feed = await rowOf<object>(t.app, 'SELECT * FROM subscription_events WHERE user_id = $1::int', [buyer.userId]);
    expect(feed).toMatchObject({
      eventType: 'purchase',
      amountKopeks: 30_000,
      currency: 'RUB',
      extra: { period_days: 30, was_trial_conversion: false, payment_method: 'balance' },
    });
    const transaction = await rowOf<object>(
      t.app,
      `SELECT * FROM transactions WHERE user_id = $1::int AND type = 'subscription_payment'`,
      [buyer.userId],
    );
    expect(transaction).toMatchObject({ amountKopeks: -30_000, paymentMethod: 'balance', description: 'Plan “Gold”, 1 month' });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('of a tariff without servers gives every available one', async () => {
    const [available, off] = [await aServer(t.app), await aServer(t.app, { is_available: false })];
    const buyer = await aBuyer(t.app, 30_000);
    await purchaseTariff(t.app, buyer, order(await aTariff(t.app)));
    const view = await readSubscription(t.app, buyer);
    expect(view!.connectedSquads).toContain(available.uuid);
    expect(view!.connectedSquads).not.toContain(off.uuid);
  });

  test('by an e-mail account is notified by mail and on its sockets', async () => {
    const tariffId = await aTariff(t.app, { name: 'Mail' });
    const buyer = await aBuyer(t.app, 30_000);
    const email = `buyer${buyer.userId}@example.com`;
    await t.app.db.sql(
      'UPDATE users SET messenger_id = NULL, email = $2, email_verified = true WHERE id = $1::int RETURNING id',
      [buyer.userId, email],
    );
    await purchaseTariff(t.app, buyer, order(tariffId));
    const mail = await rowOf<{ template: string }>(t.app, 'SELECT template, subject FROM outgoing_mails WHERE recipient = $1', [
      email,
    ]);
    expect(mail.template).toBe('subscription_activated');
    const [notice] = await recordedEvents(t.app, 'notification.subscription_activated', buyer.userId);
    expect(notice).toMatchObject({ tariff_name: 'Mail', expires_at: expect.stringMatching(/^\d\d\.\d\d\.\d{4}$/) });
  });
});

describe('a later purchase', () => {
  test('of the same tariff keeps the days left and the bought devices, and tells of a renewal', async () => {
    const tariffId = await aTariff(t.app, { device_limit: 1, device_price_kopeks: 5_000 });
    const buyer = await aBuyer(t.app, 100_000);
    await purchaseTariff(t.app, buyer, order(tariffId));
    await t.app.db.sql('UPDATE subscriptions SET device_limit = 3 WHERE user_id = $1::int RETURNING id', [buyer.userId]);
    const answer = await purchaseTariff(t.app, buyer, order(tariffId));
    expect(answer).toMatchObject({ chargedAmount: 40_000, subscription: { daysLeft: 60, deviceLimit: 3 } });
    const types = await recordedTypesOf(t.app, buyer.userId, { audience: 'user' });
    expect(types.filter((type) => type !== 'payment.received')).toEqual([
      'balance.change',
      'subscription.activated',
      'balance.change',
      'subscription.renewed',
    ]);
  });

  test('turns a trial into a paid subscription with one conversion row (spec 02 H8)', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app, 30_000);
    const now = t.clock.now().getTime();
    await aStoredSubscription(t.app, buyer.userId, {
      is_trial: true,
      start_date: new Date(now - DAY),
      end_date: new Date(now + 2 * DAY),
    });
    expect(await purchaseTariff(t.app, buyer, order(tariffId))).toMatchObject({
      subscription: { isTrial: false, daysLeft: 30 },
    });
    const rows = await t.app.db.sql<object>('SELECT * FROM subscription_conversions WHERE user_id = $1::int', [buyer.userId]);
    expect(rows).toMatchObject([
      { trialDurationDays: 1, paymentMethod: 'balance', firstPaymentAmountKopeks: 30_000, firstPaidPeriodDays: 30 },
    ]);
    const feed = await rowOf<{ extra: object }>(t.app, 'SELECT extra FROM subscription_events WHERE user_id = $1::int', [
      buyer.userId,
    ]);
    expect(feed.extra).toMatchObject({ was_trial_conversion: true });
  });

  test('forgets purchases and notices of another tariff, and servers that are no longer connected', async () => {
    const [old, next] = [await aServer(t.app), await aServer(t.app)];
    const [first, second] = [
      await aTariff(t.app, { allowed_squads: [old.uuid] }),
      await aTariff(t.app, { allowed_squads: [next.uuid] }),
    ];
    const buyer = await aBuyer(t.app, 60_000);
    await purchaseTariff(t.app, buyer, order(first));
    const { id } = await rowOf<{ id: number }>(t.app, 'SELECT id FROM subscriptions WHERE user_id = $1::int', [buyer.userId]);
    const later = new Date(t.clock.now().getTime() + DAY);
    await storeRow(t.app, 'TrafficPurchase', { subscriptionId: id, trafficGb: 5, expiresAt: later });
    await storeRow(t.app, 'SentNotification', { userId: buyer.userId, subscriptionId: id, notificationType: 'expiring' });
    const answer = await purchaseTariff(t.app, buyer, order(second));
    expect(answer).toMatchObject({ subscription: { trafficPurchases: [], connectedSquads: [next.uuid], daysLeft: 60 } });
    const counts = await rowOf<object>(
      t.app,
      `SELECT (SELECT count(*)::int FROM traffic_purchases WHERE subscription_id = $1::int) AS purchases,
         (SELECT count(*)::int FROM sent_notifications WHERE subscription_id = $1::int) AS notices,
         (SELECT json_agg(server_squad_id) FROM subscription_servers WHERE subscription_id = $1::int) AS servers`,
      [id],
    );
    expect(counts).toEqual({ purchases: 0, notices: 0, servers: [next.id] });
  });

  test('of a daily tariff buys one day, unpaused and stamped', async () => {
    const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
    const buyer = await aBuyer(t.app, 1_000);
    const answer = await purchaseTariff(t.app, buyer, order(tariffId, 90));
    expect(answer).toMatchObject({
      chargedAmount: 1_000,
      subscription: { isDaily: true, isDailyPaused: false, daysLeft: 1 },
    });
    const row = await rowOf<{ lastDailyChargeAt: Date }>(
      t.app,
      'SELECT last_daily_charge_at FROM subscriptions WHERE user_id = $1::int',
      [buyer.userId],
    );
    expect(row.lastDailyChargeAt).toEqual(t.clock.now());
  });
});

describe('a refused purchase', () => {
  const untouched = async (userId: number, balance: number) => {
    const row = await rowOf<object>(
      t.app,
      `SELECT balance_kopeks, promo_offer_discount_percent AS offer, (SELECT count(*)::int FROM subscriptions WHERE user_id = u.id) AS subscriptions,
         (SELECT count(*)::int FROM transactions WHERE user_id = u.id AND type = 'subscription_payment') AS payments
       FROM users u WHERE id = $1::int`,
      [userId],
    );
    expect(row).toMatchObject({ balanceKopeks: balance, subscriptions: 0, payments: 0 });
    return row;
  };

  test('for lack of money is 402, changes nothing and saves the order', async () => {
    const tariffId = await aTariff(t.app, { name: 'Dear' });
    const buyer = await aBuyer(t.app, 20_000);
    await anOffer(t.app, buyer.userId, 10);
    await expect(purchaseTariff(t.app, buyer, { ...order(tariffId), idempotencyKey: 'poor' })).rejects.toMatchObject({
      status: 402,
      detail: {
        code: 'insufficient_funds',
        message: expect.any(String),
        missing_amount: 7_000,
        cart_saved: true,
        cart_mode: 'tariff_purchase',
      },
    });
    expect(await untouched(buyer.userId, 20_000)).toMatchObject({ offer: 10 });
    expect(await readCart(t.app, buyer.userId)).toMatchObject({
      cart_mode: 'tariff_purchase',
      source: 'cabinet',
      tariff_id: tariffId,
      period_days: 30,
      total_price: 27_000,
      missing_amount: 7_000,
    });
    // The key is free again after a refusal, and the bought order takes the cart with it (spec 02 H12).
    await topUp(t.app, buyer.userId, 7_000);
    expect(await purchaseTariff(t.app, buyer, { ...order(tariffId), idempotencyKey: 'poor' })).toMatchObject({
      balanceKopeks: 0,
    });
    expect(await readCart(t.app, buyer.userId)).toBeNull();
  });

  test('of a daily tariff saves a daily order', async () => {
    const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 1_000 });
    const buyer = await aBuyer(t.app);
    await expect(purchaseTariff(t.app, buyer, order(tariffId, 1))).rejects.toMatchObject({
      detail: { cart_mode: 'daily_tariff_purchase', missing_amount: 1_000 },
    });
    expect(await readCart(t.app, buyer.userId)).toMatchObject({ is_daily: true, daily_price_kopeks: 1_000, total_price: 1_000 });
  });

  test.each([
    ['a period without a price', { periodDays: 31 }, {}, 400, 'period_unavailable'],
    ['a daily tariff without a price', { periodDays: 1 }, { is_daily: true, daily_price_kopeks: 0 }, 400, 'period_unavailable'],
    [
      'custom days out of bounds',
      { periodDays: 400 },
      { custom_days_enabled: true, price_per_day_kopeks: 10 },
      400,
      'period_unavailable',
    ],
    ['traffic when it cannot be picked', { trafficGb: 0 }, {}, 400, 'traffic_unavailable'],
    [
      'traffic out of bounds',
      { trafficGb: 0 },
      { custom_traffic_enabled: true, traffic_price_per_gb_kopeks: 10 },
      400,
      'traffic_unavailable',
    ],
  ])('for %s is 400 (spec 02 H1, H2)', async (_name, fields, columns, status, code) => {
    const buyer = await aBuyer(t.app, 500_000);
    const tariffId = await aTariff(t.app, columns);
    await expect(purchaseTariff(t.app, buyer, { ...order(tariffId), ...fields })).rejects.toMatchObject({
      status,
      detail: { code, message: expect.any(String) },
    });
    await untouched(buyer.userId, 500_000);
  });

  test('for an unknown, inactive or restricted tariff, or a restricted buyer', async () => {
    const buyer = await aBuyer(t.app, 500_000);
    const notFound = { status: 404, detail: 'Tariff not found or inactive' };
    await expect(purchaseTariff(t.app, buyer, order(2_000_000_000))).rejects.toMatchObject(notFound);
    await expect(purchaseTariff(t.app, buyer, order(2 ** 52))).rejects.toMatchObject(notFound);
    await expect(purchaseTariff(t.app, buyer, order(await aTariff(t.app, { is_active: false })))).rejects.toMatchObject(notFound);
    const restricted = await aTariff(t.app);
    const other = await aBuyer(t.app);
    const group = await aMembership(t.app, other.userId, {});
    await storeRow(t.app, 'TariffPromoGroup', { tariffId: restricted, promoGroupId: group });
    await expect(purchaseTariff(t.app, buyer, order(restricted))).rejects.toMatchObject({
      status: 403,
      detail: 'This tariff is not available for your promo group',
    });
    await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [buyer.userId]);
    await expect(purchaseTariff(t.app, buyer, order(restricted))).rejects.toMatchObject({
      status: 403,
      detail: 'Subscription purchases are restricted for this account',
    });
    await untouched(buyer.userId, 500_000);
  });

  test('in classic mode', async () => {
    const classic = await testApp({ environment: { SALES_MODE: 'classic' } });
    const buyer = await aBuyer(t.app, 30_000);
    await expect(purchaseTariff(classic.app, buyer, order(await aTariff(t.app)))).rejects.toMatchObject({
      status: 400,
      detail: 'Tariffs mode is not enabled',
    });
  });
});

describe('discounts and keys', () => {
  test('spec 10 X12: group and offer stack, their labels are sums, and the offer is used up by one purchase', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app, 100_000);
    await aMembership(t.app, buyer.userId, { name: `Friends ${buyer.userId}`, period_discounts: { 30: 10 } });
    await anOffer(t.app, buyer.userId, 20);
    expect(await purchaseTariff(t.app, buyer, order(tariffId))).toMatchObject({
      chargedAmount: 21_600,
      discountPercent: 10,
      originalPriceKopeks: 30_000,
      discountAmountKopeks: 3_000,
      discountLabel: '30 ₽',
      promoGroupName: `Friends ${buyer.userId}`,
      promoOfferDiscountPercent: 20,
      promoOfferDiscountAmountKopeks: 5_400,
      promoOfferDiscountLabel: '54 ₽',
      priceBeforePromoOfferKopeks: 27_000,
    });
    const second = await purchaseTariff(t.app, buyer, order(tariffId));
    expect(second).toMatchObject({ chargedAmount: 27_000 });
    expect(second).not.toHaveProperty('promo_offer_discount_percent');
    const user = await rowOf<object>(
      t.app,
      'SELECT promo_offer_discount_percent AS p, promo_offer_discount_source AS s, promo_offer_discount_expires_at AS e FROM users WHERE id = $1::int',
      [buyer.userId],
    );
    expect(user).toEqual({ p: 0, s: null, e: null });
  });

  test('a full discount sells for nothing, with a row of 0', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app);
    await anOffer(t.app, buyer.userId, 100);
    expect(await purchaseTariff(t.app, buyer, order(tariffId))).toMatchObject({ chargedAmount: 0, balanceKopeks: 0 });
    const row = await rowOf<object>(t.app, 'SELECT amount_kopeks FROM transactions WHERE user_id = $1::int', [buyer.userId]);
    expect(row).toEqual({ amountKopeks: 0 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a repeated key gives the first answer, and another body with it is 422', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app, 100_000);
    const first = await purchaseTariff(t.app, buyer, { ...order(tariffId), idempotencyKey: 'k' });
    t.clock.advance(1_000);
    expect(await purchaseTariff(t.app, buyer, { ...order(tariffId), idempotencyKey: 'k' })).toEqual(first);
    await expect(purchaseTariff(t.app, buyer, { ...order(tariffId, 90), idempotencyKey: 'k' })).rejects.toMatchObject({
      status: 422,
    });
    expect((await readSubscription(t.app, buyer))!.daysLeft).toBe(29);
  });
});
