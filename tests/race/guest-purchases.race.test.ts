import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { addDays, DAY_MS, MINUTE_MS } from '../../src/core/clock.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import { activateByToken } from '../../src/domain/storefront/purchases/activate-purchase.ts';
import { deliverWaiting, fulfilPurchase } from '../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { guestPurchases } from '../../src/domain/storefront/purchases/purpose.ts';
import { startPurchase, viewPurchase } from '../../src/domain/storefront/purchases/start-purchase.ts';
import { watchPurchases } from '../../src/domain/storefront/purchases/watch-purchases.ts';
import { aUser } from '../support/builders.ts';
import { lost, times, won } from '../support/parallel.ts';
import { callback, callbackJobs, callbackResults } from '../support/payment-samples.ts';
import {
  aDeliveredPurchase,
  aName,
  anEmail,
  anOrder,
  aPaidPurchase,
  aPurchase,
  aStorefront,
  confirmPayment,
  contact,
  factsOf,
  mailsTo,
  revenueOf,
  type Storefront,
  subscriptionOf,
} from '../support/purchase-samples.ts';
import { aStoredSubscription } from '../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
let app: App;
let storefront: Storefront;
const provider = new ScriptedProvider();
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
  app = await withProvider(t.app, provider);
  storefront = await aStorefront(app);
});
beforeEach(async () => {
  await app.db.sql('DELETE FROM guest_purchases');
});

const refusals = async (calls: Promise<unknown>[]): Promise<unknown[]> => lost(await Promise.allSettled(calls));

/** Sends `count` callbacks of one invoice. @returns what processes each of them */
async function queuedCallbacks(externalId: string, count: number): Promise<(() => Promise<void>)[]> {
  await times(count, () => callback(app, externalId));
  const jobs = await callbackJobs(app, externalId);
  return jobs.map((callbackId) => () => processCallback(app, { callbackId }, [], [guestPurchases]));
}

describe('the money', () => {
  test('twenty callbacks processed at once: one account, one revenue row, one job', async () => {
    const email = anEmail();
    const bought = await aPurchase(app, storefront, { buyer: contact(email) });
    provider.set(bought.externalId, 'paid');
    const callbacks = await queuedCallbacks(bought.externalId, 20);
    await Promise.all(callbacks.map((process) => process()));
    const results = await callbackResults(app, bought.externalId);
    expect(results.filter((result) => result === 'credited')).toHaveLength(1);
    expect(results.filter((result) => result === 'already_credited')).toHaveLength(19);
    expect(await app.db.sql('SELECT id FROM users WHERE email = $1', [email])).toHaveLength(1);
    expect(await revenueOf(app, bought.id)).toMatchObject({ rows: 1, kopeks: -30_000, balance: 0 });
    const jobs = await app.db.sql("SELECT id FROM jobs.job WHERE name = 'gifts.fulfil' AND data ->> 'purchaseId' = $1", [
      String(bought.id),
    ]);
    expect(jobs).toHaveLength(1);
    expect(await mailsTo(app, email)).toEqual(['email_verification']);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('two purchases for one new address, and for one new name, paid at once: one account each, one has the credentials', async () => {
    for (const value of [anEmail(), aName()]) {
      const bought = await Promise.all([1, 2, 3].map(() => aPurchase(app, storefront, { buyer: contact(value) })));
      await Promise.all(bought.map((one) => confirmPayment(app, provider, one)));
      const facts = await Promise.all(bought.map(({ id }) => factsOf(app, id)));
      expect(new Set(facts.map((fact) => fact.userId)).size).toBe(1);
      expect(facts.filter((fact) => fact.accountCreated)).toHaveLength(1);
      expect(facts.every((fact) => fact.status === 'paid')).toBe(true);
      expect(await revenueOf(app, bought[0]!.id)).toMatchObject({ rows: 3, kopeks: -90_000 });
    }
  });

  test('a callback and the expiry at once: the purchase is paid', async () => {
    for (let round = 0; round < 4; round++) {
      const bought = await aPurchase(app, storefront);
      t.clock.advance(DAY_MS + MINUTE_MS);
      provider.set(bought.externalId, 'paid');
      const callbacks = await queuedCallbacks(bought.externalId, 3);
      await Promise.all([watchPurchases(app), ...callbacks.map((process) => process()), watchPurchases(app)]);
      expect((await factsOf(app, bought.id)).status).toBe('paid');
      expect(await revenueOf(app, bought.id)).toMatchObject({ rows: 1 });
    }
  });

  test('one key ten times at once: one purchase', async () => {
    const order = anOrder(storefront);
    const caller = { ip: '203.0.113.9', idempotencyKey: `race-${order.buyer.value}` };
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => startPurchase(app, order, caller)));
    const tokens = won(results).map(({ token }) => token);
    expect(new Set(tokens).size).toBe(1);
    for (const reason of lost(results)) expect(reason).toMatchObject({ status: 409 });
    const rows = await app.db.sql('SELECT id FROM guest_purchases WHERE contact_value = $1', [order.buyer.value]);
    expect(rows).toHaveLength(1);
  });
});

