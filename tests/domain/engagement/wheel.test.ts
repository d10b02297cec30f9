import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { spinWheel } from '../../../src/domain/engagement/wheel/spin-wheel.ts';
import type { PrizeFields, SpinPayment, WonPrize } from '../../../src/domain/engagement/wheel/types.ts';
import { changePrize, changeWheel, readWheel, readWheelForm } from '../../../src/domain/engagement/wheel/wheel.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { activatePromocode } from '../../../src/domain/promo/codes/activate-promocode.ts';
import { deletePromocode } from '../../../src/domain/promo/codes/promocodes.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { aWheel, wheelFacts } from '../../support/wheel-samples.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const PRICE = 1_300;
const spin = (userId: number, payment: SpinPayment = 'messenger_stars', key: string | null = null) =>
  spinWheel(t.app, { kind: 'user', userId }, payment, key);

async function won(userId: number, payment?: SpinPayment): Promise<WonPrize> {
  const outcome = await spin(userId, payment);
  if (!outcome.isSuccess) throw new Error(outcome.error);
  return outcome.won;
}

/** A user with the price of a spin, and the only prize of the wheel. */
async function winner(prize: Partial<PrizeFields>, subscription: Record<string, unknown> | null = null) {
  await aWheel(t.app, [{ displayName: 'Only', ...prize }]);
  const { userId } = await aBuyer(t.app, PRICE);
  const subscriptionId = subscription && (await aStoredSubscription(t.app, userId, subscription));
  return { userId, subscriptionId };
}

/** A prize from before its values were checked, and a user who can win it. */
async function aWorthlessCode(prizeValueKopeks: number) {
  const made = await winner({ prizeType: 'promocode', promoBalanceBonusKopeks: 300, prizeValueKopeks });
  const [prize] = await t.app.db.sql<{ id: number }>('UPDATE wheel_prizes SET promo_balance_bonus_kopeks = 0 RETURNING id');
  return { ...made, prizeId: prize!.id };
}

const subscriptionOf = (userId: number) =>
  rowOf<{ status: string; endDate: Date; trafficLimitGb: number; provisionState: string }>(
    t.app,
    'SELECT status, end_date, traffic_limit_gb, provision_state FROM subscriptions WHERE user_id = $1::int',
    [userId],
  );

describe('availability (13.2)', () => {
  const see = async (userId: number) => (await readWheel(t.app, { kind: 'user', userId })).availability;
  const closed = {
    spinsRemaining: 0,
    canPayStars: false,
    canPayDays: false,
    minSubscriptionDays: 0,
    userSubscriptionDays: 0,
    userBalanceKopeks: 0,
    requiredBalanceKopeks: 0,
  };

  test('names the first reason in the documented order', async () => {
    const { userId } = await aBuyer(t.app, PRICE);
    await aWheel(t.app, [{}], { isEnabled: false });
    expect(await see(userId)).toEqual({ reason: 'wheel_disabled', ...closed });
    await aWheel(t.app, [{ isActive: false }]);
    expect(await see(userId)).toEqual({ reason: 'no_prizes_configured', ...closed });
    const poor = await aBuyer(t.app, PRICE - 1);
    // Money comes before prizes.
    expect(await see(poor.userId)).toMatchObject({ reason: 'insufficient_balance', requiredBalanceKopeks: PRICE });
    await aWheel(t.app, [{}], { spinCostStarsEnabled: false });
    expect(await see(poor.userId)).toMatchObject({ reason: 'no_payment_method_available', canPayStars: false });
    await aWheel(t.app, [{}], { dailySpinLimit: 1 });
    expect(await see(userId)).toMatchObject({ reason: null, spinsRemaining: 1, canPayStars: true, canPayDays: false });
    await won(userId);
    expect(await see(userId)).toEqual({ reason: 'daily_limit_reached', ...closed });
    await aWheel(t.app, [{}], { dailySpinLimit: 0 });
    expect(await see(poor.userId)).toMatchObject({ spinsRemaining: 999 });
  });

  test('days can pay while the minimum and the price remain', async () => {
    await aWheel(t.app, [{}], { spinCostDays: 2 });
    const { userId } = await aBuyer(t.app);
    const id = await aStoredSubscription(t.app, userId, { end_date: addDays(t.app.clock.now(), 5) });
    expect(await see(userId)).toMatchObject({ reason: null, canPayDays: true, userSubscriptionDays: 5, minSubscriptionDays: 3 });
    await t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE id = $1::int RETURNING id', [
      id,
      addDays(t.app.clock.now(), 4.99),
    ]);
    expect(await see(userId)).toMatchObject({ reason: 'insufficient_balance', canPayDays: false, userSubscriptionDays: 4 });
  });

  test('the price is cut to whole kopeks in decimal arithmetic', async () => {
    const odd = await testApp({ environment: { MESSENGER_STARS_RATE_RUB: '1.1' } });
    await aWheel(t.app, [{}], { spinCostStars: 3 });
    const { userId } = await aBuyer(t.app);
    // 3 · 1.1 · 100 is 330.00000000000006 in doubles, 329.99… for other factors.
    const view = await readWheel(odd.app, { kind: 'user', userId });
    expect(view.availability.requiredBalanceKopeks).toBe(330);
  });
});

