import { beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { renewDue } from '../../src/domain/subscriptions/autopay/renew-due.ts';
import { runDailyService } from '../../src/domain/subscriptions/daily.ts';
import { lockSaleStart } from '../../src/domain/subscriptions/purchase/repo.ts';
import { remindOwners } from '../../src/domain/subscriptions/reminders/remind-owners.ts';
import { renewInTransaction, renewSubscription } from '../../src/domain/subscriptions/renew-subscription.ts';
import { spendTopup } from '../../src/domain/subscriptions/spend-topup.ts';
import { someoneWaitsForALock } from '../support/lock-wait.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf, topUp } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

const DAY = 86_400_000;
const ago = (ms: number) => new Date(t.clock.now().getTime() - ms);
const together = (run: () => Promise<unknown>) => Promise.all(Array.from({ length: 20 }, run));
const paymentsOf = (userId: number) =>
  rowOf<{ balance: number; payments: number }>(
    t.app,
    `SELECT balance_kopeks AS balance, (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id
       AND x.type = 'subscription_payment') AS payments FROM users u WHERE id = $1::int`,
    [userId],
  );

test('20 instances charge a day once, and take bought traffic off the limit once', async () => {
  const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
  const buyer = await aBuyer(t.app, 50_000);
  const id = await aStoredSubscription(t.app, buyer.userId, {
    tariff_id: tariffId,
    end_date: ago(1_000),
    last_daily_charge_at: ago(2 * DAY),
    traffic_limit_gb: 150,
    purchased_traffic_gb: 50,
  });
  await storeRow(t.app, 'TrafficPurchase', { subscriptionId: id, trafficGb: 50, expiresAt: ago(1_000), createdAt: new Date() });
  await together(() => runDailyService(t.app));
  expect(await paymentsOf(buyer.userId)).toEqual({ balance: 49_000, payments: 1 });
  expect(await rowOf(t.app, 'SELECT traffic_limit_gb FROM subscriptions WHERE id = $1::int', [id])).toEqual({
    trafficLimitGb: 100,
  });
  expect(await checkLedger(t.app)).toEqual([]);
});

test('a top-up and the daily service resume a stopped subscription once', async () => {
  const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} });
  const buyer = await aBuyer(t.app);
  await aStoredSubscription(t.app, buyer.userId, { tariff_id: tariffId, end_date: ago(1_000) });
  await runDailyService(t.app);
  await topUp(t.app, buyer.userId, 5_000);
  await Promise.all([together(() => spendTopup(t.app, buyer.userId)), together(() => runDailyService(t.app))]);
  expect(await paymentsOf(buyer.userId)).toEqual({ balance: 4_000, payments: 1 });
});

test('20 instances renew by autopay once, and report insufficient funds once (spec 06 section 17, hazard 8)', async () => {
  const tariffId = await aTariff(t.app);
  const columns = { tariff_id: tariffId, autopay_enabled: true, end_date: new Date(t.clock.now().getTime() + DAY) };
  const [rich, poor] = [await aBuyer(t.app, 90_000), await aBuyer(t.app)];
  for (const buyer of [rich, poor]) await aStoredSubscription(t.app, buyer.userId, columns);
  await together(() => renewDue(t.app));
  expect(await paymentsOf(rich.userId)).toEqual({ balance: 60_000, payments: 1 });
  const failures =
    "SELECT count(*)::int AS count FROM subscription_events WHERE user_id = $1::int AND event_type = 'autopay_failed'";
  expect(await rowOf(t.app, failures, [poor.userId])).toEqual({ count: 1 });
  expect(await checkLedger(t.app)).toEqual([]);
});

test('20 instances remind an owner once', async () => {
  const buyer = await aBuyer(t.app);
  await aStoredSubscription(t.app, buyer.userId, { end_date: new Date(t.clock.now().getTime() + DAY / 2) });
  const reminded = await Promise.all(Array.from({ length: 20 }, () => remindOwners(t.app)));
  const messages = `SELECT count(*)::int AS count FROM jobs.job j JOIN users u ON j.data ->> 'messengerId' = u.messenger_id::text
    WHERE j.name = 'messenger.send' AND u.id = $1::int`;
  expect(await rowOf(t.app, messages, [buyer.userId])).toEqual({ count: 1 });
  expect(reminded.some((count) => count > 0)).toBe(true);
});

/** A buyer with an ended subscription, autopay, a saved renewal, and a balance of three times its price. */
async function aSavedRenewal() {
  const buyer = await aBuyer(t.app);
  const columns = { tariff_id: await aTariff(t.app), status: 'expired', end_date: ago(5 * DAY), autopay_enabled: true };
  await aStoredSubscription(t.app, buyer.userId, columns);
  const order = { periodDays: 30, idempotencyKey: null };
  await expect(renewSubscription(t.app, buyer, order)).rejects.toMatchObject({ status: 402 });
  await topUp(t.app, buyer.userId, 90_000);
  return buyer;
}

test('20 top-ups carry a saved order out once, and none continues with autopay', async () => {
  const { app } = await testApp({ environment: { AUTO_PURCHASE_AFTER_TOPUP_ENABLED: 'true' }, clock: t.clock });
  const buyer = await aSavedRenewal();
  await together(() => spendTopup(app, buyer.userId));
  expect(await paymentsOf(buyer.userId)).toEqual({ balance: 60_000, payments: 1 });
});

test('a top-up that waits for the owner, who buys the saved order at the same time, does not buy it again', async () => {
  const { app } = await testApp({ environment: { AUTO_PURCHASE_AFTER_TOPUP_ENABLED: 'true' }, clock: t.clock });
  const buyer = await aSavedRenewal();
  const [locked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const owner = inTransaction(t.app, async (tx) => {
    await lockSaleStart(tx.db, buyer.userId);
    locked.resolve();
    await goOn.promise;
    await renewInTransaction(tx, buyer.userId, { kind: 'renewal', periodDays: 30 });
  });
  await locked.promise;
  const job = spendTopup(app, buyer.userId);
  await someoneWaitsForALock(t.app);
  goOn.resolve();
  await Promise.all([owner, job]);
  expect(await paymentsOf(buyer.userId)).toEqual({ balance: 60_000, payments: 1 });
});
