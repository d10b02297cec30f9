import { beforeAll, expect, test } from 'vitest';
import { isCandidate } from '../../../src/domain/subscriptions/daily/repo.ts';
import { runDailyService } from '../../../src/domain/subscriptions/daily.ts';
import { expireSubscriptions } from '../../../src/domain/subscriptions/expire-subscriptions.ts';
import { readSubscription } from '../../../src/domain/subscriptions/read-subscription.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const hoursAgo = (hours: number) => new Date(t.clock.now().getTime() - hours * 3_600_000);

async function statusAfter(
  columns: Record<string, unknown>,
  userStatus = 'active',
): Promise<{ id: number; userId: number; status: string }> {
  const buyer = await aBuyer(t.app);
  await t.app.db.sql('UPDATE users SET status = $2 WHERE id = $1::int RETURNING id', [buyer.userId, userStatus]);
  const id = await aStoredSubscription(t.app, buyer.userId, { end_date: hoursAgo(1), ...columns });
  await expireSubscriptions(t.app);
  const { status } = await rowOf<{ status: string }>(t.app, 'SELECT status FROM subscriptions WHERE id = $1::int', [id]);
  return { id, userId: buyer.userId, status };
}

test('a subscription past its end becomes expired, its owner is notified and the panel updated, once', async () => {
  const { id, userId, status } = await statusAfter({});
  expect(status).toBe('expired');
  expect(await expireSubscriptions(t.app)).toBe(0);
  const facts = await rowOf<object>(
    t.app,
    `SELECT provision_version, provision_state,
       (SELECT count(*)::int FROM jobs.job j WHERE j.name = 'provisioning.push' AND j.data ->> 'subscriptionId' = s.id::text) AS pushes,
       (SELECT count(*)::int FROM jobs.job j JOIN users u ON u.id = s.user_id
         WHERE j.name = 'messenger.send' AND j.data ->> 'messengerId' = u.messenger_id::text) AS messages
     FROM subscriptions s WHERE id = $1::int`,
    [id],
  );
  expect(facts).toEqual({ provisionVersion: 1, provisionState: 'pending', pushes: 1, messages: 1 });
  expect(await recordedEvents(t.app, 'subscription.expired', userId)).toHaveLength(1);
});

test('a subscription that the panel limited expires at its end like any other', async () => {
  expect((await statusAfter({ status: 'limited' })).status).toBe('expired');
});

test('an owner without a messenger is notified by mail', async () => {
  const buyer = await aBuyer(t.app);
  const email = `over${buyer.userId}@example.com`;
  await t.app.db.sql('UPDATE users SET messenger_id = NULL, email = $2, email_verified = true WHERE id = $1::int RETURNING id', [
    buyer.userId,
    email,
  ]);
  await aStoredSubscription(t.app, buyer.userId, { end_date: hoursAgo(1) });
  await expireSubscriptions(t.app);
  const mail = await rowOf<{ template: string }>(t.app, 'SELECT template FROM outgoing_mails WHERE recipient = $1', [email]);
  expect(mail.template).toBe('subscription_expired');
});

test.each([
  ['a subscription with time left', { end_date: new Date(Date.now() + 86_400_000) }, 'active', 'active'],
  ['a disabled subscription', { status: 'disabled' }, 'active', 'disabled'],
  ['a subscription of a blocked user', {}, 'blocked', 'active'],
])('%s is not changed', async (_name, columns, userStatus, expected) => {
  expect((await statusAfter(columns, userStatus)).status).toBe(expected);
});