describe('prizes (13.4)', () => {
  test('money', async () => {
    const { userId } = await winner({ prizeType: 'balance_bonus', prizeValue: 700, prizeValueKopeks: 700 });
    expect(await won(userId)).toMatchObject({ prizeType: 'balance_bonus', prizeValue: 700, promocode: null });
    expect(await wheelFacts(t.app, userId)).toMatchObject({ balance: 700, spins: 1, debits: 1, credits: 1 });
    const row = await rowOf(
      t.app,
      `SELECT payment_type, payment_amount, payment_value_kopeks, is_applied, debit_transaction_id IS NOT NULL AS debited,
         prize_transaction_id IS NOT NULL AS credited FROM wheel_spins WHERE user_id = $1::int`,
      [userId],
    );
    expect(row).toEqual({
      paymentType: 'messenger_stars',
      paymentAmount: 10,
      paymentValueKopeks: PRICE,
      isApplied: true,
      debited: true,
      credited: true,
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('days count from the end, or from now where it has ended, and the panel follows', async () => {
    const days = { prizeType: 'subscription_days', prizeValue: 4, prizeValueKopeks: 500 } as const;
    const now = t.app.clock.now();
    const running = await winner(days, { end_date: addDays(now, 10), provision_state: 'synced' });
    await won(running.userId);
    expect(await subscriptionOf(running.userId)).toMatchObject({ endDate: addDays(now, 14), provisionState: 'pending' });
    const ended = await winner(days, { end_date: addDays(now, -10), status: 'expired' });
    await won(ended.userId);
    expect(await subscriptionOf(ended.userId)).toMatchObject({ endDate: addDays(now, 4), status: 'active' });
  });

  test('days become money for a daily tariff and without a subscription', async () => {
    const days = { prizeType: 'subscription_days', prizeValue: 4, prizeValueKopeks: 500 } as const;
    const daily = await winner(days, { tariff_id: await aTariff(t.app, { is_daily: true, daily_price_kopeks: 250 }) });
    await won(daily.userId);
    expect((await wheelFacts(t.app, daily.userId)).balance).toBe(1_000);
    const free = await winner(days, { tariff_id: await aTariff(t.app, { is_daily: true, daily_price_kopeks: 0 }) });
    await won(free.userId);
    expect((await wheelFacts(t.app, free.userId)).balance).toBe(500);
    const none = await winner(days);
    await won(none.userId);
    expect((await wheelFacts(t.app, none.userId)).balance).toBe(500);
  });

  test('traffic for a limited subscription, else money', async () => {
    const traffic = { prizeType: 'traffic_gb', prizeValue: 15, prizeValueKopeks: 900 } as const;
    const limited = await winner(traffic, { traffic_limit_gb: 100 });
    await won(limited.userId);
    expect(await subscriptionOf(limited.userId)).toMatchObject({ trafficLimitGb: 115, provisionState: 'pending' });
    const unlimited = await winner(traffic, { traffic_limit_gb: 0 });
    await won(unlimited.userId);
    expect(await subscriptionOf(unlimited.userId)).toMatchObject({ trafficLimitGb: 0 });
    expect((await wheelFacts(t.app, unlimited.userId)).balance).toBe(900);
  });

  test('a promo code for one use, whose deletion leaves the spin (spec 04 section 13.7)', async () => {
    const { userId } = await winner({ prizeType: 'promocode', promoBalanceBonusKopeks: 300 });
    const { promocode } = await won(userId);
    expect(promocode).toMatch(/^WHEEL[0-9A-F]{8}$/);
    const code = await rowOf<Record<string, unknown>>(
      t.app,
      'SELECT id, type, balance_bonus_kopeks, max_uses, current_uses, valid_until, created_by, is_active FROM promocodes WHERE code = $1',
      [promocode],
    );
    expect(code).toMatchObject({
      type: 'balance',
      balanceBonusKopeks: 300,
      maxUses: 1,
      currentUses: 0,
      validUntil: addDays(t.app.clock.now(), 7),
      createdBy: userId,
      isActive: true,
    });
    await deletePromocode(t.app, { kind: 'system', name: 'test' }, code!.id as number);
    expect(await rowOf(t.app, 'SELECT generated_promocode_id AS id FROM wheel_spins WHERE user_id = $1::int', [userId])).toEqual({
      id: null,
    });
    const days = await winner({ prizeType: 'promocode', promoSubscriptionDays: 3, promoBalanceBonusKopeks: 300 });
    const other = await won(days.userId);
    expect(await rowOf(t.app, 'SELECT type, subscription_days FROM promocodes WHERE code = $1', [other.promocode])).toEqual({
      type: 'subscription_days',
      subscriptionDays: 3,
    });
  });

  test('a stored promo code that would give nothing is paid in money', async () => {
    for (const [kopeks, paid] of [
      [500, 500],
      [0, 0],
    ] as const) {
      const { userId } = await aWorthlessCode(kopeks);
      expect((await won(userId)).promocode).toBeNull();
      expect(await rowOf(t.app, 'SELECT 1 AS one FROM promocodes WHERE created_by = $1::int', [userId])).toBeUndefined();
      expect(await wheelFacts(t.app, userId)).toMatchObject({ balance: paid, spins: 1, credits: paid > 0 ? 1 : 0 });
    }
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('days of a stored promo code beyond the bound are reduced to it', async () => {
    const { userId } = await winner({ prizeType: 'promocode', promoSubscriptionDays: 3 });
    await t.app.db.sql('UPDATE wheel_prizes SET promo_subscription_days = 2000000 RETURNING id');
    const { promocode } = await won(userId);
    expect(await rowOf(t.app, 'SELECT subscription_days AS days FROM promocodes WHERE code = $1', [promocode])).toEqual({
      days: 36_500,
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a promo code can be activated whatever its prefix is, and fits into the column', async () => {
    for (const promoPrefix of [' Gift ', ' ', 'ΐ'.repeat(20)]) {
      const { userId } = await winner({ prizeType: 'promocode', promoBalanceBonusKopeks: 300 });
      await changeWheel(t.app, { promoPrefix });
      const { promocode } = await won(userId);
      const before = (await wheelFacts(t.app, userId)).balance;
      await activatePromocode(t.app, { kind: 'user', userId }, promocode!, null);
      expect((await wheelFacts(t.app, userId)).balance).toBe(before + 300);
    }
  });
});

describe('payment (13.4, 13.7)', () => {
  test('days are taken once, valued by the price of 30 days', async () => {
    const tariffId = await aTariff(t.app, { period_prices: { 30: 10_000 } });
    const { userId } = await winner({}, { end_date: addDays(t.app.clock.now(), 6), tariff_id: tariffId });
    await won(userId, 'subscription_days');
    expect(await wheelFacts(t.app, userId)).toMatchObject({ balance: PRICE, spins: 1, debits: 0 });
    expect((await subscriptionOf(userId)).endDate).toEqual(addDays(t.app.clock.now(), 5));
    const row = await rowOf(t.app, 'SELECT payment_amount, payment_value_kopeks FROM wheel_spins WHERE user_id = $1::int', [
      userId,
    ]);
    expect(row).toEqual({ paymentAmount: 1, paymentValueKopeks: 333 });
  });

  test('the unavailable payment type is refused with its own reason', async () => {
    const { userId } = await winner({});
    expect(await spin(userId, 'subscription_days')).toMatchObject({ isSuccess: false, error: 'cannot_pay_days' });
    const { userId: poor } = await aBuyer(t.app);
    await aStoredSubscription(t.app, poor, { end_date: addDays(t.app.clock.now(), 9) });
    expect(await spin(poor)).toMatchObject({ isSuccess: false, error: 'cannot_pay_stars', message: expect.stringMatching(/\S/) });
    expect(await wheelFacts(t.app, poor)).toMatchObject({ balance: 0, spins: 0, debits: 0 });
  });

  test('a spin that cannot be recorded changes nothing', async () => {
    const { userId } = await winner({ prizeType: 'balance_bonus', prizeValue: 700, prizeValueKopeks: 700 });
    await t.app.db.sql('ALTER TABLE wheel_spins ADD CONSTRAINT test_no_spin CHECK (user_id = 0) NOT VALID');
    try {
      expect(await spin(userId)).toMatchObject({ isSuccess: false, error: 'internal_error' });
    } finally {
      await t.app.db.sql('ALTER TABLE wheel_spins DROP CONSTRAINT test_no_spin');
    }
    expect(await wheelFacts(t.app, userId)).toMatchObject({ balance: PRICE, spins: 0, debits: 0, credits: 0 });
  });

  test('a repeated key gets the same result and pays once', async () => {
    await aWheel(t.app, [{}, {}, {}]);
    const { userId } = await aBuyer(t.app, 3 * PRICE);
    const first = await spin(userId, 'messenger_stars', 'one');
    expect(await spin(userId, 'messenger_stars', 'one')).toEqual(first);
    expect(await wheelFacts(t.app, userId)).toMatchObject({ balance: 2 * PRICE, spins: 1 });
    await expect(spin(userId, 'subscription_days', 'one')).rejects.toMatchObject({ status: 422 });
  });

  test('the limit counts since midnight UTC', async () => {
    await aWheel(t.app, [{}], { dailySpinLimit: 2 });
    const { userId } = await aBuyer(t.app, 3 * PRICE);
    await won(userId);
    await t.app.db.sql(
      `UPDATE wheel_spins SET created_at = date_trunc('day', $2::timestamptz AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '1 millisecond'
       WHERE user_id = $1::int RETURNING id`,
      [userId, t.app.clock.now()],
    );
    await won(userId);
    await won(userId);
    expect(await spin(userId)).toMatchObject({ error: 'daily_limit_reached' });
  });
});

describe('administration (13.6)', () => {
  test('null clears a manual probability, absence leaves it', async () => {
    const [prize] = await aWheel(t.app, [{ manualProbability: 0.4 }]);
    expect(await changePrize(t.app, prize!.id, { displayName: 'New' })).toMatchObject({
      manualProbability: 0.4,
      displayName: 'New',
    });
    expect(await changePrize(t.app, prize!.id, { manualProbability: null })).toMatchObject({ manualProbability: null });
    await expect(changePrize(t.app, prize!.id, {})).rejects.toMatchObject({ status: 400, detail: 'No fields to update' });
    const unknown = changePrize(t.app, 2_000_000_000, { displayName: 'New' });
    await expect(unknown).rejects.toMatchObject({ status: 404, detail: 'Prize not found' });
  });

  test('a promo code that would give nothing is refused as a prize, whichever field causes it', async () => {
    const refused = {
      status: 422,
      issues: [{ loc: ['body', 'promo_balance_bonus_kopeks'], type: 'value_error', input: 0 }],
    };
    await expect(aWheel(t.app, [{ prizeType: 'promocode' }])).rejects.toMatchObject(refused);
    const [nothing, money, days] = await aWheel(t.app, [
      {},
      { prizeType: 'promocode', promoBalanceBonusKopeks: 300 },
      { prizeType: 'promocode', promoSubscriptionDays: 3 },
    ]);
    await expect(changePrize(t.app, nothing!.id, { prizeType: 'promocode' })).rejects.toMatchObject(refused);
    await expect(changePrize(t.app, money!.id, { promoBalanceBonusKopeks: 0 })).rejects.toMatchObject(refused);
    await expect(changePrize(t.app, days!.id, { promoSubscriptionDays: 0 })).rejects.toMatchObject(refused);
    // The other value is enough, and other prizes need neither.
    await changePrize(t.app, money!.id, { promoBalanceBonusKopeks: 0, promoSubscriptionDays: 2 });
    await changePrize(t.app, nothing!.id, { prizeType: 'promocode', promoBalanceBonusKopeks: 100 });
    await changePrize(t.app, days!.id, { prizeType: 'nothing', promoSubscriptionDays: 0 });
  });

  test('a stored promo code without value can still be renamed and deactivated', async () => {
    const { prizeId } = await aWorthlessCode(500);
    expect(await changePrize(t.app, prizeId, { displayName: 'Old', isActive: false })).toMatchObject({ isActive: false });
  });

  test('the days of a promo code are bounded as those of every code', async () => {
    const tooLong = { issues: [{ loc: ['body', 'promo_subscription_days'], type: 'less_than_equal', ctx: { le: 36_500 } }] };
    await expect(aWheel(t.app, [{ prizeType: 'promocode', promoSubscriptionDays: 36_501 }])).rejects.toMatchObject(tooLong);
    const [prize] = await aWheel(t.app, [{ prizeType: 'promocode', promoSubscriptionDays: 36_500 }]);
    await expect(changePrize(t.app, prize!.id, { promoSubscriptionDays: 36_501 })).rejects.toMatchObject(tooLong);
  });

  test('the expected payout is shown, also where it differs from the setting', async () => {
    await aWheel(t.app, [{ prizeValueKopeks: 5_000 }, {}]);
    expect((await readWheelForm(t.app)).expectedRtpPercent).toBeCloseTo(66.23, 1);
    await aWheel(t.app, [{ prizeValueKopeks: 5_000 }, { prizeValueKopeks: 8_000 }, {}]);
    expect((await readWheelForm(t.app)).expectedRtpPercent).toBe(80);
    await aWheel(t.app, []);
    expect((await readWheelForm(t.app)).expectedRtpPercent).toBeNull();
  });
});
