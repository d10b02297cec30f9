import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExtendContext, type ExtendInput, extendSubscription } from '../../../src/domain/subscriptions/rules/terms.ts';
import type { Subscription, SubscriptionSettings, SubscriptionStatus } from '../../../src/domain/subscriptions/types.ts';
import { aSubscription, inDays, NOW, subscriptionSettings } from './samples.ts';

const TARIFF = { id: 7, isDaily: false };
const DAILY = { id: 8, isDaily: true };

function extend(
  subscription: Partial<Subscription>,
  input: Partial<ExtendInput>,
  settings: Partial<SubscriptionSettings> = {},
  context: Partial<ExtendContext> = {},
) {
  return extendSubscription(
    aSubscription(subscription),
    { days: 30, isPaid: true, ...input },
    {
      now: NOW,
      settings: subscriptionSettings(settings),
      pricing: { trafficSelectionMode: 'selectable', fixedTrafficLimitGb: 100 },
      isCurrentTariffDaily: false,
      ...context,
    },
  );
}

describe('extend: dates', () => {
  it('adds days to the end while time is left', () => {
    expect(extend({}, {}).changes).toEqual({ endDate: inDays(40) });
    expect(extend({ status: 'disabled' }, {}).changes).toMatchObject({ endDate: inDays(40), status: 'active' });
  });

  it('starts from now when it is over', () => {
    expect(extend({ endDate: inDays(-5) }, {}).changes.endDate).toEqual(inDays(30));
    expect(extend({ endDate: NOW }, {}).changes.endDate).toEqual(inDays(30));
  });

  it('takes days back', () => {
    const { changes } = extend({}, { days: -4, isPaid: false });
    expect(changes).toEqual({ endDate: inDays(6) });
    expect(extend({ endDate: inDays(-1), status: 'expired' }, { days: -4 }).changes).toEqual({ endDate: inDays(-5) });
  });

  it('leaves the date alone for 0 days', () => {
    expect(extend({ endDate: inDays(-1), status: 'expired' }, { days: 0 }).changes).toEqual({});
  });

  it('starts again on a tariff change and keeps what was paid', () => {
    const result = extend({ tariffId: 3, endDate: inDays(10.5) }, { tariff: TARIFF });
    expect(result.isTariffChange).toBe(true);
    expect(result.changes).toMatchObject({ startDate: NOW, endDate: inDays(40.5), tariffId: 7 });
    expect(extend({ tariffId: null }, { tariff: TARIFF }).isTariffChange).toBe(true);
    expect(extend({ tariffId: 3, endDate: inDays(-2) }, { tariff: TARIFF }).changes.endDate).toEqual(inDays(30));
  });

  it('keeps the start date on the same tariff', () => {
    const result = extend({ tariffId: 7 }, { tariff: TARIFF });
    expect(result.isTariffChange).toBe(false);
    expect(result.changes.startDate).toBeUndefined();
    expect(result.changes.endDate).toEqual(inDays(40));
  });

  it('remembers the date before', () => {
    expect(extend({}, {}).previousEndDate).toEqual(inDays(10));
  });
});

describe('extend: status', () => {
  it.each<SubscriptionStatus>(['expired', 'disabled', 'limited', 'trial'])('turns %s active for days', (status) => {
    expect(extend({ status }, {}).changes.status).toBe('active');
    expect(extend({ status }, { days: -1 }).changes.status).toBeUndefined();
    expect(extend({ status }, { days: 0 }).changes.status).toBeUndefined();
  });

  it('leaves an active one as it is', () => {
    expect(extend({}, {}).changes.status).toBeUndefined();
  });

  it('activates a pending order only for money, from now on', () => {
    expect(extend({ status: 'pending' }, { isPaid: false }).changes).toEqual({ endDate: inDays(40) });
    expect(extend({ status: 'pending' }, { isPaid: true }).changes).toMatchObject({
      status: 'active',
      startDate: NOW,
      endDate: inDays(30),
    });
  });

  it.each<[SubscriptionStatus, number, boolean]>([
    ['active', 1, false],
    ['active', -1, true],
    ['active', 0, true],
    ['expired', 1, true],
    ['disabled', 1, true],
    ['limited', 1, true],
    ['trial', 1, false],
  ])('%s with %d days left: was expired %s', (status, days, wasExpired) => {
    expect(extend({ status, endDate: inDays(days) }, {}).wasExpired).toBe(wasExpired);
  });
});

