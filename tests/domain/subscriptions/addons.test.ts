import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { changeMiniappTraffic, readMiniappSettings } from '../../../src/domain/subscriptions/miniapp/settings.ts';
import { purchaseDevices, readDevicePrice } from '../../../src/domain/subscriptions/purchase-devices.ts';
import { purchaseTraffic } from '../../../src/domain/subscriptions/purchase-traffic.ts';
import { saveDevicesCart, saveTrafficCart } from '../../../src/domain/subscriptions/save-cart.ts';
import { switchTraffic } from '../../../src/domain/subscriptions/switch-traffic.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { aBuyer, aMembership, aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { readCart } from '../../support/saved-cart.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let classic: App;
beforeAll(async () => {
  t = await testApp();
  classic = (await testApp({ environment: { SALES_MODE: 'classic' }, clock: t.clock })).app;
});

const inDays = (days: number) => new Date(t.clock.now().getTime() + days * 86_400_000);
const traffic = (app: App, buyer: UserActor, gb: number, key: string | null = null) =>
  purchaseTraffic(app, buyer, { gb, idempotencyKey: key });
const devices = (buyer: UserActor, count: number) => purchaseDevices(t.app, buyer, { devices: count, idempotencyKey: null });
const change = (app: App, buyer: UserActor, gb: number) => switchTraffic(app, buyer, { gb, idempotencyKey: null });

async function holder(balance: number, tariff: Record<string, unknown> | null, columns: Record<string, unknown> = {}) {
  const buyer = await aBuyer(t.app, balance);
  const tariff_id = tariff === null ? null : await aTariff(t.app, tariff);
  const id = await aStoredSubscription(t.app, buyer.userId, { tariff_id, ...columns });
  return { buyer, id };
}

const topups = {
  traffic_topup_enabled: true,
  traffic_topup_packages: { 10: 5_000, 50: 20_000, 70: 0 },
  max_topup_traffic_gb: 160,
};
const stateOf = (buyer: UserActor) =>
  rowOf<Record<string, unknown>>(
    t.app,
    `SELECT s.status, s.traffic_limit_gb, s.purchased_traffic_gb, s.device_limit, s.provision_version, u.balance_kopeks,
       u.has_had_paid_subscription AS paid, (SELECT count(*)::int FROM traffic_purchases p WHERE p.subscription_id = s.id) AS purchases,
       (SELECT count(*)::int FROM subscription_events e WHERE e.user_id = u.id) AS feed
     FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE u.id = $1::int`,
    [buyer.userId],
  );
