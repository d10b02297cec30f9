import { beforeAll, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { buyTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { renewSubscription } from '../../../src/domain/subscriptions/renew-subscription.ts';
import { readCart } from '../../../src/domain/subscriptions/saved-cart.ts';
import { spendTopup } from '../../../src/domain/subscriptions/spend-topup.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf, topUp } from './sale-samples.ts';

const DAY = 86_400_000;
let t: TestApp;
let buying: App;
beforeAll(async () => {
  t = await testApp();
  buying = (await testApp({ environment: { AUTO_PURCHASE_AFTER_TOPUP_ENABLED: 'true' }, clock: t.clock })).app;
});

const inDays = (days: number) => new Date(t.clock.now().getTime() + days * DAY);
const stateOf = (buyer: UserActor) =>
  rowOf<Record<string, unknown>>(
    t.app,
    `SELECT u.balance_kopeks AS balance, s.status, s.end_date,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'subscription_payment') AS payments,
       (SELECT coalesce(json_agg(j.data ->> 'html' ORDER BY length(j.data ->> 'html')), '[]') FROM jobs.job j WHERE j.name = 'messenger.send'
         AND j.data ->> 'messengerId' = u.messenger_id::text) AS messages
     FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
    [buyer.userId],
  );

/** A buyer whose tariff order waits for 300 roubles. */
async function waiting() {
  const buyer = await aBuyer(t.app, 5_000);
  const order = { tariffId: await aTariff(t.app), periodDays: 30, trafficGb: null, idempotencyKey: null };
  await expect(buyTariff(t.app, buyer, order)).rejects.toMatchObject({ status: 402 });
  return buyer;
}

test('the saved order is bought once, however many top-ups come at once, when the operator wants it', async () => {
  const buyer = await waiting();
  await topUp(t.app, buyer.userId, 90_000);
  await Promise.all(Array.from({ length: 10 }, () => spendTopup(buying, buyer.userId)));
  expect(await stateOf(buyer)).toMatchObject({ balance: 65_000, status: 'active', end_date: inDays(30), payments: 1 });
  expect(await readCart(t.app, buyer.userId)).toBeNull();
});

test('by default nothing is bought, and the owner hears whether the balance covers the order', async () => {
  const buyer = await waiting();
  await topUp(t.app, buyer.userId, 5_000);
  await spendTopup(t.app, buyer.userId);
  await topUp(t.app, buyer.userId, 20_000);
  await spendTopup(t.app, buyer.userId);
  const { messages, ...state } = await stateOf(buyer);
  expect(state).toMatchObject({ balance: 30_000, payments: 0 });
  expect(messages).toEqual([
    expect.stringContaining('still lacks 200 ₽'),
    expect.stringContaining('covers the saved order of 300 ₽'),
  ]);
});

test('an order that still lacks the money stays saved, at its new price', async () => {
  const buyer = await waiting();
  await t.app.db.sql('UPDATE tariffs SET period_prices = \'{"30": 40000}\' WHERE id = $1::int', [
    ((await readCart(t.app, buyer.userId)) as { tariff_id: number }).tariff_id,
  ]);
  await topUp(t.app, buyer.userId, 25_000);
  await spendTopup(buying, buyer.userId);
  expect(await stateOf(buyer)).toMatchObject({
    balance: 30_000,
    payments: 0,
    messages: [expect.stringContaining('lacks 100 ₽')],
  });
  expect(await readCart(t.app, buyer.userId)).toMatchObject({ total_price: 40_000 });
});

test('an order for a renewal is renewed; one of a disabled subscription, or that is sold no more, is dropped', async () => {
  const tariffId = await aTariff(t.app);
  const buyers: UserActor[] = [];
  for (const change of [
    '',
    "UPDATE subscriptions SET status = 'disabled' WHERE user_id = $1::int",
    'UPDATE users SET restriction_subscription = true WHERE id = $1::int',
  ]) {
    const buyer = await aBuyer(t.app);
    await aStoredSubscription(t.app, buyer.userId, { tariff_id: tariffId });
    await expect(renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: null })).rejects.toMatchObject({
      status: 402,
    });
    if (change) await t.app.db.sql(change, [buyer.userId]);
    await topUp(t.app, buyer.userId, 30_000);
    await spendTopup(buying, buyer.userId);
    expect(await readCart(t.app, buyer.userId)).toBeNull();
    buyers.push(buyer);
  }
  expect(await stateOf(buyers[0]!)).toMatchObject({ balance: 0, end_date: inDays(40), payments: 1 });
  for (const buyer of buyers.slice(1)) expect(await stateOf(buyer)).toMatchObject({ balance: 30_000, payments: 0 });
});

test('without an order, what ended within 30 days is renewed where autopay is on, and only then (H12)', async () => {
  const tariffId = await aTariff(t.app);
  const ended = async (columns: Record<string, unknown>) => {
    const buyer = await aBuyer(t.app, 30_000);
    const base = { tariff_id: tariffId, status: 'expired', end_date: inDays(-20), autopay_enabled: true };
    await aStoredSubscription(t.app, buyer.userId, { ...base, ...columns });
    await spendTopup(t.app, buyer.userId);
    return stateOf(buyer);
  };
  expect(await ended({})).toMatchObject({ balance: 0, status: 'active', end_date: inDays(30) });
  for (const columns of [
    { autopay_enabled: false },
    { is_trial: true },
    { end_date: inDays(-31) },
    { status: 'active', end_date: inDays(2) },
  ])
    expect(await ended(columns)).toMatchObject({ balance: 30_000, payments: 0 });
});