describe('extend: trials (spec 02 H8)', () => {
  const trial: Partial<Subscription> = { isTrial: true, endDate: inDays(2) };

  it('becomes paid by a paid renewal, once, without the remainder', () => {
    const result = extend(trial, {});
    expect(result.isTrialConversion).toBe(true);
    expect(result.changes).toMatchObject({ isTrial: false, startDate: NOW, endDate: inDays(30) });
  });

  it('adds the remainder exactly once when the setting says so', () => {
    const keep = { trialAddRemainingDaysToPaid: true };
    expect(extend(trial, {}, keep).changes.endDate).toEqual(inDays(32));
    expect(extend({ ...trial, tariffId: 3 }, { tariff: TARIFF }, keep).changes.endDate).toEqual(inDays(32));
    expect(extend({ ...trial, tariffId: 7 }, { tariff: TARIFF }, keep).changes.endDate).toEqual(inDays(32));
  });

  it('drops the remainder on a tariff purchase without the setting, also of the same tariff', () => {
    expect(extend({ ...trial, tariffId: 3 }, { tariff: TARIFF }).changes.endDate).toEqual(inDays(30));
    expect(extend({ ...trial, tariffId: 7 }, { tariff: TARIFF }).changes.endDate).toEqual(inDays(30));
  });

  it('stays a trial when days are given for nothing', () => {
    const result = extend(trial, { days: 5, isPaid: false });
    expect(result.isTrialConversion).toBe(false);
    expect(result.changes).toEqual({ endDate: inDays(7) });
  });

  it('ends with a granted tariff, without a conversion', () => {
    const result = extend(trial, { tariff: TARIFF, isPaid: false });
    expect(result.changes.isTrial).toBe(false);
    expect(result.isTrialConversion).toBe(false);
  });

  it('converts nothing that is not a trial', () => {
    expect(extend({}, {}).isTrialConversion).toBe(false);
  });
});

describe('extend: traffic', () => {
  const bought: Partial<Subscription> = { tariffId: 7, trafficLimitGb: 120, purchasedTrafficGb: 20, trafficResetAt: inDays(5) };

  it('keeps purchases on the same tariff in time', () => {
    const result = extend(bought, { tariff: TARIFF, trafficGb: 200 });
    expect(result.dropsPurchases).toBe(false);
    expect(result.changes).toMatchObject({ trafficUsedGb: 0, trafficLimitGb: 220 });
    expect(result.changes.purchasedTrafficGb).toBeUndefined();
  });

  it('stays unlimited on the same tariff with purchases', () => {
    expect(extend(bought, { tariff: TARIFF, trafficGb: 0 }).changes.trafficLimitGb).toBe(0);
  });

  it.each([
    ['on a tariff change', { tariffId: 3 }],
    ['when it had ended', { tariffId: 7, endDate: inDays(-1) }],
    ['when it was stopped', { tariffId: 7, status: 'disabled' as const }],
  ])('drops purchases %s', (_when, fields) => {
    const result = extend({ ...bought, ...fields }, { tariff: TARIFF, trafficGb: 200 });
    expect(result.dropsPurchases).toBe(true);
    expect(result.changes).toMatchObject({ trafficLimitGb: 200, purchasedTrafficGb: 0, trafficResetAt: null });
  });

  it('keeps the used traffic on a tariff change only when the setting says so', () => {
    const change = { tariff: TARIFF, trafficGb: 200 };
    expect(extend({ tariffId: 3 }, change).changes.trafficUsedGb).toBe(0);
    expect(extend({ tariffId: 3 }, change, { resetTrafficOnTariffSwitch: false }).changes.trafficUsedGb).toBeUndefined();
    expect(extend({ tariffId: 7 }, change, { resetTrafficOnTariffSwitch: false }).changes.trafficUsedGb).toBe(0);
  });

  it('touches no traffic in a plain renewal', () => {
    const result = extend(bought, {});
    expect(result.dropsPurchases).toBe(false);
    expect(Object.keys(result.changes)).toEqual(['endDate']);
  });

  it('resets the used traffic with payments, and drops purchases of classic or ended ones', () => {
    const reset = { resetTrafficOnPayment: true };
    expect(extend(bought, {}, reset)).toMatchObject({ dropsPurchases: false, changes: { trafficUsedGb: 0 } });
    const dropped = { dropsPurchases: true, changes: { trafficUsedGb: 0, purchasedTrafficGb: 0, trafficResetAt: null } };
    expect(extend({ ...bought, tariffId: null }, {}, reset)).toMatchObject(dropped);
    expect(extend({ ...bought, endDate: inDays(-1) }, {}, reset)).toMatchObject(dropped);
    expect(extend({ ...bought, tariffId: null }, {}, reset).changes.trafficLimitGb).toBeUndefined();
  });

  it.each(['fixed', 'fixed_with_topup'] as const)('sets the fixed limit of a classic one in mode %s', (trafficSelectionMode) => {
    const fixed = { pricing: { trafficSelectionMode, fixedTrafficLimitGb: 50 } };
    const dropped = { trafficLimitGb: 50, purchasedTrafficGb: 0, trafficResetAt: null };
    expect(extend({ ...bought, tariffId: null }, {}, {}, fixed)).toMatchObject({ dropsPurchases: true, changes: dropped });
    expect(extend(bought, {}, {}, fixed).changes.trafficLimitGb).toBeUndefined();
    expect(extend({ tariffId: null }, { days: -1 }, {}, fixed).changes.trafficLimitGb).toBeUndefined();
    expect(extend({ tariffId: null }, { trafficGb: 80 }, {}, fixed).changes.trafficLimitGb).toBe(80);
  });
});