describe('traffic packages', () => {
  test('add to limit and purchases, reactivate, update the panel and notify the owner, at a flat price on a tariff', async () => {
    const { buyer } = await holder(10_000, topups, { status: 'limited', end_date: inDays(45) });
    await aMembership(t.app, buyer.userId, { traffic_discount_percent: 20 });
    const first = await traffic(t.app, buyer, 10, 'ten');
    expect(first).toMatchObject({
      gbAdded: 10,
      newTrafficLimitGb: 110,
      amountPaidKopeks: 4_000,
      newBalanceKopeks: 6_000,
      discountPercent: 20,
      discountKopeks: 1_000,
      basePriceKopeks: 5_000,
    });
    expect(await traffic(t.app, buyer, 10, 'ten')).toEqual(first);
    expect(await stateOf(buyer)).toEqual({
      status: 'active',
      trafficLimitGb: 110,
      purchasedTrafficGb: 10,
      deviceLimit: 1,
      provisionVersion: 1,
      balanceKopeks: 6_000,
      paid: false,
      purchases: 1,
      feed: 0,
    });
    expect(await recordedEvents(t.app, 'subscription.traffic_purchased', buyer.userId)).toEqual([
      { traffic_gb_added: 10, new_traffic_limit_gb: 110, amount_kopeks: 4_000, amount_rubles: 40 },
    ]);
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('classic ones are prorated, and the unlimited one makes the limit unlimited (spec 02 H25)', async () => {
    const { buyer } = await holder(100_000, null, { end_date: inDays(45) });
    expect(await traffic(classic, buyer, 5)).toMatchObject({ amountPaidKopeks: 3_000, newTrafficLimitGb: 105 });
    expect(await traffic(classic, buyer, 0)).toMatchObject({ amountPaidKopeks: 30_000, newTrafficLimitGb: 0 });
    expect(await stateOf(buyer)).toMatchObject({ trafficLimitGb: 0, purchasedTrafficGb: 0, purchases: 0 });
    await expect(traffic(classic, buyer, 5)).rejects.toMatchObject({ status: 400 });
  });

  test.each([
    ['off', { traffic_topup_enabled: false }, {}, 10, 'Traffic top-up is disabled for this tariff'],
    ['an unlimited tariff', { ...topups, traffic_limit_gb: 0 }, {}, 10, 'Cannot add traffic to unlimited subscription'],
    ['an unlimited subscription', topups, { traffic_limit_gb: 0 }, 10, 'Cannot add traffic to unlimited subscription'],
    ['beyond the cap', topups, {}, 70, 'Traffic limit exceeded. Max: 160 GB, available: 60 GB'],
    ['no such package', topups, {}, 11, 'Traffic package 11GB is not available'],
    ['0 GB', topups, {}, 0, 'Traffic package 0GB is not available'],
    ['no price', { ...topups, max_topup_traffic_gb: 0 }, {}, 70, 'Traffic package 70GB has no price configured'],
    ['a trial', topups, { is_trial: true }, 10, 'Not available during the trial'],
    ['an ended one', topups, { end_date: new Date(0) }, 10, 'The subscription is not active'],
  ])('are refused: %s', async (_name, tariff, columns, gb, detail) => {
    const { buyer } = await holder(100_000, tariff, columns);
    await expect(traffic(t.app, buyer, gb)).rejects.toMatchObject({ status: 400, detail });
    expect(await stateOf(buyer)).toMatchObject({ balanceKopeks: 100_000, purchases: 0 });
  });

  test('insufficient funds save the order, and a purchase of traffic ends that cart and no other', async () => {
    const { buyer, id } = await holder(0, topups);
    await expect(traffic(t.app, buyer, 10)).rejects.toMatchObject({
      status: 402,
      detail: { code: 'insufficient_funds', missing_amount: 5_000, cart_saved: true, cart_mode: 'add_traffic' },
    });
    expect(await readCart(t.app, buyer.userId)).toMatchObject({
      cart_mode: 'add_traffic',
      subscription_id: id,
      traffic_gb: 10,
      price_kopeks: 5_000,
      total_price: 5_000,
    });
    await topUp(t.app, buyer.userId, 50_000);
    await traffic(t.app, buyer, 10);
    expect(await readCart(t.app, buyer.userId)).toBeNull();
    await saveDevicesCart(t.app, buyer, 2);
    await traffic(t.app, buyer, 10);
    expect(await readCart(t.app, buyer.userId)).toMatchObject({ cart_mode: 'add_devices', devices_to_add: 2 });
    await saveTrafficCart(t.app, buyer, 10);
    expect(await readCart(t.app, buyer.userId)).toMatchObject({ cart_mode: 'add_traffic', missing_amount: 0 });
  });

  test('restricted users and users without subscription', async () => {
    const nobody = await aBuyer(t.app);
    await expect(traffic(t.app, nobody, 10)).rejects.toMatchObject({ status: 404, detail: 'No subscription found' });
    await expect(saveTrafficCart(t.app, nobody, 10)).rejects.toMatchObject({ status: 400 });
    await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [nobody.userId]);
    await expect(traffic(t.app, nobody, 10)).rejects.toMatchObject({ status: 403 });
  });
});

describe('another traffic package (spec 02 H4)', () => {
  test('a more expensive one costs the prorated difference, a cheaper one nothing', async () => {
    const { buyer, id } = await holder(100_000, null, { end_date: inDays(45), traffic_limit_gb: 110, purchased_traffic_gb: 10 });
    await storeRow(t.app, 'TrafficPurchase', { subscriptionId: id, trafficGb: 10, expiresAt: inDays(10) });
    // 110 GB is no package: the 100 GB that were paid for count, not nothing.
    expect(await change(classic, buyer, 250)).toMatchObject({ oldTrafficGb: 110, newTrafficGb: 250, chargedKopeks: 3_000 });
    expect(await stateOf(buyer)).toMatchObject({ trafficLimitGb: 250, purchasedTrafficGb: 0, purchases: 0 });
    expect(await change(classic, buyer, 5)).toMatchObject({ chargedKopeks: 0, balanceKopeks: 97_000 });
    await expect(change(classic, buyer, 5)).rejects.toMatchObject({ detail: 'Already on this traffic package' });
    await expect(change(classic, buyer, 6)).rejects.toMatchObject({ detail: 'Invalid traffic package' });
  });

  test('is refused for tariffs, trials, restricted users and insufficient funds', async () => {
    const { buyer: onTariff } = await holder(100_000, {});
    await expect(change(classic, onTariff, 250)).rejects.toMatchObject({ status: 400 });
    const { buyer: onTrial } = await holder(100_000, null, { is_trial: true });
    await expect(change(classic, onTrial, 250)).rejects.toMatchObject({ status: 403 });
    const { buyer: poor } = await holder(1, null);
    await expect(change(classic, poor, 250)).rejects.toMatchObject({
      status: 402,
      detail: 'Insufficient balance. Need 20.00 RUB',
    });
    await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [poor.userId]);
    await expect(change(classic, poor, 250)).rejects.toMatchObject({ status: 403 });
  });
});

