import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { addDays, DAY_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { renewDue } from '../../../src/domain/subscriptions/autopay/renew-due.ts';
import { runDailyService } from '../../../src/domain/subscriptions/daily.ts';
import { type ActionRequest, runSubscriptionAction } from '../../../src/domain/subscriptions/manual/run-action.ts';
import { spendTopup } from '../../../src/domain/subscriptions/spend-topup.ts';
import { changeUserStatus } from '../../../src/domain/users/account/change-account.ts';
import { disableUser } from '../../../src/domain/users/removal.ts';
import { anAction, jobsOf } from '../../support/admin-setup.ts';
import { anAdmin } from '../../support/admins.ts';
import { aUser } from '../../support/builders.ts';
import { aServer, aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';

let app: App;
let clock: TestClock;
let admin: AdminActor;
beforeAll(async () => {
  ({ app, clock } = await testApp());
  clock.set(new Date(Math.floor(clock.now().getTime() / 1000) * 1000));
  admin = await anAdmin(app);
});

const act = (userId: number, action: string, given: Partial<ActionRequest> = {}, on = app) =>
  runSubscriptionAction(on, admin, userId, anAction(action, given));
const inDays = (days: number) => addDays(clock.now(), days);

/** A user with a subscription that ends in 10 days and has 100 GB. */
async function holder(columns: Record<string, unknown> = {}): Promise<{ id: number; subscriptionId: number }> {
  const { id } = await aUser(app);
  const subscriptionId = await aStoredSubscription(app, id, { end_date: inDays(10), device_limit: 3, ...columns });
  return { id, subscriptionId };
}

async function aPurchase(subscriptionId: number, gb: number, expiresAt: Date): Promise<number> {
  const row = await storeRow(app, 'TrafficPurchase', { subscriptionId, trafficGb: gb, expiresAt, createdAt: clock.now() });
  return row.id;
}

describe('create', () => {
  test('gives 30 days, 100 GB and one device, paid, and updates the panel after the commit', async () => {
    const { id } = await aUser(app);
    const { message, subscription } = await act(id, 'create');
    expect(message).toBe('Subscription created');
    expect(subscription).toMatchObject({
      status: 'active',
      isTrial: false,
      isActive: true,
      daysRemaining: 30,
      trafficLimitGb: 100,
      deviceLimit: 1,
      startDate: clock.now(),
      endDate: inDays(30),
      tariffId: null,
      tariffName: null,
      trafficPurchases: [],
    });
    expect(await jobsOf(app, 'subscriptionId', subscription.id)).toEqual(['provisioning.push']);
    await expect(act(id, 'create')).rejects.toMatchObject({ status: 400, detail: 'User already has a subscription' });
  });

  test("takes a tariff's terms and squads, and what is given goes first", async () => {
    const server = await aServer(app);
    const tariffId = await aTariff(app, { name: 'Gold', traffic_limit_gb: 250, device_limit: 4, allowed_squads: [server.uuid] });
    const byTariff = await act((await aUser(app)).id, 'create', { tariffId, isTrial: true });
    expect(byTariff.subscription).toMatchObject({
      trafficLimitGb: 250,
      deviceLimit: 4,
      tariffId,
      tariffName: 'Gold',
      isTrial: true,
    });
    const row = await rowOf(app, 'SELECT connected_squads FROM subscriptions WHERE id = $1::int', [byTariff.subscription.id]);
    expect(row).toEqual({ connectedSquads: [server.uuid] });
    const given = await act((await aUser(app)).id, 'create', { tariffId, days: 5, trafficLimitGb: 0, deviceLimit: 2 });
    expect(given.subscription).toMatchObject({ trafficLimitGb: 0, deviceLimit: 2, daysRemaining: 5 });
  });

  test('an unknown tariff is not ignored', async () => {
    const { id } = await aUser(app);
    await expect(act(id, 'create', { tariffId: 2_000_000_000 })).rejects.toMatchObject({
      status: 404,
      detail: 'Tariff not found',
    });
    expect(await app.db.sql('SELECT id FROM subscriptions WHERE user_id = $1::int', [id])).toEqual([]);
  });
});

describe('time', () => {
  test('extend goes on from the end, or from now when that is over', async () => {
    const { id } = await holder();
    expect((await act(id, 'extend', { days: 5 })).subscription.endDate).toEqual(inDays(15));
    for (const status of ['expired', 'disabled', 'limited', 'trial']) {
      const stopped = await holder({ status, end_date: inDays(-3), is_trial: status === 'trial' });
      const { subscription } = await act(stopped.id, 'extend', { days: 7 });
      expect(subscription, status).toMatchObject({ status: 'active', endDate: inDays(7) });
    }
    await expect(act(id, 'extend')).rejects.toMatchObject({ status: 400, detail: 'Days must be a positive integer' });
  });

  test('RESET_TRAFFIC_ON_PAYMENT zeroes used traffic with extend, not with shorten', async () => {
    const { app: resetting } = await testApp({ environment: { RESET_TRAFFIC_ON_PAYMENT: 'true' }, clock });
    const { id, subscriptionId } = await holder({ traffic_used_gb: 40 });
    expect((await act(id, 'shorten', { days: 1 }, resetting)).subscription.trafficUsedGb).toBe(40);
    expect((await act(id, 'extend', { days: 1 }, resetting)).subscription.trafficUsedGb).toBe(0);
    const row = await rowOf(app, 'SELECT provision_reset_traffic AS reset FROM subscriptions WHERE id = $1::int', [
      subscriptionId,
    ]);
    expect(row).toEqual({ reset: true });
  });

  test('shorten takes days off, and what is over then is expired', async () => {
    const { id } = await holder();
    expect((await act(id, 'shorten', { days: 4 })).subscription).toMatchObject({ status: 'active', endDate: inDays(6) });
    expect((await act(id, 'shorten', { days: 6 })).subscription).toMatchObject({
      status: 'expired',
      isActive: false,
      daysRemaining: 0,
    });
    await expect(act(id, 'shorten')).rejects.toMatchObject({ detail: 'Days must be a positive integer' });
  });

  test('set_end_date sets the status by the date', async () => {
    const { id } = await holder({ status: 'disabled' });
    expect((await act(id, 'set_end_date', { endDate: inDays(40) })).subscription).toMatchObject({
      status: 'active',
      daysRemaining: 40,
    });
    expect((await act(id, 'set_end_date', { endDate: inDays(-1) })).subscription.status).toBe('expired');
    await expect(act(id, 'set_end_date')).rejects.toMatchObject({ status: 400, detail: 'end_date parameter is required' });
    await expect(act(id, 'set_end_date', { endDate: inDays(40_000) })).rejects.toMatchObject({ status: 422 });
  });

  test('cancel ends now, activate gives 30 days to what is over', async () => {
    const { id } = await holder();
    expect((await act(id, 'cancel')).subscription).toMatchObject({ status: 'expired', endDate: clock.now() });
    expect((await act(id, 'activate')).subscription).toMatchObject({ status: 'active', endDate: inDays(30) });
    const running = await holder({ status: 'disabled' });
    expect((await act(running.id, 'activate')).subscription).toMatchObject({ status: 'active', endDate: inDays(10) });
  });
});

describe('what an administrator ended', () => {
  const DAILY = { is_daily: true, daily_price_kopeks: 1_000, period_prices: {} };

  /** Owners with money whose subscription would go on by itself: by autopay, or by the daily service. */
  async function owners() {
    const monthly = await holder({ tariff_id: await aTariff(app), autopay_enabled: true });
    const dailyId = await aTariff(app, DAILY);
    const daily = await holder({ tariff_id: dailyId, end_date: inDays(0.5), last_daily_charge_at: inDays(-0.5) });
    for (const { id } of [monthly, daily]) await topUp(app, id, 50_000);
    return [monthly, daily];
  }

  async function isLeftAlone({ id }: { id: number }): Promise<void> {
    await renewDue(app);
    await runDailyService(app);
    await spendTopup(app, id);
    const row = await rowOf(
      app,
      `SELECT u.balance_kopeks AS balance, s.status, s.autopay_enabled AS autopay, s.is_daily_paused AS paused
       FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
      [id],
    );
    expect(row).toEqual({ balance: 50_000, status: 'expired', autopay: false, paused: true });
  }

  test.each([
    ['cancel', () => ({})],
    ['shorten', () => ({ days: 10 })],
    ['set_end_date', () => ({ endDate: new Date(clock.now().getTime() - 60_000) })],
  ])('by %s neither autopay nor the daily service charges for and starts again', async (action, given) => {
    for (const owner of await owners()) {
      expect((await act(owner.id, action, given())).subscription).toMatchObject({ status: 'expired', autopayEnabled: false });
      await isLeftAlone(owner);
    }
  });

  test('is the whole of it: with time left, autopay and the daily charge stay as they are', async () => {
    const [monthly, daily] = await owners();
    expect((await act(monthly!.id, 'shorten', { days: 5 })).subscription).toMatchObject({ autopayEnabled: true });
    await act(daily!.id, 'set_end_date', { endDate: inDays(1) });
    const row = await rowOf(app, 'SELECT is_daily_paused AS paused FROM subscriptions WHERE id = $1::int', [
      daily!.subscriptionId,
    ]);
    expect(row).toEqual({ paused: false });
  });

  test('a daily tariff that stopped for insufficient funds, of a user who is disabled, stays off when the user is enabled again', async () => {
    const user = await holder({ tariff_id: await aTariff(app, DAILY), end_date: inDays(-0.1) });
    await runDailyService(app);
    await disableUser(app, admin, user.id, null);
    await changeUserStatus(app, admin, user.id, 'active', null);
    await topUp(app, user.id, 50_000);
    await runDailyService(app);
    const row = await rowOf(
      app,
      'SELECT s.status, u.balance_kopeks AS balance FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int',
      [user.id],
    );
    expect(row).toEqual({ status: 'disabled', balance: 50_000 });
  });
});

describe('change_tariff', () => {
  test('takes the terms of the tariff, drops packages, records a payment of 0', async () => {
    const server = await aServer(app);
    const tariffId = await aTariff(app, {
      name: 'Silver',
      traffic_limit_gb: 50,
      device_limit: 5,
      max_device_limit: 4,
      allowed_squads: [server.uuid],
    });
    const { id, subscriptionId } = await holder({
      is_trial: true,
      traffic_used_gb: 8,
      purchased_traffic_gb: 20,
      traffic_limit_gb: 120,
    });
    await aPurchase(subscriptionId, 20, inDays(5));
    const { subscription } = await act(id, 'change_tariff', { tariffId });
    expect(subscription).toMatchObject({
      tariffId,
      tariffName: 'Silver',
      trafficLimitGb: 50,
      deviceLimit: 4,
      isTrial: false,
      purchasedTrafficGb: 0,
      trafficPurchases: [],
      endDate: inDays(10),
      trafficUsedGb: 0,
    });
    const row = await rowOf(
      app,
      `SELECT s.connected_squads, s.traffic_reset_at, s.provision_reset_traffic, t.type, t.amount_kopeks, t.payment_method, u.balance_kopeks
       FROM subscriptions s JOIN transactions t ON t.user_id = s.user_id JOIN users u ON u.id = s.user_id WHERE s.id = $1::int`,
      [subscriptionId],
    );
    expect(row).toEqual({
      connectedSquads: [server.uuid],
      trafficResetAt: null,
      provisionResetTraffic: true,
      balanceKopeks: 0,
      type: 'subscription_payment',
      amountKopeks: 0,
      paymentMethod: 'balance',
    });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('keeps used traffic when the setting says so, and a trial on a tariff for trials', async () => {
    const { app: keeping } = await testApp({ environment: { RESET_TRAFFIC_ON_TARIFF_SWITCH: 'false' }, clock });
    await app.db.sql('UPDATE tariffs SET is_trial_available = false RETURNING id');
    const tariffId = await aTariff(app, { is_trial_available: true });
    const { id } = await holder({ is_trial: true, traffic_used_gb: 8 });
    expect((await act(id, 'change_tariff', { tariffId }, keeping)).subscription).toMatchObject({
      isTrial: true,
      trafficUsedGb: 8,
    });
  });

  test('refuses without or with an unknown tariff', async () => {
    const { id } = await holder();
    await expect(act(id, 'change_tariff')).rejects.toMatchObject({ status: 400, detail: 'tariff_id parameter is required' });
    const unknown = act(id, 'change_tariff', { tariffId: 9_007_199_254_740_991 });
    await expect(unknown).rejects.toMatchObject({ status: 404, detail: 'Tariff not found' });
  });
});

describe('traffic', () => {
  test('set_traffic sets the limit, the used traffic, or both', async () => {
    const { id } = await holder({ traffic_used_gb: 3 });
    expect((await act(id, 'set_traffic', { trafficLimitGb: 10 })).subscription).toMatchObject({
      trafficLimitGb: 10,
      trafficUsedGb: 3,
    });
    expect((await act(id, 'set_traffic', { trafficUsedGb: 1.5 })).subscription).toMatchObject({
      trafficLimitGb: 10,
      trafficUsedGb: 1.5,
    });
    const limited = await holder({ status: 'limited', traffic_used_gb: 100 });
    expect((await act(limited.id, 'set_traffic', { trafficLimitGb: 90 })).subscription.status).toBe('limited');
    expect((await act(limited.id, 'set_traffic', { trafficLimitGb: 200 })).subscription.status).toBe('active');
  });

  test('add_traffic adds a package for 30 days and starts what has stopped', async () => {
    const { id, subscriptionId } = await holder({ status: 'limited' });
    await aPurchase(subscriptionId, 5, inDays(2));
    const { subscription } = await act(id, 'add_traffic', { trafficGb: 30 });
    expect(subscription).toMatchObject({ status: 'active', trafficLimitGb: 130, purchasedTrafficGb: 30 });
    expect(
      subscription.trafficPurchases.map((purchase) => [purchase.trafficGb, purchase.daysRemaining, purchase.isExpired]),
    ).toEqual([
      [30, 30, false],
      [5, 2, false],
    ]);
    const row = await rowOf(app, 'SELECT traffic_reset_at FROM subscriptions WHERE id = $1::int', [subscriptionId]);
    expect(row).toEqual({ trafficResetAt: inDays(2) });
    const over = await holder({ status: 'expired', end_date: inDays(-1) });
    expect((await act(over.id, 'add_traffic', { trafficGb: 1 })).subscription.status).toBe('expired');
    await expect(act(id, 'add_traffic')).rejects.toMatchObject({
      status: 400,
      detail: 'traffic_gb parameter is required for add_traffic action',
    });
  });

  test('an unlimited subscription stays unlimited', async () => {
    const { id } = await holder({ traffic_limit_gb: 0 });
    expect((await act(id, 'add_traffic', { trafficGb: 30 })).subscription).toMatchObject({
      trafficLimitGb: 0,
      trafficPurchases: [],
    });
  });

  test('remove_traffic takes a package away, and a finite limit never becomes unlimited', async () => {
    const { id, subscriptionId } = await holder({ traffic_limit_gb: 30, purchased_traffic_gb: 30 });
    const [first, second] = [await aPurchase(subscriptionId, 10, inDays(3)), await aPurchase(subscriptionId, 20, inDays(9))];
    const { subscription } = await act(id, 'remove_traffic', { trafficPurchaseId: first });
    expect(subscription).toMatchObject({ trafficLimitGb: 20, purchasedTrafficGb: 20 });
    const row = await rowOf(app, 'SELECT traffic_reset_at FROM subscriptions WHERE id = $1::int', [subscriptionId]);
    expect(row).toEqual({ trafficResetAt: inDays(9) });
    const rest = await act(id, 'remove_traffic', { trafficPurchaseId: second });
    expect(rest.subscription).toMatchObject({ trafficLimitGb: 1, purchasedTrafficGb: 0, trafficPurchases: [] });
    await expect(act(id, 'remove_traffic', { trafficPurchaseId: second })).rejects.toMatchObject({
      status: 404,
      detail: 'Traffic purchase not found',
    });
    await expect(act(id, 'remove_traffic')).rejects.toMatchObject({
      status: 400,
      detail: 'traffic_purchase_id parameter is required for remove_traffic action',
    });
  });

  test('a package of another user is not found', async () => {
    const [mine, other] = [await holder(), await holder()];
    const trafficPurchaseId = await aPurchase(other.subscriptionId, 10, inDays(3));
    await expect(act(mine.id, 'remove_traffic', { trafficPurchaseId })).rejects.toMatchObject({ status: 404 });
    expect(await app.db.sql('SELECT id FROM traffic_purchases WHERE id = $1::int', [trafficPurchaseId])).toHaveLength(1);
  });
});

describe('the rest', () => {
  test('toggle_autopay alone does not reach the panel', async () => {
    const { id, subscriptionId } = await holder();
    expect((await act(id, 'toggle_autopay', { autopayEnabled: true })).subscription.autopayEnabled).toBe(true);
    expect((await act(id, 'toggle_autopay', { autopayEnabled: false })).subscription.autopayEnabled).toBe(false);
    expect(await jobsOf(app, 'subscriptionId', subscriptionId)).toEqual([]);
    await act(id, 'set_device_limit', { deviceLimit: 9 });
    expect(await jobsOf(app, 'subscriptionId', subscriptionId)).toEqual(['provisioning.push']);
    await expect(act(id, 'toggle_autopay')).rejects.toMatchObject({
      status: 400,
      detail: 'autopay_enabled parameter is required',
    });
  });

  test('set_device_limit', async () => {
    const { id } = await holder();
    expect((await act(id, 'set_device_limit', { deviceLimit: 7 })).subscription.deviceLimit).toBe(7);
    await expect(act(id, 'set_device_limit')).rejects.toMatchObject({
      status: 400,
      detail: 'device_limit parameter is required for set_device_limit action',
    });
  });

  test('an unknown action, and a user without subscription', async () => {
    const { id } = await holder();
    await expect(act(id, 'explode')).rejects.toMatchObject({ status: 400, detail: 'Unknown action: explode' });
    const without = (await aUser(app)).id;
    await expect(act(without, 'extend', { days: 1 })).rejects.toMatchObject({ status: 404, detail: 'User has no subscription' });
  });

  test('numbers that neither the database nor the panel can hold are 422', async () => {
    const { id } = await holder();
    const tooMuch: [string, Partial<ActionRequest>][] = [
      ['set_traffic', { trafficLimitGb: 3_000_000_000 }],
      ['set_traffic', { trafficUsedGb: 1e300 }],
      ['add_traffic', { trafficGb: 2_147_483_648 }],
      ['set_device_limit', { deviceLimit: 2_147_483_648 }],
    ];
    for (const [action, given] of tooMuch) await expect(act(id, action, given), action).rejects.toMatchObject({ status: 422 });
    for (let n = 0; n < 10; n++) await act(id, 'extend', { days: 3_600 });
    await expect(act(id, 'extend', { days: 3_650 })).rejects.toMatchObject({ status: 422 });
    expect((await act(id, 'cancel')).subscription.endDate.getTime()).toBeLessThan(clock.now().getTime() + DAY_MS);
  });
});
