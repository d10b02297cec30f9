import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import type { ClassicOptions } from '../../../src/domain/subscriptions/classic-options.ts';
import { previewClassic, purchaseClassic } from '../../../src/domain/subscriptions/purchase-classic.ts';
import { readPurchaseOptions } from '../../../src/domain/subscriptions/read-subscription.ts';
import type { ClassicSelection } from '../../../src/domain/subscriptions/rules/classic-selection.ts';
import { aBuyer, aMembership, anOffer, aServer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { readCart } from '../../support/saved-cart.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
beforeAll(async () => {
  t = await testApp({ environment: { SALES_MODE: 'classic' } });
  app = t.app;
});

const RICH = 10_000_000_000;
const inDays = (days: number) => new Date(t.clock.now().getTime() + days * 86_400_000);
const pick = (fields: Partial<ClassicSelection> = {}): ClassicSelection => ({
  periodId: null,
  periodDays: 30,
  trafficGb: 100,
  squadUuids: [],
  devices: 1,
  ...fields,
});
const buy = (buyer: UserActor, fields: Partial<ClassicSelection> = {}, idempotencyKey: string | null = null) =>
  purchaseClassic(app, buyer, { selection: pick(fields), idempotencyKey });
const preview = (buyer: UserActor, fields: Partial<ClassicSelection> = {}) => previewClassic(app, buyer, pick(fields));

test('the documented vector: 180 days with servers, traffic and devices, group and offer', async () => {
  const servers = [await aServer(app, { price_kopeks: 1_000 }), await aServer(app, { price_kopeks: 2_500 })];
  const buyer = await aBuyer(app, 500_000);
  await aMembership(app, buyer.userId, {
    period_discounts: { 180: 10 },
    server_discount_percent: 15,
    traffic_discount_percent: 5,
    device_discount_percent: 33,
  });
  await anOffer(app, buyer.userId, 20);
  const selection = { periodId: 'days:180', squadUuids: servers.map((server) => server.uuid), devices: 3 };
  expect(await preview(buyer, selection)).toMatchObject({
    totalPriceKopeks: 474_120,
    canPurchase: true,
    missingAmountKopeks: 0,
    breakdown: [
      { label: '6 months', value: '4491 ₽' },
      { label: '100 GB', value: '855 ₽' },
      { label: 'Servers', value: expect.any(String) },
      { label: '3 devices', value: '402 ₽' },
      { label: 'Personal discount', value: expect.stringMatching(/^-/) },
    ],
  });
  const bought = await buy(buyer, selection, 'vector');
  expect(bought).toMatchObject({
    success: true,
    balanceKopeks: 25_880,
    wasTrialConversion: false,
    subscription: { status: 'active', daysLeft: 180, trafficLimitGb: 100, deviceLimit: 3, tariffId: null },
  });
  expect(await buy(buyer, selection, 'vector')).toEqual(bought);
  const rows = await app.db.sql(
    `SELECT q.squad_uuid, v.paid_price_kopeks FROM subscription_servers v JOIN server_squads q ON q.id = v.server_squad_id
     JOIN subscriptions s ON s.id = v.subscription_id WHERE s.user_id = $1::int ORDER BY v.paid_price_kopeks`,
    [buyer.userId],
  );
  expect(rows).toEqual([
    { squadUuid: servers[0]!.uuid, paidPriceKopeks: 5_100 },
    { squadUuid: servers[1]!.uuid, paidPriceKopeks: 12_750 },
  ]);
  expect(await checkLedger(app)).toEqual([]);
});

test('the preview is the charge, for any selection, group and offer (spec 02 H3, H5)', async () => {
  const percent = fc.integer({ min: 0, max: 100 });
  const server = await aServer(app);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(14, 30, 60, 90, 180, 360),
      fc.constantFrom(0, 5, 10, 25, 50, 100, 250, 500, 1000),
      fc.integer({ min: 1, max: 100 }),
      fc.record({ server_discount_percent: percent, traffic_discount_percent: percent, device_discount_percent: percent }),
      percent,
      async (periodDays, trafficGb, devices, group, offer) => {
        const buyer = await aBuyer(app, RICH);
        await aMembership(app, buyer.userId, group);
        await anOffer(app, buyer.userId, offer);
        const selection = { periodDays, trafficGb, devices, squadUuids: [server.uuid] };
        const cost = (await preview(buyer, selection)).totalPriceKopeks;
        expect(await buy(buyer, selection)).toMatchObject({ balanceKopeks: RICH - cost });
      },
    ),
    { numRuns: 25 },
  );
});

test('spec 10 X12: the preview names what is saved as sums', async () => {
  const server = await aServer(app, { price_kopeks: 2_000 });
  const buyer = await aBuyer(app, 500_000);
  await aMembership(app, buyer.userId, { period_discounts: { 30: 10 }, server_discount_percent: 15 });
  await anOffer(app, buyer.userId, 50);
  // 99,000 - 9,900 and 2,000 - 300 with 15,000 for the traffic are 105,800.
  expect(await preview(buyer, { squadUuids: [server.uuid] })).toMatchObject({
    totalPriceKopeks: 52_900,
    originalPriceKopeks: 116_000,
    discountPercent: 54,
    discountLabel: 'You save 631 ₽',
    discountLines: ['Period discount: -99 ₽ (10%)', 'Servers discount: -3 ₽ (15%)', 'Personal discount: -529 ₽ (50%)'],
  });
  const other = await aBuyer(app, 500_000);
  expect(await preview(other, { squadUuids: [server.uuid] })).toMatchObject({ discountLabel: null, discountLines: [] });
});