describe('spec 10 X3: one limit for all', () => {
  const inMode = async (mode: string) =>
    (await testApp({ environment: { SALES_MODE: 'classic', TRAFFIC_SELECTION_MODE: mode }, clock: t.clock })).app;
  const inMiniapp = (app: App, buyer: UserActor) =>
    changeMiniappTraffic(app, buyer, 250, { subscriptionId: null, idempotencyKey: null });
  const options = async (app: App, buyer: UserActor) => (await readMiniappSettings(app, buyer, null)).traffic;

  test.each(['fixed', 'fixed_with_topup'])('is no reason to refuse another package in the cabinet: %s', async (mode) => {
    const { buyer } = await holder(100_000, null);
    expect(await change(await inMode(mode), buyer, 250)).toMatchObject({ newTrafficGb: 250 });
  });

  test('packages may be changed in the mini-app with fixed_with_topup, and are listed', async () => {
    const [app, { buyer }] = [await inMode('fixed_with_topup'), await holder(100_000, null)];
    const listed = await options(app, buyer);
    expect(listed.canUpdate).toBe(true);
    expect(listed.options.find(({ isCurrent }) => isCurrent)).toMatchObject({ value: 100 });
    expect(listed.options.map(({ value }) => value)).toContain(250);
    await inMiniapp(app, buyer);
    expect(await stateOf(buyer)).toMatchObject({ trafficLimitGb: 250 });
  });

  test('fixed refuses it there and lists none', async () => {
    const [app, { buyer }] = [await inMode('fixed'), await holder(100_000, null)];
    expect(await options(app, buyer)).toEqual({ canUpdate: false, options: [] });
    await expect(inMiniapp(app, buyer)).rejects.toMatchObject({ status: 403, code: 'traffic_fixed' });
    expect(await stateOf(buyer)).toMatchObject({ trafficLimitGb: 100, balanceKopeks: 100_000 });
  });
});

describe('another traffic package in the mini-app (spec 10 X1)', () => {
  const inMiniapp = (buyer: UserActor, gb: number | null) =>
    changeMiniappTraffic(classic, buyer, gb, { subscriptionId: null, idempotencyKey: 'once' });
  // Monthly prices: 10 GB 35, 25 GB 70, 100 GB 150, 250 GB 170 rubles.
  test.each([
    ['one day where less is left', { traffic_limit_gb: 10 }, 0.5, 0, 250, 450],
    ['the whole days left', { traffic_limit_gb: 10 }, 1.5, 0, 25, 116],
    ['the difference after the discount', { traffic_limit_gb: 10 }, 45, 50, 25, 2_625],
    ['at least one ruble', { traffic_limit_gb: 10 }, 0.5, 90, 25, 100],
    ['a cheaper package', { traffic_limit_gb: 250 }, 45, 0, 100, 0],
    ['a limit that is no package counts as the next greater one', { traffic_limit_gb: 12 }, 30, 0, 100, 8_000],
    ['bought traffic is no part of the package', { traffic_limit_gb: 15, purchased_traffic_gb: 5 }, 30, 0, 25, 3_500],
    ['the whole package for a trial too', { traffic_limit_gb: 10, is_trial: true }, 30, 0, 25, 3_500],
  ])('%s', async (_name, columns, days, discount, gb, charged) => {
    const { buyer, id } = await holder(100_000, null, { ...columns, end_date: inDays(days) });
    if (discount > 0) await aMembership(t.app, buyer.userId, { traffic_discount_percent: discount });
    const bought = 'purchased_traffic_gb' in columns ? (columns.purchased_traffic_gb ?? 0) : 0;
    if (bought > 0) {
      await storeRow(t.app, 'TrafficPurchase', { subscriptionId: id, trafficGb: bought, expiresAt: inDays(10) });
    }
    await inMiniapp(buyer, gb);
    expect(await stateOf(buyer)).toMatchObject({
      balanceKopeks: 100_000 - charged,
      trafficLimitGb: gb + bought,
      purchasedTrafficGb: bought,
      purchases: bought > 0 ? 1 : 0,
    });
  });
});

