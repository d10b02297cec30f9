import { beforeAll, describe, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { renewDue } from '../../../src/domain/subscriptions/autopay/renew-due.ts';
import { recordedEvents, recordedTypesOf } from '../../support/recorded-events.ts';
import { aBuyer, aMembership, anOffer, aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const DAY = 86_400_000;
let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const inDays = (days: number) => new Date(t.clock.now().getTime() + days * DAY);

/** A buyer with autopay on whose subscription ends in two days. */
async function ending(balanceKopeks: number, columns: Record<string, unknown> = {}, tariff: Record<string, unknown> = {}) {
  const buyer = await aBuyer(t.app, balanceKopeks);
  const base = { tariff_id: await aTariff(t.app, tariff), autopay_enabled: true, end_date: inDays(2) };
  await aStoredSubscription(t.app, buyer.userId, { ...base, ...columns });
  return buyer;
}

const stateOf = async (buyer: UserActor) => ({
  ...(await rowOf<Record<string, unknown>>(
    t.app,
    `SELECT u.balance_kopeks AS balance, s.status, s.end_date, u.promo_offer_discount_percent AS offer, s.provision_version AS pushes,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'subscription_payment') AS payments,
       (SELECT json_agg(e.event_type) FROM subscription_events e WHERE e.user_id = u.id) AS feed,
       (SELECT count(*)::int FROM jobs.job j WHERE j.name = 'messenger.send' AND j.data ->> 'messengerId' = u.messenger_id::text) AS messages
     FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
    [buyer.userId],
  )),
  events: await recordedTypesOf(t.app, buyer.userId, { prefix: 'autopay' }),
});

describe('autopay', () => {
  test('renews once by the shortest period, with its rows, events, message and push', async () => {
    const buyer = await ending(70_000);
    await renewDue(t.app);
    await renewDue(t.app);
    expect(await stateOf(buyer)).toEqual({
      balance: 40_000,
      status: 'active',
      endDate: inDays(32),
      offer: 0,
      pushes: 1,
      payments: 1,
      feed: ['renewal'],
      events: ['autopay.success'],
      messages: 1,
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a subscription that ended within two hours is renewed from now, and the personal discount is used up', async () => {
    const buyer = await ending(30_000, { status: 'expired', end_date: inDays(-1 / 24) });
    await anOffer(t.app, buyer.userId, 50);
    await renewDue(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 15_000, status: 'active', endDate: inDays(30), offer: 0 });
  });

  test.each([
    ['true', { used: 0, resets: true }],
    ['false', { used: 90, resets: false }],
  ])('the used traffic is reset here and at the panel with RESET_TRAFFIC_ON_PAYMENT %s', async (setting, expected) => {
    const { app } = await testApp({ environment: { RESET_TRAFFIC_ON_PAYMENT: setting }, clock: t.clock });
    const buyer = await ending(30_000, { traffic_used_gb: 90 });
    await renewDue(app);
    const traffic =
      'SELECT traffic_used_gb AS used, provision_reset_traffic AS resets FROM subscriptions WHERE user_id = $1::int';
    expect(await rowOf(t.app, traffic, [buyer.userId])).toEqual(expected);
  });

  test('the lead is what the owner has set, up to 30 days (spec 02 H23)', async () => {
    const early = await ending(30_000, { autopay_days_before: 30, end_date: inDays(20) });
    const late = await ending(30_000, { autopay_days_before: 1, end_date: inDays(2.5) });
    await renewDue(t.app);
    expect(await stateOf(early)).toMatchObject({ balance: 0, payments: 1 });
    expect(await stateOf(late)).toMatchObject({ balance: 30_000, payments: 0 });
  });

  test('a lead longer than the period renews by one period, not by one after the other', async () => {
    const buyer = await ending(70_000, { autopay_days_before: 30 }, { period_prices: { 14: 10_000 } });
    await renewDue(t.app);
    await renewDue(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 60_000, endDate: inDays(16) });
  });

  test('with insufficient funds nothing is charged and the owner is notified once in six hours', async () => {
    const buyer = await ending(29_999);
    await renewDue(t.app);
    await renewDue(t.app);
    const unchanged = { balance: 29_999, status: 'active', endDate: inDays(2), payments: 0, pushes: 0 };
    const notified = {
      feed: ['autopay_failed'],
      events: expect.arrayContaining(['autopay.failed', 'autopay.insufficient_funds']),
      messages: 1,
    };
    expect(await stateOf(buyer)).toMatchObject({ ...unchanged, ...notified });
    await topUp(t.app, buyer.userId, 1);
    await renewDue(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 0, payments: 1 });
  });

  test('with no period for sale the owner is notified once a term', async () => {
    const buyer = await ending(90_000, {}, { period_prices: {} });
    await renewDue(t.app);
    const later = await testApp();
    later.clock.set(new Date(t.clock.now().getTime() + 12 * 3_600_000));
    await renewDue(later.app);
    const notified = { feed: ['autopay_failed'], events: ['autopay.failed'], messages: 1 };
    expect(await stateOf(buyer)).toMatchObject({ balance: 90_000, payments: 0, ...notified });
    expect(await recordedEvents(t.app, 'autopay.failed', buyer.userId)).toMatchObject([{ reason: 'period_unavailable' }]);
  });

  test('the notification of insufficient funds is sent again after six hours', async () => {
    const later = await testApp();
    const buyer = await ending(0);
    await renewDue(t.app);
    later.clock.set(new Date(t.clock.now().getTime() + 6 * 3_600_000 + 1));
    await renewDue(later.app);
    expect(await stateOf(buyer)).toMatchObject({ feed: ['autopay_failed', 'autopay_failed'], messages: 2 });
  });

  test.each([
    ['autopay off', { autopay_enabled: false }],
    ['a trial', { is_trial: true }],
    ['a disabled subscription', { status: 'disabled' }],
    ['a subscription that ended longer ago', { status: 'expired', end_date: new Date(Date.now() - DAY / 8) }],
    ['a subscription that the panel has just reported on', { last_webhook_update_at: new Date(Date.now() - 1_000) }],
  ])('does not renew: %s', async (_why, columns) => {
    const buyer = await ending(90_000, columns);
    await renewDue(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 90_000, payments: 0, events: [] });
  });

  test.each([["status = 'blocked'"], ['restriction_subscription = true']])('does not renew for users with %s', async (column) => {
    const buyer = await ending(90_000);
    await t.app.db.sql(`UPDATE users SET ${column} WHERE id = $1::int`, [buyer.userId]);
    await renewDue(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 90_000, payments: 0, events: [] });
  });

  test('does not renew daily tariffs and free periods', async () => {
    const daily = await ending(90_000, {}, { is_daily: true, daily_price_kopeks: 100 });
    const free = await ending(90_000);
    await aMembership(t.app, free.userId, { period_discounts: { 30: 100 } });
    await renewDue(t.app);
    for (const buyer of [daily, free])
      expect(await stateOf(buyer)).toMatchObject({ balance: 90_000, payments: 0, endDate: inDays(2) });
  });
});
