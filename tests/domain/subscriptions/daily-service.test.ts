import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenActor, UserActor } from '../../../src/core/actor.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { runDailyService } from '../../../src/domain/subscriptions/daily.ts';
import { applyManualChange, lockUserSubscription } from '../../../src/domain/subscriptions/manual/manual-changes.ts';
import { spendTopup } from '../../../src/domain/subscriptions/spend-topup.ts';
import { disableSubscription } from '../../../src/domain/subscriptions/web-subscriptions.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { aBuyer, aMembership, aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const DAY = 86_400_000;
let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const ago = (ms: number) => new Date(t.clock.now().getTime() - ms);
const dailyTariff = (columns: Record<string, unknown> = {}) =>
  aTariff(t.app, { is_daily: true, daily_price_kopeks: 1_000, period_prices: {}, ...columns });

/** A buyer whose paid day is over. */
async function due(balanceKopeks: number, columns: Record<string, unknown> = {}) {
  const buyer = await aBuyer(t.app, balanceKopeks);
  const base = { tariff_id: await dailyTariff(), end_date: ago(1_000), last_daily_charge_at: ago(DAY + 1_000) };
  const id = await aStoredSubscription(t.app, buyer.userId, { ...base, ...columns });
  return { buyer, id };
}

const stateOf = async (buyer: UserActor) => ({
  ...(await rowOf<Record<string, unknown>>(
    t.app,
    `SELECT u.balance_kopeks AS balance, s.status, s.end_date, s.last_daily_charge_at AS charged_at, s.provision_version AS pushes,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'subscription_payment') AS payments,
       (SELECT count(*)::int FROM subscription_events e WHERE e.user_id = u.id AND e.event_type = 'renewal') AS renewals,
       (SELECT count(*)::int FROM jobs.job j WHERE j.name = 'messenger.send' AND j.data ->> 'messengerId' = u.messenger_id::text) AS messages
     FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
    [buyer.userId],
  )),
  debits: (await recordedEvents(t.app, 'subscription.daily_debit', buyer.userId)).length,
});

describe('the day of a daily tariff', () => {
  test('is charged once when the paid one is over, with its rows, event, message and push', async () => {
    const { buyer } = await due(2_500);
    await runDailyService(t.app);
    await runDailyService(t.app);
    const now = t.clock.now();
    expect(await stateOf(buyer)).toEqual({
      balance: 1_500,
      status: 'active',
      endDate: new Date(now.getTime() + DAY),
      chargedAt: now,
      pushes: 1,
      payments: 1,
      renewals: 1,
      debits: 1,
      messages: 1,
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('is charged before the paid one ends when the next round would be too late, and continues it', async () => {
    const inMinutes = (minutes: number) => new Date(t.clock.now().getTime() + minutes * 60_000);
    const soon = inMinutes(29);
    const paid = (endDate: Date) => ({ end_date: endDate, last_daily_charge_at: new Date(endDate.getTime() - DAY) });
    const { buyer } = await due(2_500, paid(soon));
    const later = await due(2_500, paid(inMinutes(31)));
    const poor = await due(999, paid(soon));
    await runDailyService(t.app);
    await runDailyService(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 1_500, endDate: new Date(soon.getTime() + DAY), payments: 1 });
    expect(await stateOf(later.buyer)).toMatchObject({ balance: 2_500, payments: 0 });
    expect(await stateOf(poor.buyer)).toMatchObject({ balance: 999, status: 'active', messages: 0 });
  });

  test('costs what the promo group leaves of it', async () => {
    const { buyer } = await due(1_000);
    await aMembership(t.app, buyer.userId, { period_discounts: { 1: 30 } });
    await runDailyService(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 300, status: 'active' });
  });

  test.each([
    ['time left', { end_date: new Date(Date.now() + DAY) }],
    ['a charge within the day', { last_daily_charge_at: new Date(Date.now() - DAY / 2) }],
    ['a pause', { is_daily_paused: true }],
    ['a trial', { is_trial: true }],
    ['the status disabled', { status: 'disabled' }],
  ])('is not charged with %s', async (_why, columns) => {
    const { buyer } = await due(5_000, columns);
    await runDailyService(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 5_000, payments: 0, pushes: 0 });
  });

  test.each([
    ["status = 'blocked'", 'a blocked user'],
    ['restriction_subscription = true', 'a restricted user'],
  ])('is not charged to %s (%s)', async (column) => {
    const { buyer } = await due(5_000);
    await t.app.db.sql(`UPDATE users SET ${column} WHERE id = $1::int`, [buyer.userId]);
    await runDailyService(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 5_000, payments: 0 });
  });

  test('is not charged for a tariff that is inactive or without a price, nor while the service is switched off', async () => {
    const off = await due(5_000, { tariff_id: await dailyTariff({ is_active: false }) });
    const free = await due(5_000, { tariff_id: await dailyTariff({ daily_price_kopeks: 0 }) });
    await runDailyService(t.app);
    for (const { buyer } of [off, free]) expect(await stateOf(buyer)).toMatchObject({ balance: 5_000, payments: 0 });
    const { buyer } = await due(5_000);
    const { app } = await testApp({ environment: { DAILY_SUBSCRIPTIONS_ENABLED: 'false' }, clock: t.clock });
    await runDailyService(app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 5_000, payments: 0 });
  });

  test('with insufficient funds the subscription is stopped with one notification, and a top-up resumes it (spec 02 H22)', async () => {
    const { buyer } = await due(999);
    await runDailyService(t.app);
    await runDailyService(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 999, status: 'disabled', payments: 0, pushes: 1, messages: 1 });
    await topUp(t.app, buyer.userId, 501);
    await runDailyService(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 500, status: 'active', payments: 1, pushes: 2, messages: 2 });
  });

  test('resumes a subscription that expired within the last day, but none that expired earlier', async () => {
    const expired = await due(1_000, { status: 'expired' });
    const longGone = await due(1_000, { status: 'expired', end_date: ago(DAY + 1_000) });
    await runDailyService(t.app);
    expect(await stateOf(expired.buyer)).toMatchObject({ balance: 0, status: 'active' });
    expect(await stateOf(longGone.buyer)).toMatchObject({ balance: 1_000, status: 'expired' });
  });

  test.each([0, 999])(
    'a subscription that expired with insufficient funds (%i kopeks) is stopped too, and its owner is notified once',
    async (balance) => {
      const { buyer } = await due(balance, { status: 'expired' });
      await runDailyService(t.app);
      await runDailyService(t.app);
      expect(await stateOf(buyer)).toMatchObject({ balance, status: 'disabled', payments: 0, pushes: 1, messages: 1 });
      await topUp(t.app, buyer.userId, 1_000 - balance);
      await spendTopup(t.app, buyer.userId);
      expect(await stateOf(buyer)).toMatchObject({ balance: 0, status: 'active', payments: 1 });
    },
  );

  /** A subscription that the service stopped `days` ago because 10 rubles were missing; the owner has topped up since. */
  async function stoppedFor(days: number) {
    const { buyer, id } = await due(0);
    await runDailyService(t.app);
    await t.app.db.sql(`UPDATE sent_notifications SET created_at = $2::timestamptz WHERE subscription_id = $1::int`, [
      id,
      ago(days * DAY),
    ]);
    await topUp(t.app, buyer.userId, 1_000);
    return { buyer, id };
  }

  test('is resumed by the service for a few days after the stop, later only by a top-up', async () => {
    const [lately, longAgo] = [await stoppedFor(2.9), await stoppedFor(3.1)];
    await runDailyService(t.app);
    expect(await stateOf(lately.buyer)).toMatchObject({ balance: 0, status: 'active' });
    expect(await stateOf(longAgo.buyer)).toMatchObject({ balance: 1_000, status: 'disabled' });
    await spendTopup(t.app, longAgo.buyer.userId);
    expect(await stateOf(longAgo.buyer)).toMatchObject({ balance: 0, status: 'active', payments: 1 });
  });

  test('after a second stop the service tries to resume it as long as after the first', async () => {
    const { buyer, id } = await stoppedFor(30);
    // An administrator activates it; the service finds insufficient funds and stops it again.
    await t.app.db.sql("UPDATE subscriptions SET status = 'active' WHERE id = $1::int", [id]);
    await t.app.db.sql(
      'UPDATE tariffs SET daily_price_kopeks = 2000 WHERE id = (SELECT tariff_id FROM subscriptions WHERE id = $1::int)',
      [id],
    );
    await runDailyService(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 1_000, status: 'disabled' });
    await topUp(t.app, buyer.userId, 1_000);
    await runDailyService(t.app);
    expect(await stateOf(buyer)).toMatchObject({ balance: 0, status: 'active' });
  });

  test.each([
    ['expired a month ago', { status: 'expired', end_date: new Date(Date.now() - 30 * DAY) }],
    ['was limited by the panel', { status: 'limited' }],
    // Imported from another service: nothing here says why it is disabled (spec 10 X2).
    ['is disabled and nobody did that on purpose', { status: 'disabled' }],
  ])('a top-up resumes a subscription that %s', async (_what, columns) => {
    const { buyer } = await due(1_500, columns);
    await spendTopup(t.app, buyer.userId);
    const endDate = new Date(t.clock.now().getTime() + DAY);
    expect(await stateOf(buyer)).toMatchObject({ balance: 500, status: 'active', endDate, payments: 1, pushes: 1 });
  });

  test.each([
    ['was disabled by an administrator', { status: 'disabled', disabled_reason: 'admin' }],
    ['was disabled by the channel rule', { status: 'disabled', disabled_reason: 'channel' }],
    ['is disabled and was paused by its owner', { status: 'disabled', is_daily_paused: true }],
    ['was paused by its owner', { status: 'expired', is_daily_paused: true }],
    ['is a trial', { status: 'expired', is_trial: true }],
    ['is active', {}],
  ])('a top-up does not resume a subscription that %s', async (_what, columns) => {
    const { buyer } = await due(1_500, columns);
    await spendTopup(t.app, buyer.userId);
    expect(await stateOf(buyer)).toMatchObject({ balance: 1_500, payments: 0 });
  });

  test('a top-up that does not cover the day changes nothing', async () => {
    const { buyer } = await due(999, { status: 'expired' });
    await spendTopup(t.app, buyer.userId);
    expect(await stateOf(buyer)).toMatchObject({ balance: 999, status: 'expired', messages: 0 });
  });

  test.each<[string, (userId: number, subscriptionId: number) => Promise<unknown>]>([
    ['the integration', (_userId, id) => disableSubscription(t.app, { kind: 'token', tokenId: 1 } as TokenActor, id)],
    [
      'an administrator',
      (userId, id) =>
        inTransaction(t.app, async (tx) => {
          await lockUserSubscription(tx, userId);
          await applyManualChange(tx, id, { changes: { status: 'disabled' } });
        }),
    ],
  ])('a stopped subscription that %s disables stays disabled', async (_who, disable) => {
    const { buyer, id } = await stoppedFor(1);
    await disable(buyer.userId, id);
    await runDailyService(t.app);
    await spendTopup(t.app, buyer.userId);
    expect(await stateOf(buyer)).toMatchObject({ balance: 1_000, status: 'disabled', payments: 0 });
  });

  test('a stopped subscription that the panel disables stays disabled', async () => {
    const { buyer, id } = await stoppedFor(1);
    await t.app.db.sql("UPDATE subscriptions SET disabled_reason = 'panel' WHERE id = $1::int", [id]);
    await runDailyService(t.app);
    await spendTopup(t.app, buyer.userId);
    expect(await stateOf(buyer)).toMatchObject({ balance: 1_000, status: 'disabled' });
  });

  test('an owner without a messenger is notified by mail and by an event', async () => {
    const { buyer } = await due(1_000);
    await t.app.db.sql('UPDATE users SET messenger_id = NULL, email = $2, email_verified = true WHERE id = $1::int', [
      buyer.userId,
      `daily${buyer.userId}@example.com`,
    ]);
    await runDailyService(t.app);
    const mails = await t.app.db.sql('SELECT template FROM outgoing_mails WHERE recipient = $1', [
      `daily${buyer.userId}@example.com`,
    ]);
    expect(mails).toEqual([{ template: 'daily_debit' }]);
    expect(await recordedEvents(t.app, 'notification.daily_debit', buyer.userId)).toMatchObject([{ formatted_amount: '10 ₽' }]);
  });
});

describe('purchased traffic', () => {
  test('that has expired is removed from the limit once, the panel is updated and the owner notified', async () => {
    const buyer = await aBuyer(t.app);
    const inTenDays = new Date(t.clock.now().getTime() + 10 * DAY);
    const id = await aStoredSubscription(t.app, buyer.userId, {
      traffic_limit_gb: 180,
      purchased_traffic_gb: 80,
      traffic_reset_at: ago(1),
    });
    await storeRows(t.app, 'TrafficPurchase', [
      { subscriptionId: id, trafficGb: 50, expiresAt: ago(1), createdAt: new Date() },
      { subscriptionId: id, trafficGb: 30, expiresAt: inTenDays, createdAt: new Date() },
    ]);
    await runDailyService(t.app);
    await runDailyService(t.app);
    const state = await rowOf<object>(
      t.app,
      `SELECT traffic_limit_gb AS "limit", purchased_traffic_gb AS bought, traffic_reset_at AS reset_at, provision_version AS pushes,
         (SELECT sum(traffic_gb)::int FROM traffic_purchases p WHERE p.subscription_id = s.id) AS rows
       FROM subscriptions s WHERE id = $1::int`,
      [id],
    );
    expect(state).toEqual({ limit: 130, bought: 30, resetAt: inTenDays, pushes: 1, rows: 30 });
    expect(await recordedEvents(t.app, 'subscription.traffic_reset', buyer.userId)).toHaveLength(1);
  });
});