test.each<[string, Record<string, object>, 'active' | 'expired']>([
  ['that is active', {}, 'active'],
  ['that is paused', { subscription: { is_daily_paused: true } }, 'expired'],
  ['that is a trial', { subscription: { is_trial: true } }, 'expired'],
  ['of an inactive tariff', { tariff: { is_active: false } }, 'expired'],
  ['of a tariff without a price', { tariff: { daily_price_kopeks: 0 } }, 'expired'],
  ['of an owner who may not buy', { user: { restriction_subscription: true } }, 'expired'],
  ['of a blocked owner', { user: { status: 'blocked' } }, 'expired'],
  ['of a deleted owner', { user: { status: 'deleted' } }, 'expired'],
])(
  'a daily subscription %s is left to the daily service exactly when that service handles it',
  async (_name, { tariff, subscription, user }, expected) => {
    const { userId } = await aBuyer(t.app);
    const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 100, ...tariff });
    const id = await aStoredSubscription(t.app, userId, { tariff_id: tariffId, end_date: hoursAgo(1), ...subscription });
    for (const [column, value] of Object.entries(user ?? {})) {
      await t.app.db.sql(`UPDATE users SET ${column} = $2 WHERE id = $1::int`, [userId, value]);
    }
    const isHandled = await isCandidate(t.app.db, 'charge', t.clock.now(), userId);
    await expireSubscriptions(t.app);
    const { status } = await rowOf<{ status: string }>(t.app, 'SELECT status FROM subscriptions WHERE id = $1::int', [id]);
    expect({ status, isHandled }).toEqual({ status: expected, isHandled: expected === 'active' });
  },
);

test('while the daily service is switched off, daily subscriptions expire like all others', async () => {
  const { userId } = await aBuyer(t.app);
  const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 100 });
  const id = await aStoredSubscription(t.app, userId, { tariff_id: tariffId, end_date: hoursAgo(1) });
  const { app } = await testApp({ environment: { DAILY_SUBSCRIPTIONS_ENABLED: 'false' }, clock: t.clock });
  await expireSubscriptions(app);
  expect(await rowOf(app, 'SELECT status FROM subscriptions WHERE id = $1::int', [id])).toEqual({ status: 'expired' });
});

test('a daily subscription that ended while its owner was blocked is not charged when the owner is active again', async () => {
  const { userId } = await aBuyer(t.app, 50_000);
  const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 100 });
  await aStoredSubscription(t.app, userId, { tariff_id: tariffId, end_date: hoursAgo(25), last_daily_charge_at: hoursAgo(49) });
  await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int", [userId]);
  await expireSubscriptions(t.app);
  await t.app.db.sql("UPDATE users SET status = 'active' WHERE id = $1::int", [userId]);
  await runDailyService(t.app);
  const state = `SELECT u.balance_kopeks, (SELECT count(*)::int FROM jobs.job j
    WHERE j.name = 'messenger.send' AND j.data ->> 'messengerId' = u.messenger_id::text) AS messages FROM users u WHERE id = $1::int`;
  expect(await rowOf(t.app, state, [userId])).toEqual({ balanceKopeks: 50_000, messages: 0 });
});

test('a row that the panel reported on within 60 s is not changed', async () => {
  expect((await statusAfter({ last_webhook_update_at: new Date(t.clock.now().getTime() - 59_000) })).status).toBe('active');
  expect((await statusAfter({ last_webhook_update_at: new Date(t.clock.now().getTime() - 60_000) })).status).toBe('expired');
});

test('more than one batch is processed in one run', async () => {
  for (let count = 0; count < 60; count++) {
    const buyer = await aBuyer(t.app);
    await aStoredSubscription(t.app, buyer.userId, { end_date: hoursAgo(1) });
  }
  expect(await expireSubscriptions(t.app)).toBe(60);
});

test('reading shows the end without writing it (spec 02 H29)', async () => {
  const buyer = await aBuyer(t.app);
  const id = await aStoredSubscription(t.app, buyer.userId, { end_date: new Date(t.clock.now().getTime() - 1) });
  const before = await rowOf<object>(t.app, 'SELECT xmin::text, status FROM subscriptions WHERE id = $1::int', [id]);
  expect(await readSubscription(t.app, buyer)).toMatchObject({
    status: 'expired',
    isExpired: true,
    daysLeft: 0,
    timeLeftDisplay: '0m',
  });
  expect(await rowOf<object>(t.app, 'SELECT xmin::text, status FROM subscriptions WHERE id = $1::int', [id])).toEqual(before);
});