describe('what a purchase makes of a subscription', () => {
  test('a running one is extended, its limits replaced, its tariff removed', async () => {
    const server = await aServer(app);
    const buyer = await aBuyer(app, RICH);
    const tariff_id = await aTariff(app);
    await aStoredSubscription(app, buyer.userId, { tariff_id, device_limit: 9, purchased_traffic_gb: 30, traffic_used_gb: 5 });
    const bought = await buy(buyer, { trafficGb: 250, devices: 2, squadUuids: [server.uuid, server.uuid] });
    expect(bought.subscription).toMatchObject({
      daysLeft: 40,
      trafficLimitGb: 250,
      trafficUsedGb: 0,
      deviceLimit: 2,
      connectedSquads: [server.uuid],
      tariffId: null,
    });
  });

  test('a trial becomes paid, once, and its remainder counts only by the setting (spec 02 H8)', async () => {
    await aServer(app);
    const trial = { is_trial: true, start_date: inDays(-1), end_date: inDays(2) };
    const buyer = await aBuyer(app, RICH);
    await aStoredSubscription(app, buyer.userId, trial);
    expect(await buy(buyer)).toMatchObject({ wasTrialConversion: true, subscription: { isTrial: false, daysLeft: 30 } });
    const conversions =
      'SELECT trial_duration_days, first_paid_period_days FROM subscription_conversions WHERE user_id = $1::int';
    expect(await rowOf(app, conversions, [buyer.userId])).toEqual({ trialDurationDays: 1, firstPaidPeriodDays: 30 });
    const environment = { SALES_MODE: 'classic', TRIAL_ADD_REMAINING_DAYS_TO_PAID: 'true' };
    const adding = (await testApp({ environment, clock: t.clock })).app;
    const other = await aBuyer(app, RICH);
    await aStoredSubscription(app, other.userId, trial);
    expect(await purchaseClassic(adding, other, { selection: pick(), idempotencyKey: null })).toMatchObject({
      subscription: { daysLeft: 32 },
    });
  });
});

describe('refusals', () => {
  test.each([
    ['a period not on offer', { periodDays: 31 }, 'Invalid or missing subscription period'],
    ['no period', { periodDays: null }, 'Invalid or missing subscription period'],
    ['a broken period id', { periodId: 'days:x' }, 'Invalid or missing subscription period'],
    ['traffic that is no package', { trafficGb: 7 }, 'Selected traffic option is not available'],
    ['an unknown server', { squadUuids: ['nowhere'] }, 'Some selected servers are not available'],
  ])('%s', async (_name, fields, detail) => {
    await aServer(app);
    const buyer = await aBuyer(app, RICH);
    await expect(preview(buyer, fields)).rejects.toMatchObject({ status: 400, detail });
    await expect(buy(buyer, fields)).rejects.toMatchObject({ status: 400, detail });
  });

  test('a full server is kept by who has it and not sold to others', async () => {
    const full = await aServer(app, { max_users: 1 });
    const holder = await aBuyer(app, RICH);
    expect(await buy(holder, { squadUuids: [full.uuid] })).toMatchObject({ success: true });
    const buyer = await aBuyer(app, RICH);
    await expect(buy(buyer, { squadUuids: [full.uuid] })).rejects.toMatchObject({ status: 400 });
    await aStoredSubscription(app, buyer.userId, { connected_squads: [full.uuid] });
    expect(await buy(buyer, { squadUuids: [full.uuid] })).toMatchObject({ success: true });
  });

  test('devices are kept within what the options say', async () => {
    await aServer(app);
    const buyer = await aBuyer(app, RICH);
    const options = (await readPurchaseOptions(app, buyer)) as ClassicOptions;
    const { devices } = options.periods[0]!;
    expect((await buy(buyer, { devices: 100 })).subscription).toMatchObject({ deviceLimit: devices.max });
  });

  test('lack of money keeps the order', async () => {
    await aServer(app);
    const buyer = await aBuyer(app, 1);
    await expect(buy(buyer)).rejects.toMatchObject({
      status: 402,
      detail: { code: 'insufficient_funds', cart_saved: true, cart_mode: 'subscription_purchase' },
    });
    expect(await readCart(app, buyer.userId)).toMatchObject({
      period_id: 'days:30',
      period_days: 30,
      traffic_gb: 100,
      devices: 1,
    });
    expect(await preview(buyer)).toMatchObject({ canPurchase: false, statusMessage: expect.stringContaining('missing') });
  });

  test('a restricted user buys nothing', async () => {
    await aServer(app);
    const buyer = await aBuyer(app, RICH);
    await app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [buyer.userId]);
    await expect(buy(buyer)).rejects.toMatchObject({ status: 403 });
  });

  test('tariffs mode has no classic purchase', async () => {
    const buyer = await aBuyer(app, RICH);
    const tariffs = (await testApp({ clock: t.clock })).app;
    const refusal = {
      status: 400,
      detail: 'This endpoint is not available in tariffs mode. Use /purchase-tariff instead.',
    };
    await expect(purchaseClassic(tariffs, buyer, { selection: pick(), idempotencyKey: null })).rejects.toMatchObject(refusal);
    await expect(previewClassic(tariffs, buyer, pick())).rejects.toMatchObject(refusal);
  });
});
