import { describe, expect, it } from 'vitest';
import {
  nextDailyChargeAt,
  recurringDailyPrice,
  type SubscriptionViewInput,
  trafficUsedPercent,
  viewSubscription,
} from '../../../src/domain/subscriptions/rules/view.ts';
import { aBuyer, aGroup, aTariff, pricingSettings } from '../pricing/samples.ts';
import { aSquad, aSubscription, inDays, NOW } from './samples.ts';

const daily = aTariff({ id: 8, name: 'Daily', isDaily: true, dailyPriceKopeks: 2000, trafficResetMode: 'WEEK' });

function view(fields: Partial<SubscriptionViewInput>) {
  return viewSubscription({
    subscription: aSubscription(),
    tariff: null,
    purchases: [],
    squads: [aSquad('b'), aSquad('a')],
    user: aBuyer(),
    settings: pricingSettings(),
    hideSubscriptionLink: false,
    defaultTrafficReset: 'MONTH',
    now: NOW,
    ...fields,
  });
}

describe('subscription view', () => {
  it('shows a running one', () => {
    expect(view({ subscription: aSubscription({ connectedSquads: ['a', 'gone'] }), hideSubscriptionLink: true })).toMatchObject({
      status: 'active',
      isActive: true,
      isExpired: false,
      isTrial: false,
      daysLeft: 10,
      hoursLeft: 0,
      minutesLeft: 0,
      timeLeftDisplay: '10d 0h',
      trafficUsedGb: 12.35,
      trafficUsedPercent: 12.3,
      servers: [{ uuid: 'a', name: 'Server a', countryCode: 'NL' }],
      subscriptionUrl: 'https://panel.test/sub/abc',
      hideSubscriptionLink: true,
      isDaily: false,
      dailyPriceKopeks: null,
      nextDailyChargeAt: null,
      tariffName: null,
      trafficResetMode: null,
    });
  });

  it('shows an ended one as expired without time, whatever is stored', () => {
    const ended = { status: 'expired', isExpired: true, isActive: false, daysLeft: 0, timeLeftDisplay: '0m' };
    expect(view({ subscription: aSubscription({ endDate: inDays(-1) }) })).toMatchObject(ended);
    expect(view({ subscription: aSubscription({ status: 'expired', endDate: inDays(2) }) })).toMatchObject(ended);
    expect(view({ subscription: aSubscription({ status: 'limited' }) })).toMatchObject({
      isLimited: true,
      isActive: false,
      daysLeft: 10,
    });
  });

  it('takes the trial from the flag or the status', () => {
    expect(view({ subscription: aSubscription({ isTrial: true }) }).isTrial).toBe(true);
    expect(view({ subscription: aSubscription({ status: 'trial' }) })).toMatchObject({ isTrial: true, isActive: true });
  });

  it('falls back to 3 days of autopay', () => {
    expect(view({ subscription: aSubscription({ autopayDaysBefore: 0 }) }).autopayDaysBefore).toBe(3);
    expect(view({ subscription: aSubscription({ autopayDaysBefore: 7 }) }).autopayDaysBefore).toBe(7);
  });

  it('lists live purchases by their end', () => {
    const row = (id: number, days: number) => ({
      id,
      subscriptionId: 1,
      trafficGb: 5,
      createdAt: inDays(days - 30),
      expiresAt: inDays(days),
    });
    const { trafficPurchases } = view({ purchases: [row(1, 20), row(2, 5), row(3, -1)] });
    expect(trafficPurchases).toEqual([
      { id: 2, trafficGb: 5, createdAt: inDays(-25), expiresAt: inDays(5), daysRemaining: 5, progressPercent: 83.3 },
      { id: 1, trafficGb: 5, createdAt: inDays(-10), expiresAt: inDays(20), daysRemaining: 20, progressPercent: 33.3 },
    ]);
  });

  it('shows a daily tariff with both discounts and its next charge', () => {
    const user = aBuyer(aGroup({ periodDiscounts: { 1: 10 } }), 50);
    const subscription = aSubscription({ tariffId: 8, endDate: inDays(0.5), lastDailyChargeAt: inDays(-0.5) });
    expect(view({ subscription, tariff: daily, user })).toMatchObject({
      isDaily: true,
      dailyPriceKopeks: 900,
      nextDailyChargeAt: inDays(0.5),
      tariffId: 8,
      tariffName: 'Daily',
      trafficResetMode: 'WEEK',
    });
    expect(recurringDailyPrice(daily, user, pricingSettings())).toBe(1800);
  });
});

it('shows a pause of daily tariffs only', () => {
  const subscription = aSubscription({ tariffId: 8, isDailyPaused: true });
  expect(view({ subscription, tariff: daily }).isDailyPaused).toBe(true);
  expect(view({ subscription, tariff: null })).toMatchObject({ isDaily: false, isDailyPaused: false });
});

describe('next daily charge', () => {
  const at = (lastDays: number | null, endDays: number, isDailyPaused = false) =>
    nextDailyChargeAt(
      { isDailyPaused, lastDailyChargeAt: lastDays === null ? null : inDays(lastDays), endDate: inDays(endDays) },
      NOW,
    );

  it('is a day after the last one, but not before the paid time ends', () => {
    expect(at(-0.25, 0.75)).toEqual(inDays(0.75));
    expect(at(-0.25, 9)).toEqual(inDays(9));
  });

  it('is unknown when paused, never charged or due', () => {
    expect(at(-0.25, 0.75, true)).toBeNull();
    expect(at(null, 5)).toBeNull();
    expect(at(-1, 0)).toBeNull();
  });
});

it('caps the used percent, and knows none for unlimited', () => {
  expect(trafficUsedPercent({ trafficUsedGb: 150, trafficLimitGb: 100 })).toBe(100);
  expect(trafficUsedPercent({ trafficUsedGb: 1, trafficLimitGb: 3 })).toBe(33.3);
  expect(trafficUsedPercent({ trafficUsedGb: 5, trafficLimitGb: 0 })).toBe(0);
});

it('spec 10 X24: a half of the used percentage is rounded to the even one', () => {
  const percentOf = (trafficUsedGb: number) => trafficUsedPercent({ trafficUsedGb, trafficLimitGb: 100 });
  expect([0.25, 0.75, 1.25, 0.35].map(percentOf)).toEqual([0.2, 0.8, 1.2, 0.3]);
});
