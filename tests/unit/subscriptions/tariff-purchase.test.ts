import { describe, expect, it } from 'vitest';
import type { Tariff } from '../../../src/domain/catalog/types.ts';
import type { SwitchKind } from '../../../src/domain/pricing/tariff-switch.ts';
import { planTariffPurchase, planTariffSwitch } from '../../../src/domain/subscriptions/rules/tariff-purchase.ts';
import { replaceSubscription } from '../../../src/domain/subscriptions/rules/terms.ts';
import type { Subscription, SubscriptionSettings } from '../../../src/domain/subscriptions/types.ts';
import { aTariff, pricingSettings } from '../pricing/samples.ts';
import { aSquad, aSubscription, inDays, NOW, subscriptionSettings } from './samples.ts';

const squads = [aSquad('a'), aSquad('b'), aSquad('c', { isAvailable: false })];
const daily = aTariff({ id: 8, isDaily: true, dailyPriceKopeks: 2000, periodPrices: {} });
const context = {
  now: NOW,
  settings: subscriptionSettings(),
  pricing: pricingSettings(),
  isCurrentTariffDaily: false,
};

function purchase(
  subscription: Partial<Subscription> | null,
  tariff: Tariff,
  periodDays = 30,
  customTrafficGb: number | null = null,
) {
  const current = subscription === null ? null : aSubscription(subscription);
  return planTariffPurchase(current, { tariff, periodDays, customTrafficGb, squads }, context);
}

function changesOf(outcome: ReturnType<typeof purchase>) {
  return outcome.kind === 'create' ? outcome.fields : outcome.result.changes;
}

describe('tariff purchase', () => {
  it('creates a paid subscription', () => {
    const outcome = purchase(null, aTariff({ id: 7, trafficLimitGb: 50, deviceLimit: 2 }));
    expect(outcome).toEqual({
      kind: 'create',
      fields: {
        status: 'active',
        isTrial: false,
        startDate: NOW,
        endDate: inDays(30),
        trafficLimitGb: 50,
        trafficUsedGb: 0,
        purchasedTrafficGb: 0,
        trafficResetAt: null,
        deviceLimit: 2,
        connectedSquads: ['a', 'b'],
        tariffId: 7,
        isDailyPaused: false,
        lastDailyChargeAt: null,
      },
    });
  });

  it('extends the same tariff and keeps the bought devices', () => {
    const outcome = purchase({ tariffId: 7, deviceLimit: 5 }, aTariff({ id: 7, deviceLimit: 2, allowedSquads: ['z'] }));
    expect(outcome).toMatchObject({ kind: 'extend', isSameTariff: true });
    expect(changesOf(outcome)).toMatchObject({ endDate: inDays(40), deviceLimit: 5, connectedSquads: ['z'] });
  });

  it('moves to another tariff with the remainder, its devices and its limit', () => {
    const outcome = purchase({ tariffId: 3, deviceLimit: 5, purchasedTrafficGb: 20 }, aTariff({ id: 7, deviceLimit: 2 }));
    expect(outcome).toMatchObject({
      kind: 'extend',
      isSameTariff: false,
      result: { isTariffChange: true, dropsPurchases: true },
    });
    expect(changesOf(outcome)).toMatchObject({
      tariffId: 7,
      startDate: NOW,
      endDate: inDays(40),
      deviceLimit: 2,
      trafficLimitGb: 100,
    });
  });

  it('takes the picked traffic as the limit', () => {
    expect(changesOf(purchase(null, aTariff(), 30, 400)).trafficLimitGb).toBe(400);
    expect(changesOf(purchase({ tariffId: 3 }, aTariff(), 30, 400)).trafficLimitGb).toBe(400);
  });

  it('converts a trial to a paid one with one conversion (spec 02 H8)', () => {
    const outcome = purchase({ tariffId: 1, isTrial: true, endDate: inDays(2) }, aTariff({ id: 1 }));
    expect(outcome).toMatchObject({ kind: 'extend', result: { isTrialConversion: true } });
    expect(changesOf(outcome)).toMatchObject({ isTrial: false, endDate: inDays(30) });
  });

  it('buys one day of a daily tariff whatever the period, and keeps the remainder (spec 02 H10)', () => {
    const started = { lastDailyChargeAt: NOW, isDailyPaused: false };
    expect(changesOf(purchase(null, daily, 30))).toMatchObject({ ...started, endDate: inDays(1) });
    expect(changesOf(purchase({ tariffId: 3 }, daily, 30))).toMatchObject({ ...started, endDate: inDays(11) });
    expect(changesOf(purchase({ tariffId: 8, isDailyPaused: true, endDate: inDays(0.5) }, daily, 1))).toMatchObject({
      ...started,
      endDate: inDays(1.5),
    });
  });
});

function switched(
  subscription: Partial<Subscription>,
  next: Tariff,
  kind: SwitchKind,
  newPeriodDays: number,
  settings: Partial<SubscriptionSettings> = {},
  isPaid = true,
) {
  const current = aSubscription({ tariffId: 3, ...subscription });
  return planTariffSwitch(
    current,
    { next, kind, newPeriodDays, isPaid, squads },
    { ...context, settings: subscriptionSettings(settings) },
  );
}