describe('the subscription', () => {
  test('ten workers on one paid purchase: one grant, one delivery, one mail', async () => {
    const email = anEmail();
    const bought = await aPaidPurchase(app, provider, storefront, { buyer: contact(email) });
    await times(10, () => fulfilPurchase(app, { purchaseId: bought.id }));
    const { userId } = await factsOf(app, bought.id);
    const subscription = await subscriptionOf(app, userId!);
    expect(subscription).toMatchObject({ endDate: addDays(app.clock.now(), 30) });
    const events = await app.db.sql("SELECT id FROM subscription_events WHERE user_id = $1::int AND event_type = 'purchase'", [
      userId,
    ]);
    expect(events).toHaveLength(1);
    await pushSubscription(app, subscription!.id);
    const delivered = await times(10, () => deliverWaiting(app, { subscriptionId: subscription!.id }));
    expect(delivered.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect((await mailsTo(app, email)).filter((template) => template === 'guest_subscription_delivered')).toHaveLength(1);
  });

  test('two paid purchases of one person at once: one runs, the other waits for consent', async () => {
    const buyer = contact(anEmail());
    const [one, two] = [
      await aPaidPurchase(app, provider, storefront, { buyer }),
      await aPaidPurchase(app, provider, storefront, { buyer }),
    ];
    await Promise.all([one, two].map(({ id }) => fulfilPurchase(app, { purchaseId: id })));
    const states = (await Promise.all([one, two].map(({ id }) => factsOf(app, id)))).map((facts) => [
      facts.status,
      facts.grantedAt !== null,
    ]);
    expect(states.sort()).toEqual([
      ['paid', true],
      ['pending_activation', false],
    ]);
  });

  test('twelve activations, the job and a new sale at once: replaced once', async () => {
    const email = anEmail();
    const user = await aUser(app, { email });
    await aStoredSubscription(app, user.id);
    const bought = await aPaidPurchase(app, provider, storefront, { buyer: contact(email) });
    await fulfilPurchase(app, { purchaseId: bought.id });
    const actor = { kind: 'user', userId: user.id } as const;
    const refused = await refusals([
      ...Array.from({ length: 12 }, () => activateByToken(app, bought.token, actor)),
      watchPurchases(app),
    ]);
    expect(refused).toEqual([]);
    const events = await app.db.sql("SELECT id FROM subscription_events WHERE user_id = $1::int AND event_type = 'purchase'", [
      user.id,
    ]);
    expect(events).toHaveLength(1);
    expect(await subscriptionOf(app, user.id)).toMatchObject({
      endDate: addDays(app.clock.now(), 30),
      tariffId: storefront.tariffId,
    });
    expect(await revenueOf(app, bought.id)).toMatchObject({ rows: 1 });
  });

  test('another user and the recipient activate at once: only the recipient succeeds', async () => {
    const email = anEmail();
    const [user, stranger] = [await aUser(app, { email }), await aUser(app)];
    await aStoredSubscription(app, user.id);
    const bought = await aPaidPurchase(app, provider, storefront, { buyer: contact(email) });
    await fulfilPurchase(app, { purchaseId: bought.id });
    const refused = (await refusals([
      ...Array.from({ length: 5 }, () => activateByToken(app, bought.token, { kind: 'user', userId: stranger.id })),
      ...Array.from({ length: 5 }, () => activateByToken(app, bought.token, null)),
      activateByToken(app, bought.token, { kind: 'user', userId: user.id }),
    ])) as { status: number }[];
    expect(refused.every(({ status }) => status === 401 || status === 403)).toBe(true);
    expect((await factsOf(app, bought.id)).grantedAt).toEqual(expect.any(Date));
  });
});

test('twenty readers at once: one gets the credentials', async () => {
  const bought = await aDeliveredPurchase(app, provider, storefront);
  const views = await times(20, () => viewPurchase(app, bought.token));
  expect(views.filter((view) => view.autoLoginToken !== null)).toHaveLength(1);
});
