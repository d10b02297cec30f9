import { beforeAll, describe, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { previewTariffSwitch, switchTariff } from '../../../src/domain/subscriptions/switch-tariff.ts';
import { aBuyer, aMembership, anOffer, aServer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { readCart } from '../../support/saved-cart.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const DAY = 86_400_000;
const inDays = (days: number) => new Date(t.clock.now().getTime() + days * DAY);
const order = (tariffId: number) => ({ tariffId, periodDays: 30, trafficGb: null });
const preview = (buyer: UserActor, tariffId: number) => previewTariffSwitch(t.app, buyer, order(tariffId));
const change = (buyer: UserActor, tariffId: number, key: string | null = null) =>
  switchTariff(t.app, buyer, { ...order(tariffId), idempotencyKey: key });

/** A buyer with 10 days left on a tariff of 300 roubles a month. */
async function aHolder(
  balanceKopeks: number,
  tariff: Record<string, unknown> = {},
  columns: Record<string, unknown> = {},
): Promise<{ buyer: UserActor; id: number; tariffId: number }> {
  const buyer = await aBuyer(t.app, balanceKopeks);
  const tariffId = await aTariff(t.app, { name: 'Old', period_prices: { 30: 30_000 }, ...tariff });
  const id = await aStoredSubscription(t.app, buyer.userId, { tariff_id: tariffId, ...columns });
  return { buyer, id, tariffId };
}

const dear = (columns: Record<string, unknown> = {}) =>
  aTariff(t.app, { name: 'New', period_prices: { 30: 60_000 }, traffic_limit_gb: 500, device_limit: 3, ...columns });
const daily = (columns: Record<string, unknown> = {}) =>
  aTariff(t.app, { name: 'Daily', period_prices: {}, is_daily: true, daily_price_kopeks: 2_000, ...columns });

const subscriptionOf = (buyer: UserActor) =>
  rowOf<Record<string, unknown>>(t.app, 'SELECT * FROM subscriptions WHERE user_id = $1::int', [buyer.userId]);

describe('a switch', () => {
  test('writes money, limits, servers, feed and push together, and keeps the end date', async () => {
    const server = await aServer(t.app);
    const { buyer, id } = await aHolder(15_000, {}, { device_limit: 6, traffic_used_gb: 7, purchased_traffic_gb: 20 });
    await storeRow(t.app, 'TrafficPurchase', { subscriptionId: id, trafficGb: 20, expiresAt: inDays(5) });
    const nextId = await dear({ allowed_squads: [server.uuid] });
    expect(await preview(buyer, nextId)).toMatchObject({
      canSwitch: true,
      currentTariffName: 'Old',
      newTariffId: nextId,
      newTariffName: 'New',
      remainingDays: 10,
      upgradeCostKopeks: 10_000,
      upgradeCostLabel: '100 ₽',
      balanceKopeks: 15_000,
      hasEnoughBalance: true,
      missingAmountKopeks: 0,
      isUpgrade: true,
    });
    expect(await change(buyer, nextId)).toMatchObject({
      success: true,
      oldTariffName: 'Old',
      newTariffId: nextId,
      newTariffName: 'New',
      chargedKopeks: 10_000,
      balanceKopeks: 5_000,
      balanceLabel: '50 ₽',
      subscription: {
        id,
        endDate: inDays(10),
        trafficLimitGb: 500,
        trafficUsedGb: 0,
        trafficPurchases: [],
        deviceLimit: 3,
        connectedSquads: [server.uuid],
        tariffId: nextId,
      },
    });
    const row = await rowOf<object>(
      t.app,
      `SELECT s.provision_reset_traffic, s.provision_reset_devices, s.purchased_traffic_gb, u.has_had_paid_subscription,
         (SELECT count(*)::int FROM traffic_purchases p WHERE p.subscription_id = s.id) AS purchases,
         (SELECT count(*)::int FROM jobs.job j WHERE j.name = 'provisioning.push' AND j.data ->> 'subscriptionId' = s.id::text) AS pushes,
         (SELECT description FROM transactions x WHERE x.user_id = u.id AND type = 'subscription_payment') AS description,
         (SELECT extra FROM subscription_events e WHERE e.user_id = u.id) AS extra
       FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.id = $1::int`,
      [id],
    );
    expect(row).toEqual({
      provisionResetTraffic: true,
      provisionResetDevices: true,
      purchasedTrafficGb: 0,
      hasHadPaidSubscription: true,
      purchases: 0,
      pushes: 1,
      description: 'Switch from the plan “Old” to “New”',
      extra: { purchase_type: 'tariff_switch', period_days: 10, was_trial_conversion: false, payment_method: 'balance' },
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('to a cheaper tariff is free and leaves a row of 0, while the offer waits for a charge', async () => {
    const { buyer } = await aHolder(0, { period_prices: { 30: 90_000 } });
    await anOffer(t.app, buyer.userId, 20);
    const nextId = await dear();
    expect(await preview(buyer, nextId)).toMatchObject({
      canSwitch: true,
      upgradeCostKopeks: 0,
      upgradeCostLabel: 'Free',
      isUpgrade: false,
    });
    expect(await change(buyer, nextId)).toMatchObject({ chargedKopeks: 0, balanceKopeks: 0 });
    const row = await rowOf<object>(
      t.app,
      `SELECT u.has_had_paid_subscription, u.promo_offer_discount_percent, x.amount_kopeks
       FROM users u JOIN transactions x ON x.user_id = u.id WHERE u.id = $1::int`,
      [buyer.userId],
    );
    expect(row).toEqual({ hasHadPaidSubscription: false, promoOfferDiscountPercent: 20, amountKopeks: 0 });
  });

  test('takes group and offer off, and uses the offer up', async () => {
    const { buyer } = await aHolder(100_000);
    await aMembership(t.app, buyer.userId, { period_discounts: { 30: 10 } });
    await anOffer(t.app, buyer.userId, 5);
    const nextId = await dear();
    const discount = { discountPercent: 15, discountKopeks: 1_450 };
    expect(await preview(buyer, nextId)).toMatchObject({
      upgradeCostKopeks: 8_550,
      baseUpgradeCostKopeks: 10_000,
      ...discount,
    });
    expect(await change(buyer, nextId)).toMatchObject({ chargedKopeks: 8_550, baseChargedKopeks: 10_000, ...discount });
    const user = await rowOf<object>(t.app, 'SELECT promo_offer_discount_percent FROM users WHERE id = $1::int', [buyer.userId]);
    expect(user).toEqual({ promoOfferDiscountPercent: 0 });
  });

  test('one key charges once and answers alike', async () => {
    const { buyer } = await aHolder(100_000);
    const nextId = await dear();
    const first = await change(buyer, nextId, 'switch once');
    expect(await change(buyer, nextId, 'switch once')).toEqual(first);
    await expect(change(buyer, await dear(), 'switch once')).rejects.toMatchObject({ status: 422 });
  });

  test('gives all available servers for a tariff that names none, never none (spec 02 H9)', async () => {
    const server = await aServer(t.app);
    const { buyer } = await aHolder(100_000, {}, { connected_squads: ['old'] });
    const answer = await change(buyer, await dear());
    expect(answer.subscription.connectedSquads).toContain(server.uuid);
  });
});

describe('daily tariffs (spec 02 H10)', () => {
  test('periodic to daily pays the first day and keeps the time left', async () => {
    const { buyer } = await aHolder(2_000);
    expect(await change(buyer, await daily())).toMatchObject({
      chargedKopeks: 2_000,
      subscription: { endDate: inDays(11), isDaily: true, isDailyPaused: false },
    });
    expect((await subscriptionOf(buyer)).lastDailyChargeAt).toEqual(t.clock.now());
  });

  test('daily to daily is free and moves neither the end nor the last charge: no endless free service', async () => {
    const charged = new Date(t.clock.now().getTime() - 10 * 3_600_000);
    const { buyer } = await aHolder(
      0,
      { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} },
      { end_date: inDays(0.5), last_daily_charge_at: charged },
    );
    const before = await subscriptionOf(buyer);
    for (const _ of [1, 2, 3]) expect(await change(buyer, await daily())).toMatchObject({ chargedKopeks: 0 });
    expect(await subscriptionOf(buyer)).toMatchObject({
      endDate: before.endDate,
      lastDailyChargeAt: charged,
    });
  });

  test('daily to periodic pays the shortest period, and without a listed one it is refused, not given away (spec 02 H1)', async () => {
    const current = { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} };
    const { buyer } = await aHolder(60_000, current, { end_date: inDays(0.5), last_daily_charge_at: inDays(-0.5) });
    const unpriced = await dear({ period_prices: {} });
    await expect(preview(buyer, unpriced)).rejects.toMatchObject({ status: 400, detail: { code: 'period_unavailable' } });
    await expect(change(buyer, unpriced)).rejects.toMatchObject({ status: 400, detail: { code: 'period_unavailable' } });
    expect(await change(buyer, await dear())).toMatchObject({
      chargedKopeks: 60_000,
      subscription: { endDate: inDays(30.5), isDaily: false },
    });
    expect((await subscriptionOf(buyer)).lastDailyChargeAt).toBeNull();
  });

  test('one without a price is refused', async () => {
    const { buyer } = await aHolder(60_000);
    const refusal = { status: 400, detail: 'Daily tariff has invalid price' };
    await expect(change(buyer, await daily({ daily_price_kopeks: 0 }))).rejects.toMatchObject(refusal);
  });
});

describe('trials (spec 02 H8)', () => {
  test('a paid switch makes a trial paid and writes one conversion', async () => {
    const { buyer } = await aHolder(
      100_000,
      {},
      { is_trial: true, status: 'trial', start_date: inDays(-2), end_date: inDays(1) },
    );
    expect(await change(buyer, await dear())).toMatchObject({ subscription: { isTrial: false, status: 'active' } });
    const conversions = await t.app.db.sql(
      'SELECT trial_duration_days, first_payment_amount_kopeks FROM subscription_conversions WHERE user_id = $1::int',
      [buyer.userId],
    );
    expect(conversions).toEqual([{ trialDurationDays: 2, firstPaymentAmountKopeks: 1_000 }]);
  });

  test('a free one leaves it a trial', async () => {
    const { buyer } = await aHolder(0, { period_prices: { 30: 90_000 } }, { is_trial: true, status: 'trial' });
    expect(await change(buyer, await dear())).toMatchObject({ subscription: { isTrial: true, status: 'trial' } });
    const converted = 'SELECT count(*)::int AS count FROM subscription_conversions WHERE user_id = $1::int';
    expect(await rowOf(t.app, converted, [buyer.userId])).toEqual({ count: 0 });
  });
});

describe('refusals', () => {
  test('the last hours of a cheap tariff do not pay for an expensive one (spec 02 H30)', async () => {
    const { buyer } = await aHolder(100_000, {}, { end_date: inDays(0.1) });
    expect(await change(buyer, await dear())).toMatchObject({ chargedKopeks: 1_000 });
  });

  test('with insufficient funds nothing changes and no cart is stored', async () => {
    const { buyer, tariffId } = await aHolder(9_999);
    const nextId = await dear();
    expect(await preview(buyer, nextId)).toMatchObject({
      canSwitch: false,
      hasEnoughBalance: false,
      missingAmountKopeks: 1,
    });
    await expect(change(buyer, nextId)).rejects.toMatchObject({
      status: 402,
      detail: { code: 'insufficient_funds', missing_amount: 1 },
    });
    expect(await subscriptionOf(buyer)).toMatchObject({ tariffId, deviceLimit: 1 });
    expect(await readCart(t.app, buyer.userId)).toBeNull();
  });

  test.each([
    ['no subscription', null, {}, 400, 'No active subscription with tariff'],
    ['a classic one', { tariff_id: null }, {}, 400, 'No active subscription with tariff'],
    ['an ended one', { end_date: new Date(0) }, {}, 400, { code: 'subscription_expired', use_purchase_flow: true }],
    ['a disabled one', { status: 'disabled' }, {}, 400, { code: 'subscription_not_active' }],
    ['a pending one', { status: 'pending' }, {}, 400, { code: 'subscription_not_active' }],
    ['an inactive tariff', {}, { is_active: false }, 404, 'Tariff not found or inactive'],
  ])('%s', async (_name, columns, tariff, status, detail) => {
    const buyer = await aBuyer(t.app, 100_000);
    if (columns) await aStoredSubscription(t.app, buyer.userId, { tariff_id: await aTariff(t.app), ...columns });
    const nextId = await dear(tariff);
    const refusal = { status, detail: typeof detail === 'string' ? detail : expect.objectContaining(detail) };
    await expect(preview(buyer, nextId)).rejects.toMatchObject(refusal);
    await expect(change(buyer, nextId)).rejects.toMatchObject(refusal);
  });

  test('the same tariff, an unknown one, one of another group, a restricted user', async () => {
    const { buyer, tariffId } = await aHolder(100_000);
    await expect(change(buyer, tariffId)).rejects.toMatchObject({ status: 400, detail: 'Already on this tariff' });
    for (const id of [0, -1, 2_147_000_000, 2 ** 53]) {
      await expect(change(buyer, id)).rejects.toMatchObject({ status: 404, detail: 'Tariff not found or inactive' });
    }
    const closedId = await dear();
    const groupId = await aMembership(t.app, (await aBuyer(t.app)).userId, {});
    await storeRow(t.app, 'TariffPromoGroup', { tariffId: closedId, promoGroupId: groupId });
    await expect(preview(buyer, closedId)).rejects.toMatchObject({
      status: 403,
      detail: 'Tariff not available for your promo group',
    });
    await expect(change(buyer, closedId)).rejects.toMatchObject({ status: 403, detail: 'Tariff not available' });
    await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [buyer.userId]);
    await expect(change(buyer, await dear())).rejects.toMatchObject({ status: 403 });
  });

  test('classic mode', async () => {
    const classic = await testApp({ environment: { SALES_MODE: 'classic' }, clock: t.clock });
    const { buyer } = await aHolder(100_000);
    const nextId = await dear();
    await expect(previewTariffSwitch(classic.app, buyer, order(nextId))).rejects.toMatchObject({
      status: 400,
      detail: 'Tariffs mode is not enabled',
    });
  });
});