describe('devices (spec 02 H28)', () => {
  test('the documented vectors', async () => {
    const price = async (unit: number, count: number, days: number) => {
      const { buyer } = await holder(1_000_000, { device_price_kopeks: unit }, { end_date: inDays(days) });
      return (await devices(buyer, count)).priceKopeks;
    };
    expect(await price(5_000, 2, 17)).toBe(5_666);
    expect(await price(5_000, 1, 1)).toBe(166);
    expect(await price(100, 1, 5)).toBe(100);
  });

  test('raise the limit within the cap, update the panel and notify the owner', async () => {
    const { buyer } = await holder(100_000, { device_price_kopeks: 3_000, max_device_limit: 3 });
    expect(await readDevicePrice(t.app, buyer, 3)).toEqual({
      available: false,
      reason: 'You can add at most 2',
      currentDeviceLimit: 1,
      maxDeviceLimit: 3,
      canAdd: 2,
    });
    expect(await devices(buyer, 2)).toMatchObject({ devicesAdded: 2, newDeviceLimit: 3, priceKopeks: 2_000 });
    expect(await stateOf(buyer)).toMatchObject({ deviceLimit: 3, provisionVersion: 1, balanceKopeks: 98_000, paid: false });
    expect(await recordedEvents(t.app, 'subscription.devices_purchased', buyer.userId)).toEqual([
      { devices_added: 2, new_device_limit: 3, amount_kopeks: 2_000, amount_rubles: 20 },
    ]);
    await expect(devices(buyer, 1)).rejects.toMatchObject({ status: 400, detail: 'Maximum number of devices: 3' });
    expect(await readDevicePrice(t.app, buyer, 1)).toMatchObject({
      reason: 'The maximum number of devices (3) has been reached',
    });
  });

  test('are refused without a price, a live subscription or the money', async () => {
    const { buyer: off } = await holder(100_000, { device_price_kopeks: 0 });
    await expect(devices(off, 1)).rejects.toMatchObject({ status: 400, detail: 'Buying devices is not available' });
    const { buyer: ended } = await holder(100_000, {}, { end_date: new Date(0) });
    await expect(devices(ended, 1)).rejects.toMatchObject({ status: 400, detail: 'The subscription is not active' });
    expect(await readDevicePrice(t.app, ended, 1)).toEqual({ available: false, reason: 'There is no active subscription' });
    const nobody = await aBuyer(t.app);
    await expect(devices(nobody, 1)).rejects.toMatchObject({ status: 400, detail: 'You have no subscription' });
    await expect(purchaseDevices(t.app, nobody, { devices: 1, idempotencyKey: null }, 404)).rejects.toMatchObject({
      status: 404,
    });
    const { buyer: poor } = await holder(66, { device_price_kopeks: 500 });
    await expect(devices(poor, 1)).rejects.toMatchObject({
      status: 402,
      detail: {
        code: 'insufficient_funds',
        error: 'Insufficient balance',
        required_kopeks: 166,
        current_kopeks: 66,
        missing_kopeks: 100,
        cart_saved: true,
      },
    });
    expect(await readCart(t.app, poor.userId)).toMatchObject({ cart_mode: 'add_devices', devices_to_add: 1, total_price: 166 });
  });

  test('the price shown is the price charged, for any tariff, group and time left (spec 02 H5)', async () => {
    const percent = fc.integer({ min: 0, max: 100 });
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          device_price_kopeks: fc.option(fc.integer({ min: 1, max: 50_000 })),
          device_limit: fc.integer({ min: 1, max: 4 }),
        }),
        fc.record({ device_discount_percent: percent, apply_discounts_to_addons: fc.boolean() }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 500_000 }),
        async (tariff, group, count, minutes) => {
          const columns = { end_date: new Date(t.clock.now().getTime() + minutes * 60_000) };
          const { buyer } = await holder(10_000_000, tariff, columns);
          await aMembership(t.app, buyer.userId, group);
          const shown = await readDevicePrice(t.app, buyer, count);
          expect(await devices(buyer, count)).toMatchObject({ priceKopeks: shown.available && shown.totalPriceKopeks });
        },
      ),
      { numRuns: 25 },
    );
    expect(await checkLedger(t.app)).toEqual([]);
  });
});