describe('tariff switch', () => {
  const next = aTariff({ id: 7, trafficLimitGb: 300, deviceLimit: 2 });

  it('takes the limits of the new tariff and keeps the end date', () => {
    const result = switched(
      { deviceLimit: 6, purchasedTrafficGb: 20, trafficResetAt: inDays(3) },
      next,
      'periodic_to_periodic',
      0,
    );
    expect(result.changes).toEqual({
      tariffId: 7,
      trafficLimitGb: 300,
      purchasedTrafficGb: 0,
      trafficResetAt: null,
      trafficUsedGb: 0,
      deviceLimit: 2,
      connectedSquads: ['a', 'b'],
    });
    expect(switched({}, next, 'periodic_to_periodic', 0, { resetTrafficOnTariffSwitch: false }).changes).not.toHaveProperty(
      'trafficUsedGb',
    );
  });

  it('gives all servers for a tariff without squads, never none (spec 02 H9)', () => {
    expect(switched({}, next, 'periodic_to_periodic', 0).changes.connectedSquads).toEqual(['a', 'b']);
    expect(switched({}, { ...next, allowedSquads: ['c'] }, 'periodic_to_periodic', 0).changes.connectedSquads).toEqual(['c']);
    const withoutServers = planTariffSwitch(
      aSubscription({ connectedSquads: ['x'] }),
      { next, kind: 'periodic_to_periodic', newPeriodDays: 0, isPaid: true, squads: [] },
      context,
    );
    expect(withoutServers.changes.connectedSquads).toEqual(['x']);
  });

  it('moves no date from daily to daily (spec 02 H10)', () => {
    const { changes } = switched({ lastDailyChargeAt: inDays(-0.5), isDailyPaused: true }, daily, 'daily_to_daily', 1);
    expect(changes).not.toHaveProperty('endDate');
    expect(changes).not.toHaveProperty('lastDailyChargeAt');
    expect(changes).not.toHaveProperty('isDailyPaused');
  });

  it('adds the bought day or period to the time left (spec 02 H10)', () => {
    expect(switched({}, daily, 'periodic_to_daily', 1).changes).toMatchObject({
      endDate: inDays(11),
      lastDailyChargeAt: NOW,
      isDailyPaused: false,
    });
    expect(
      switched({ endDate: inDays(0.5), lastDailyChargeAt: inDays(-0.5) }, next, 'daily_to_periodic', 30).changes,
    ).toMatchObject({
      endDate: inDays(30.5),
      lastDailyChargeAt: null,
      isDailyPaused: false,
    });
    expect(switched({ endDate: inDays(-1) }, next, 'daily_to_periodic', 30).changes.endDate).toEqual(inDays(30));
  });

  it('ends a trial when it is paid for, whose remainder counts only by the setting (spec 02 H8)', () => {
    const trial = { isTrial: true, status: 'trial' as const, endDate: inDays(2) };
    const result = switched(trial, next, 'periodic_to_periodic', 0);
    expect(result.isTrialConversion).toBe(true);
    expect(result.changes).toMatchObject({ isTrial: false, status: 'active' });
    expect(switched(trial, daily, 'periodic_to_daily', 1).changes.endDate).toEqual(inDays(1));
    expect(switched(trial, daily, 'periodic_to_daily', 1, { trialAddRemainingDaysToPaid: true }).changes.endDate).toEqual(
      inDays(3),
    );
    expect(switched({}, next, 'periodic_to_periodic', 0).isTrialConversion).toBe(false);
    const free = switched(trial, next, 'periodic_to_periodic', 0, {}, false);
    expect(free.isTrialConversion).toBe(false);
    expect(free.changes).not.toHaveProperty('isTrial');
    expect(free.changes).not.toHaveProperty('status');
  });
});

describe('replace', () => {
  it('writes everything over but autopay, tariff and daily fields too (spec 02 H20)', () => {
    const changes = replaceSubscription(
      { days: 15, isTrial: true, trafficLimitGb: 5, deviceLimit: 2, squads: ['z', 'z'] },
      squads,
      NOW,
    );
    expect(changes).toEqual({
      status: 'active',
      isTrial: true,
      startDate: NOW,
      endDate: inDays(15),
      trafficLimitGb: 5,
      trafficUsedGb: 0,
      purchasedTrafficGb: 0,
      trafficResetAt: null,
      deviceLimit: 2,
      connectedSquads: ['z'],
      tariffId: null,
      isDailyPaused: false,
      lastDailyChargeAt: null,
      subscriptionUrl: null,
      subscriptionCryptoLink: null,
      vpnpanelShortUuid: null,
    });
  });

  it('takes the first available server when none is given', () => {
    const replace = (available: typeof squads) =>
      replaceSubscription({ days: 1, isTrial: false, trafficLimitGb: 5, deviceLimit: 1, squads: [] }, available, NOW)
        .connectedSquads;
    expect(replace([aSquad('c', { isAvailable: false }), aSquad('b')])).toEqual(['b']);
    expect(replace([])).toEqual([]);
  });
});
