import { beforeAll, describe, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { put } from '../../../src/core/short-lived.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { escapeHtml } from '../../../src/domain/messaging/texts.ts';
import { purchaseDevices } from '../../../src/domain/subscriptions/purchase-devices.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { renewSubscription } from '../../../src/domain/subscriptions/renew-subscription.ts';
import { cartKey } from '../../../src/domain/subscriptions/saved-cart.ts';
import { spendTopup } from '../../../src/domain/subscriptions/spend-topup.ts';
import { recordedTypesOf } from '../../support/recorded-events.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { readCart } from '../../support/saved-cart.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

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
    `SELECT u.balance_kopeks AS balance, s.status, s.end_date, s.tariff_id,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'subscription_payment') AS payments,
       (SELECT coalesce(json_agg(j.data ->> 'html' ORDER BY length(j.data ->> 'html')), '[]') FROM jobs.job j WHERE j.name = 'messenger.send'
         AND j.data ->> 'messengerId' = u.messenger_id::text) AS messages
     FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
    [buyer.userId],
  );

/** Saves the order of a tariff that lacks the money. */
async function order(buyer: UserActor, tariffId: number) {
  const wanted = { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null };
  await expect(purchaseTariff(t.app, buyer, wanted)).rejects.toMatchObject({ status: 402 });
}

/** A buyer whose tariff order waits for 300 roubles. */
async function waiting() {
  const buyer = await aBuyer(t.app, 5_000);
  await order(buyer, await aTariff(t.app));
  return buyer;
}

/** A payment for a subscription of so long ago, of 1 rouble. */
async function paid(buyer: UserActor, msAgo: number) {
  await postMovement(t.app, {
    userId: buyer.userId,
    type: 'subscription_payment',
    amountKopeks: -100,
    paymentMethod: 'balance',
    description: 'earlier',
    contra: { kind: 'sales_revenue', product: 'tariff' },
    createdAt: new Date(t.clock.now().getTime() - msAgo),
  });
}

const MINUTE = 60_000;

test('the saved order is bought once, however many top-ups are concurrent, when the setting is on', async () => {
  const buyer = await waiting();
  await topUp(t.app, buyer.userId, 90_000);
  await Promise.all(Array.from({ length: 10 }, () => spendTopup(buying, buyer.userId)));
  expect(await stateOf(buyer)).toMatchObject({ balance: 65_000, status: 'active', endDate: inDays(30), payments: 1 });
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

test('under the message about an order stand the ways back: of the mini-app, else of the menu in the chat', async () => {
  const withMiniApp = (await testApp({ environment: { MINIAPP_CUSTOM_URL: 'https://app.example.com/' }, clock: t.clock })).app;
  const texts = ['↩️ Back to the order', '💰 Balance', '🏠 Menu'];
  const site = 'https://app.example.com';
  for (const [app, name, targets] of [
    [t.app, 'callbackData', ['return_to_saved_cart', 'menu_balance', 'back_to_menu']],
    [withMiniApp, 'webAppUrl', [`${site}/subscription`, `${site}/balance`, site]],
  ] as const) {
    const buyer = await waiting();
    await spendTopup(app, buyer.userId);
    const sent = `SELECT data -> 'buttons' AS buttons FROM jobs.job WHERE name = 'messenger.send'
      AND data ->> 'messengerId' = (SELECT messenger_id::text FROM users WHERE id = $1::int)`;
    const buttons = texts.map((label, index) => [{ text: label, [name]: targets[index] }]);
    expect(await rowOf(t.app, sent, [buyer.userId])).toEqual({ buttons });
  }
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

test('an order for a renewal is renewed, but one that can be carried out no more is dropped, and its owner hears it', async () => {
  const buyers: UserActor[] = [];
  for (const change of [
    '',
    "UPDATE subscriptions SET status = 'disabled' WHERE user_id = $1::int",
    'UPDATE users SET restriction_subscription = true WHERE id = $1::int',
    `UPDATE short_lived_entries SET value = value || '{"subscription_id": 0}' WHERE key = 'user_cart:' || $1::int`,
    `UPDATE tariffs SET period_prices = '{"14": 20000}' WHERE id = (SELECT tariff_id FROM subscriptions WHERE user_id = $1::int)`,
  ]) {
    const buyer = await aBuyer(t.app);
    await aStoredSubscription(t.app, buyer.userId, { tariff_id: await aTariff(t.app) });
    await expect(renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: null })).rejects.toMatchObject({
      status: 402,
    });
    if (change) await t.app.db.sql(change, [buyer.userId]);
    await topUp(t.app, buyer.userId, 30_000);
    await spendTopup(buying, buyer.userId);
    expect(await readCart(t.app, buyer.userId)).toBeNull();
    buyers.push(buyer);
  }
  expect(await stateOf(buyers[0]!)).toMatchObject({ balance: 0, endDate: inDays(40), payments: 1 });
  const messages = [expect.stringMatching(/could not be carried out.*Renewal.*300 ₽/s)];
  for (const buyer of buyers.slice(1)) expect(await stateOf(buyer)).toMatchObject({ balance: 30_000, payments: 0, messages });
});

test('without an order, what ended within 30 days is renewed where autopay is on, and only then (spec 02 H12)', async () => {
  const tariffId = await aTariff(t.app);
  const ended = async (columns: Record<string, unknown>) => {
    const buyer = await aBuyer(t.app, 30_000);
    const base = { tariff_id: tariffId, status: 'expired', end_date: inDays(-20), autopay_enabled: true };
    await aStoredSubscription(t.app, buyer.userId, { ...base, ...columns });
    await spendTopup(t.app, buyer.userId);
    return stateOf(buyer);
  };
  const renewed = { balance: 0, status: 'active', endDate: inDays(30) };
  expect(await ended({})).toMatchObject(renewed);
  // The panel has just reported that it ended; there is no next round for a top-up.
  expect(await ended({ last_webhook_update_at: t.clock.now() })).toMatchObject(renewed);
  for (const columns of [
    { autopay_enabled: false },
    { is_trial: true },
    { end_date: inDays(-31) },
    { status: 'active', end_date: inDays(2) },
  ])
    expect(await ended(columns)).toMatchObject({ balance: 30_000, payments: 0 });
});

describe('a payment within a minute prevents buying the same again (spec 03 section 2.2)', () => {
  /** Spends a top-up of 900 roubles after a payment of so long ago. */
  async function spentAfter(msAgo: number, prepare: (buyer: UserActor) => Promise<unknown>) {
    const buyer = await aBuyer(t.app);
    await prepare(buyer);
    await topUp(t.app, buyer.userId, 90_100);
    await paid(buyer, msAgo);
    await spendTopup(buying, buyer.userId);
    return { buyer, ...(await stateOf(buyer)) };
  }

  const ended = async (buyer: UserActor, columns: Record<string, unknown> = {}) => {
    const base = { tariff_id: await aTariff(t.app), status: 'expired', end_date: inDays(-5), autopay_enabled: true };
    return aStoredSubscription(t.app, buyer.userId, { ...base, ...columns });
  };
  const daily = (columns: Record<string, unknown> = {}) =>
    aTariff(t.app, { is_daily: true, daily_price_kopeks: 30_000, period_prices: {}, ...columns });

  test.each<[string, (buyer: UserActor) => Promise<unknown>]>([
    ['the order of a tariff', async (buyer) => order(buyer, await aTariff(t.app))],
    ['the order of a daily tariff', async (buyer) => order(buyer, await daily())],
    [
      'the order of a renewal',
      async (buyer) => {
        await ended(buyer, { autopay_enabled: false });
        await expect(renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: null })).rejects.toMatchObject({
          status: 402,
        });
      },
    ],
  ])('%s stays saved, its owner hears that it waits, and the next top-up buys it', async (_order, prepare) => {
    const { buyer, ...state } = await spentAfter(MINUTE - 1, prepare);
    expect(state).toMatchObject({ balance: 90_000, payments: 1, messages: [expect.stringContaining('covers the saved order')] });
    await spendTopup({ ...buying, clock: { now: () => new Date(t.clock.now().getTime() + 1) } }, buyer.userId);
    expect(await stateOf(buyer)).toMatchObject({ balance: 60_000, status: 'active', payments: 2 });
    expect(await spentAfter(MINUTE, prepare)).toMatchObject({ balance: 60_000, payments: 2 });
  });

  test.each([
    [
      'a daily subscription that ran out',
      async (buyer: UserActor) => ended(buyer, { tariff_id: await daily(), end_date: inDays(-0.5) }),
    ],
    ['what ended while autopay was on', ended],
  ])('%s', async (_what, prepare) => {
    expect(await spentAfter(MINUTE - 1, prepare)).toMatchObject({ balance: 90_000, status: 'expired', payments: 1 });
    expect(await spentAfter(MINUTE, prepare)).toMatchObject({ balance: 60_000, status: 'active', payments: 2 });
  });

  test('an order of devices is no second time of anything', async () => {
    const tariffId = await aTariff(t.app, { device_price_kopeks: 30_000, max_device_limit: 5 });
    const state = await spentAfter(1, async (buyer) => {
      await aStoredSubscription(t.app, buyer.userId, { tariff_id: tariffId, end_date: inDays(30) });
      await expect(purchaseDevices(t.app, buyer, { devices: 1, idempotencyKey: null })).rejects.toMatchObject({ status: 402 });
    });
    expect(state).toMatchObject({ balance: 60_000, payments: 2 });
  });
});

test('a temporary failure leaves the order, and the next run buys it and nothing else', async () => {
  const buyer = await aBuyer(t.app);
  const [old, wanted] = [await aTariff(t.app), await aTariff(t.app)];
  const columns = { tariff_id: old, status: 'expired', end_date: inDays(-5), autopay_enabled: true };
  await aStoredSubscription(t.app, buyer.userId, columns);
  await order(buyer, wanted);
  await topUp(t.app, buyer.userId, 30_000);
  const refused = () => expect(spendTopup(buying, buyer.userId)).rejects.toThrow('refused row of transactions');
  await whileRefused(t.app, 'transactions', refused, `NEW.user_id = ${buyer.userId} AND NEW.type = 'subscription_payment'`);
  expect(await readCart(t.app, buyer.userId)).toMatchObject({ cart_mode: 'tariff_purchase', tariff_id: wanted });
  await spendTopup(buying, buyer.userId);
  expect(await stateOf(buyer)).toMatchObject({ balance: 0, status: 'active', tariffId: wanted, payments: 1 });
});

test('an order that its owner replaces while it is refused is left alone', async () => {
  const buyer = await waiting();
  await topUp(t.app, buyer.userId, 90_000);
  await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int', [buyer.userId]);
  const other = { ...(await readCart(t.app, buyer.userId))!, description: 'another order' };
  let runs = 0;
  const begin = buying.db.begin!;
  const replacing = async <T>(work: (...tools: never[]) => Promise<T>) => {
    // Between the sale's transaction and the one that settles its refusal.
    if (++runs === 2) await put(t.app, cartKey(buyer.userId), other, 600);
    return begin(work as Parameters<typeof begin>[0]);
  };
  await spendTopup({ ...buying, db: { ...buying.db, begin: replacing as typeof begin } }, buyer.userId);
  expect(runs).toBe(2);
  expect(await readCart(t.app, buyer.userId)).toEqual(other);
});

describe('the owner of an order that was bought by itself', () => {
  /** A subscription that ends in ten days, and the order for its renewal. */
  async function renewal(buyer: UserActor) {
    await aStoredSubscription(t.app, buyer.userId, { tariff_id: await aTariff(t.app) });
    await expect(renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: null })).rejects.toMatchObject({
      status: 402,
    });
  }
  const tariff = async (buyer: UserActor) => order(buyer, await aTariff(t.app));

  test.each([
    ['a tariff', tariff],
    ['a renewal', renewal],
  ])('hears of %s in the messenger', async (_what, prepare) => {
    const buyer = await aBuyer(t.app);
    await prepare(buyer);
    const { description } = (await readCart(t.app, buyer.userId))!;
    await topUp(t.app, buyer.userId, 42_000);
    await spendTopup(buying, buyer.userId);
    const { messages } = await stateOf(buyer);
    expect(messages).toEqual([expect.stringMatching(/bought.*300 ₽.*120 ₽/s)]);
    expect(messages).toEqual([expect.stringContaining(escapeHtml(description))]);
  });

  test.each([
    ['a tariff, in the mail of its sale', tariff, 'subscription_activated'],
    ['a renewal', renewal, 'order_bought'],
  ])('hears of %s by one mail without a messenger', async (_what, prepare, mail) => {
    const buyer = await aBuyer(t.app);
    const email = `bought${buyer.userId}@example.com`;
    await t.app.db.sql('UPDATE users SET messenger_id = NULL, email = $2, email_verified = true WHERE id = $1::int', [
      buyer.userId,
      email,
    ]);
    await prepare(buyer);
    await topUp(t.app, buyer.userId, 30_000);
    await spendTopup(buying, buyer.userId);
    const mails = await t.app.db.sql('SELECT template FROM outgoing_mails WHERE recipient = $1', [email]);
    expect(mails).toEqual([{ template: mail }]);
    expect(await recordedTypesOf(t.app, buyer.userId, { prefix: 'notification.' })).toEqual([`notification.${mail}`]);
  });
});
