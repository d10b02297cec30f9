import { beforeAll, expect, test } from 'vitest';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { activateTrial } from '../../src/domain/subscriptions/activate-trial.ts';
import { togglePause } from '../../src/domain/subscriptions/daily.ts';
import { insufficientFundsForTrial } from '../../src/domain/subscriptions/purchase/insufficient-funds.ts';
import { purchaseDevices } from '../../src/domain/subscriptions/purchase-devices.ts';
import { purchaseTraffic } from '../../src/domain/subscriptions/purchase-traffic.ts';
import { settled } from '../support/parallel.ts';
import { aBuyer, aServer, aStoredSubscription, aTariff, rowOf } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp({ environment: { TRIAL_PAYMENT_ENABLED: 'true', TRIAL_ACTIVATION_PRICE: '1000' } });
});

const reasonsOf = (results: PromiseSettledResult<unknown>[]) =>
  results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
const stateOf = (userId: number) =>
  rowOf<Record<string, unknown>>(
    t.app,
    `SELECT u.balance_kopeks AS balance, s.device_limit AS devices, s.traffic_limit_gb AS traffic, s.purchased_traffic_gb AS purchased,
       (SELECT count(*)::int FROM traffic_purchases p WHERE p.subscription_id = s.id) AS purchases,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'subscription_payment') AS payments
     FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
    [userId],
  );

test('20 device purchases at once never pass the maximum and never overdraw (spec 02 H7)', async () => {
  const buyer = await aBuyer(t.app, 1_000_000);
  const tariff_id = await aTariff(t.app, { device_price_kopeks: 3_000, max_device_limit: 5 });
  await aStoredSubscription(t.app, buyer.userId, { tariff_id });
  const results = await settled(20, () => purchaseDevices(t.app, buyer, { devices: 1, idempotencyKey: null }));
  expect(reasonsOf(results)).toEqual(Array(16).fill('devices_limit_exceeded'));
  expect(await stateOf(buyer.userId)).toMatchObject({ devices: 5, payments: 4, balance: 1_000_000 - 4 * 1_000 });
  expect(await checkLedger(t.app)).toEqual([]);
});

test('20 traffic packages at once with money for three: three are sold and counted', async () => {
  const buyer = await aBuyer(t.app, 15_999);
  const tariff_id = await aTariff(t.app, { traffic_topup_enabled: true, traffic_topup_packages: { 10: 5_000 } });
  await aStoredSubscription(t.app, buyer.userId, { tariff_id });
  const results = await settled(20, () => purchaseTraffic(t.app, buyer, { gb: 10, idempotencyKey: null }));
  expect(reasonsOf(results)).toEqual(Array(17).fill('insufficient_funds'));
  expect(await stateOf(buyer.userId)).toMatchObject({ balance: 999, traffic: 130, purchased: 30, purchases: 3, payments: 3 });
  expect(await checkLedger(t.app)).toEqual([]);
});

test('20 paid trials at once: one fee, one subscription', async () => {
  await aServer(t.app, { is_trial_eligible: true });
  const buyer = await aBuyer(t.app, 1_000_000);
  const results = await settled(20, () => activateTrial(t.app, buyer, null, insufficientFundsForTrial));
  expect(reasonsOf(results)).toEqual(Array(19).fill('subscription_exists'));
  expect(await stateOf(buyer.userId)).toMatchObject({ balance: 999_000, payments: 1 });
  expect(await checkLedger(t.app)).toEqual([]);
});

test('20 resumes with one key at once charge one day', async () => {
  const buyer = await aBuyer(t.app, 1_000_000);
  const tariff_id = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 2_000, period_prices: {} });
  await aStoredSubscription(t.app, buyer.userId, { tariff_id, status: 'disabled', end_date: new Date(0) });
  const results = await settled(20, () => togglePause(t.app, buyer, 'one resume'));
  expect(reasonsOf(results)).toEqual([]);
  expect(await stateOf(buyer.userId)).toMatchObject({ balance: 998_000, payments: 1 });
});
