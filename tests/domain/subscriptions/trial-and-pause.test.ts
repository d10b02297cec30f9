import { beforeAll, describe, expect, test } from 'vitest';
import type { UserActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { activateTrial } from '../../../src/domain/subscriptions/activate-trial.ts';
import { togglePause } from '../../../src/domain/subscriptions/daily.ts';
import { insufficientFundsForTrial } from '../../../src/domain/subscriptions/purchase/insufficient-funds.ts';
import { readTrialInfo } from '../../../src/domain/subscriptions/read-subscription.ts';
import { aBuyer, aMembership, aServer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let paid: App;
beforeAll(async () => {
  t = await testApp();
  const environment = { TRIAL_PAYMENT_ENABLED: 'true', TRIAL_ACTIVATION_PRICE: '1000' };
  paid = (await testApp({ environment, clock: t.clock })).app;
  await aServer(t.app, { is_trial_eligible: true });
});

const inDays = (days: number) => new Date(t.clock.now().getTime() + days * 86_400_000);
const trial = (app: App, buyer: UserActor, key: string | null = null) =>
  activateTrial(app, buyer, key, insufficientFundsForTrial);
const pause = (buyer: UserActor, key: string | null = null) => togglePause(t.app, buyer, key);
const stateOf = (buyer: UserActor) =>
  rowOf<Record<string, unknown>>(
    t.app,
    `SELECT u.balance_kopeks, u.has_had_paid_subscription AS paid, s.status, s.is_trial, s.end_date, s.is_daily_paused AS paused,
       s.last_daily_charge_at AS charged_at, (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type <> 'deposit') AS payments,
       s.provision_version AS pushes
     FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int`,
    [buyer.userId],
  );

describe('a trial', () => {
  test('starts free of charge, once, with nothing but the trial among what changed', async () => {
    const buyer = await aBuyer(t.app, 500);
    const info = await readTrialInfo(t.app, buyer);
    const started = await trial(t.app, buyer, 'trial');
    expect(started).toMatchObject({
      chargedKopeks: 0,
      durationDays: info.durationDays,
      subscription: {
        status: 'active',
        isTrial: true,
        endDate: inDays(3),
        trafficLimitGb: info.trafficLimitGb,
        deviceLimit: info.deviceLimit,
        connectedSquads: [expect.any(String)],
      },
    });
    expect(await trial(t.app, buyer, 'trial')).toEqual(started);
    expect(await stateOf(buyer)).toMatchObject({ balanceKopeks: 500, paid: false, payments: 0, pushes: 1 });
    const event = await rowOf<object>(t.app, 'SELECT event_type, extra FROM subscription_events WHERE user_id = $1::int', [
      buyer.userId,
    ]);
    expect(event).toMatchObject({ eventType: 'activation', extra: { charged_amount_kopeks: 0, trial_duration_days: 3 } });
    await expect(trial(t.app, buyer)).rejects.toMatchObject({
      status: 400,
      code: 'subscription_exists',
      detail: 'You already have an active subscription',
    });
  });

  test('spec 02 H7: a paid one without the fee leaves nothing behind', async () => {
    const poor = await aBuyer(t.app, 999);
    await expect(trial(paid, poor)).rejects.toMatchObject({ status: 400, detail: 'Insufficient balance. Need 10.00 RUB' });
    expect(await stateOf(poor)).toMatchObject({ balanceKopeks: 999, status: null, payments: 0 });
  });

  test('a paid one charges and starts together', async () => {
    const buyer = await aBuyer(t.app, 1_500);
    expect(await trial(paid, buyer)).toMatchObject({ chargedKopeks: 1_000, balanceKopeks: 500 });
    expect(await stateOf(buyer)).toMatchObject({ balanceKopeks: 500, paid: true, payments: 1, isTrial: true });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a pending order becomes the trial in place', async () => {
    const buyer = await aBuyer(t.app);
    const columns = { status: 'pending', is_trial: true, end_date: inDays(-1) };
    const id = await aStoredSubscription(t.app, buyer.userId, columns);
    expect(await trial(t.app, buyer)).toMatchObject({ subscription: { id, status: 'active', daysLeft: 3 } });
  });

  test.each([
    ['a lapsed grant', { status: 'expired', end_date: new Date(0) }, false, 'subscription_exists', 'Trial already used'],
    [
      'a used trial',
      { status: 'expired', is_trial: true, end_date: new Date(0) },
      false,
      'subscription_exists',
      'Trial already used',
    ],
    ['a payer without subscription', null, true, 'trial_expired', 'Trial already used'],
  ])('is refused to %s, as GET /trial says', async (_name, columns, hasPaid, code, detail) => {
    const buyer = await aBuyer(t.app);
    if (columns) await aStoredSubscription(t.app, buyer.userId, columns);
    if (hasPaid) {
      await t.app.db.sql('UPDATE users SET has_had_paid_subscription = true WHERE id = $1::int RETURNING id', [buyer.userId]);
    }
    expect(await readTrialInfo(t.app, buyer)).toMatchObject({ isAvailable: false, reasonUnavailable: detail });
    await expect(trial(t.app, buyer)).rejects.toMatchObject({ status: 400, code, detail });
  });

  test('is refused to account types without trials, and while trials have no length', async () => {
    const buyer = await aBuyer(t.app);
    const none = (await testApp({ environment: { TRIAL_DISABLED_FOR: 'messenger' }, clock: t.clock })).app;
    await expect(trial(none, buyer)).rejects.toMatchObject({ status: 400, code: 'trial_unavailable' });
    const off = (await testApp({ environment: { TRIAL_DURATION_DAYS: '0' }, clock: t.clock })).app;
    await expect(trial(off, buyer)).rejects.toMatchObject({ status: 400, code: 'trial_disabled' });
  });
});

describe('pause of a daily subscription', () => {
  async function daily(balance: number, columns: Record<string, unknown> = {}, tariff: Record<string, unknown> = {}) {
    const buyer = await aBuyer(t.app, balance);
    const tariff_id = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 2_000, period_prices: {}, ...tariff });
    await aStoredSubscription(t.app, buyer.userId, {
      tariff_id,
      end_date: inDays(0.5),
      last_daily_charge_at: inDays(-0.5),
      ...columns,
    });
    return buyer;
  }

  test('pausing and resuming a running one costs nothing and leaves the panel alone', async () => {
    const buyer = await daily(2_000);
    expect(await pause(buyer)).toMatchObject({ isPaused: true, balanceKopeks: 2_000, balanceLabel: '20 ₽' });
    expect(await pause(buyer)).toMatchObject({ isPaused: false, balanceKopeks: 2_000 });
    expect(await stateOf(buyer)).toMatchObject({ paused: false, payments: 0, pushes: 0, endDate: inDays(0.5) });
  });

  test('resuming takes a day on the balance, at the price the daily charge has', async () => {
    const buyer = await daily(1_999, { is_daily_paused: true });
    await expect(pause(buyer)).rejects.toMatchObject({
      status: 402,
      detail: { code: 'insufficient_balance', required: 2_000, balance: 1_999 },
    });
    await aMembership(t.app, buyer.userId, { period_discounts: { 1: 10 } });
    expect(await pause(buyer)).toMatchObject({ isPaused: false });
  });

  test('spec 02 H22: a stopped one is charged and runs again in one step', async () => {
    const buyer = await daily(5_000, { status: 'disabled', end_date: inDays(-2) });
    const answer = await pause(buyer, 'resume');
    expect(answer).toMatchObject({ isPaused: false, balanceKopeks: 3_000 });
    expect(await pause(buyer, 'resume')).toEqual(answer);
    expect(await stateOf(buyer)).toMatchObject({
      status: 'active',
      endDate: inDays(1),
      chargedAt: t.clock.now(),
      payments: 1,
      pushes: 1,
      paid: true,
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('spec 02 H22: time left is kept (H10)', async () => {
    const limited = await daily(5_000, { status: 'limited', end_date: inDays(2) });
    await pause(limited);
    expect(await stateOf(limited)).toMatchObject({ status: 'active', endDate: inDays(3) });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a stopped one stays stopped without the price of a day', async () => {
    const poor = await daily(1_999, { status: 'expired', end_date: inDays(-2) });
    await expect(pause(poor)).rejects.toMatchObject({ status: 402 });
    expect(await stateOf(poor)).toMatchObject({ status: 'expired', payments: 0 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test.each([
    ['false', 1],
    ['true', 3],
  ])(
    'spec 02 H8: a trial that pays for a day has days from now with TRIAL_ADD_REMAINING_DAYS_TO_PAID %s: %i',
    async (setting, days) => {
      const { app } = await testApp({ environment: { TRIAL_ADD_REMAINING_DAYS_TO_PAID: setting }, clock: t.clock });
      const buyer = await daily(5_000, { status: 'limited', end_date: inDays(2), is_trial: true });
      await togglePause(app, buyer, null);
      expect(await stateOf(buyer)).toMatchObject({ status: 'active', endDate: inDays(days), isTrial: false });
    },
  );

  test('a paused one that ran out is no free day', async () => {
    const buyer = await daily(5_000, { is_daily_paused: true, end_date: inDays(-1) });
    expect(await pause(buyer)).toMatchObject({ balanceKopeks: 3_000 });
    expect(await stateOf(buyer)).toMatchObject({ endDate: inDays(1) });
  });

  test('refusals', async () => {
    await expect(pause(await aBuyer(t.app))).rejects.toMatchObject({ status: 404, detail: 'No subscription found' });
    const classicHolder = await aBuyer(t.app);
    await aStoredSubscription(t.app, classicHolder.userId);
    await expect(pause(classicHolder)).rejects.toMatchObject({ status: 400, detail: 'Subscription has no tariff' });
    const periodic = await daily(0, {}, { is_daily: false });
    await expect(pause(periodic)).rejects.toMatchObject({ status: 400, detail: 'Pause is only available for daily tariffs' });
    const unpriced = await daily(0, { status: 'disabled' }, { daily_price_kopeks: 0 });
    await expect(pause(unpriced)).rejects.toMatchObject({ status: 400, code: 'daily_price_invalid' });
    const restricted = await daily(9_000, { status: 'disabled' });
    await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [restricted.userId]);
    await expect(pause(restricted)).rejects.toMatchObject({ status: 403 });
  });
});