describe('extend: devices, squads, daily fields', () => {
  it('sets devices only when given', () => {
    expect(extend({}, { deviceLimit: 4 }).changes.deviceLimit).toBe(4);
    expect(extend({}, {}).changes.deviceLimit).toBeUndefined();
  });

  it('never overwrites squads with nothing', () => {
    expect(extend({}, { squads: ['b', 'c'] }).changes.connectedSquads).toEqual(['b', 'c']);
    expect(extend({}, { squads: [] }).changes.connectedSquads).toBeUndefined();
    expect(extend({ connectedSquads: [] }, { squads: [] }).changes.connectedSquads).toEqual([]);
  });

  it('clears the daily fields into and out of a daily tariff only', () => {
    const cleared = { isDailyPaused: false, lastDailyChargeAt: null };
    expect(extend({ tariffId: 3 }, { tariff: DAILY, days: 1 }).changes).toMatchObject(cleared);
    expect(extend({ tariffId: 8 }, { tariff: TARIFF }, {}, { isCurrentTariffDaily: true }).changes).toMatchObject(cleared);
    expect(extend({ tariffId: 3 }, { tariff: TARIFF }).changes).not.toHaveProperty('isDailyPaused');
    const same = extend({ tariffId: 8 }, { tariff: DAILY, days: 1 }, {}, { isCurrentTariffDaily: true });
    expect(same.changes).not.toHaveProperty('lastDailyChargeAt');
  });
});

it('never shortens paid time by a paid extension', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -100, max: 1000, noNaN: true }),
      fc.integer({ min: 1, max: 3650 }),
      fc.constantFrom<SubscriptionStatus>('active', 'expired', 'disabled', 'limited'),
      fc.option(fc.constantFrom(TARIFF, DAILY), { nil: undefined }),
      fc.constantFrom(null, 7, 9),
      (left, days, status, tariff, tariffId) => {
        const subscription = { endDate: inDays(left), status, tariffId };
        const result = extend(subscription, tariff === undefined ? { days } : { days, tariff });
        const paidUntil = Math.max(NOW.getTime(), subscription.endDate.getTime());
        const gained = (result.changes.endDate?.getTime() ?? 0) - paidUntil;
        expect(gained).toBe(days * 86_400_000);
      },
    ),
  );
});
