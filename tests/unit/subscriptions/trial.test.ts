import { describe, expect, it } from 'vitest';
import {
  pickTrialTariff,
  startTrial,
  TRIAL_REFUSAL_TEXTS,
  type TrialCandidate,
  trialPrice,
  trialRefusal,
  trialSquadCandidates,
  trialTerms,
} from '../../../src/domain/subscriptions/rules/trial.ts';
import type { SubscriptionSettings } from '../../../src/domain/subscriptions/types.ts';
import { aTariff } from '../pricing/samples.ts';
import { aSquad, inDays, NOW, subscriptionSettings } from './samples.ts';

function refusalOf(candidate: Partial<TrialCandidate>, settings: Partial<SubscriptionSettings> = {}) {
  return trialRefusal(
    { authType: 'messenger', hasHadPaidSubscription: false, subscription: null, ...candidate },
    subscriptionSettings(settings),
    NOW,
  );
}

describe('trial eligibility', () => {
  it('is given to a new user, and to a pending trial', () => {
    expect(refusalOf({})).toBeNull();
    expect(refusalOf({ subscription: { status: 'pending', isTrial: true, endDate: inDays(3) } })).toBeNull();
  });

  it.each<[SubscriptionSettings['trialDisabledFor'], string | null, boolean]>([
    ['none', 'messenger', true],
    ['none', 'email', true],
    ['all', 'messenger', false],
    ['all', 'email', false],
    ['messenger', 'messenger', false],
    ['messenger', null, false],
    ['messenger', 'google', true],
    ['email', 'messenger', true],
    ['email', null, true],
    ['email', 'google', false],
  ])('blocked for %s, account %s: %s', (trialDisabledFor, authType, allowed) => {
    expect(refusalOf({ authType }, { trialDisabledFor })).toBe(allowed ? null : 'account_type');
  });

  it('needs a length', () => {
    expect(refusalOf({}, { trialDurationDays: 0 })).toBe('trial_disabled');
  });

  it('is refused beside any row but a pending trial, and to whoever paid', () => {
    const row = (status: 'active' | 'expired' | 'pending' | 'disabled', isTrial: boolean, days: number) =>
      refusalOf({ subscription: { status, isTrial, endDate: inDays(days) } });
    expect(row('active', true, 1)).toBe('active_subscription');
    expect(row('active', false, -1)).toBe('trial_used');
    expect(row('expired', false, -1)).toBe('trial_used');
    expect(row('disabled', true, 1)).toBe('trial_used');
    expect(row('pending', false, 1)).toBe('trial_used');
    expect(refusalOf({ hasHadPaidSubscription: true })).toBe('trial_used');
  });

  it('is described in the documented words', () => {
    expect(TRIAL_REFUSAL_TEXTS.account_type).toBe('Trial is not available for your account type');
    expect(TRIAL_REFUSAL_TEXTS.active_subscription).toBe('You already have an active subscription');
    expect(TRIAL_REFUSAL_TEXTS.trial_used).toBe('Trial already used');
  });

  it('costs only when payment is on', () => {
    expect(trialPrice({ trialPaymentEnabled: true, trialActivationPriceKopeks: 100 })).toBe(100);
    expect(trialPrice({ trialPaymentEnabled: false, trialActivationPriceKopeks: 100 })).toBe(0);
    expect(trialPrice({ trialPaymentEnabled: true, trialActivationPriceKopeks: -5 })).toBe(0);
  });
});

describe('trial terms', () => {
  it('follow the flagged tariff that changed last, else the configured one', () => {
    const old = aTariff({ id: 5, isTrialAvailable: true, updatedAt: inDays(-2) });
    const recent = aTariff({ id: 2, isTrialAvailable: true, updatedAt: inDays(-1) });
    const plain = aTariff({ id: 9 });
    expect(pickTrialTariff([old, recent, plain], { trialTariffId: 9 })?.id).toBe(2);
    expect(pickTrialTariff([old, { ...recent, updatedAt: inDays(-2) }], { trialTariffId: 0 })?.id).toBe(5);
    expect(pickTrialTariff([plain], { trialTariffId: 9 })?.id).toBe(9);
    expect(pickTrialTariff([plain], { trialTariffId: 0 })).toBeNull();
    expect(pickTrialTariff([plain], { trialTariffId: 77 })).toBeNull();
  });

  it('come from the tariff, but a trial is never unlimited', () => {
    const settings = subscriptionSettings();
    expect(trialTerms(null, settings)).toEqual({
      durationDays: 3,
      trafficLimitGb: 10,
      deviceLimit: 2,
      tariffId: null,
      squads: [],
    });
    expect(trialTerms(aTariff({ id: 4, trafficLimitGb: 50, deviceLimit: 3, allowedSquads: ['a', 'a'] }), settings)).toEqual({
      durationDays: 3,
      trafficLimitGb: 50,
      deviceLimit: 3,
      tariffId: 4,
      squads: ['a'],
    });
    expect(trialTerms(aTariff({ trafficLimitGb: 0 }), settings).trafficLimitGb).toBe(10);
  });

  it('prefer available servers with capacity, then servers with capacity, then any', () => {
    const free = aSquad('a', { isTrialEligible: true });
    const hidden = aSquad('b', { isTrialEligible: true, isAvailable: false });
    const full = aSquad('c', { isTrialEligible: true, maxUsers: 1, currentUsers: 1 });
    const paid = aSquad('d');
    expect(trialSquadCandidates([free, hidden, full, paid])).toEqual([free]);
    expect(trialSquadCandidates([hidden, full, paid])).toEqual([hidden]);
    expect(trialSquadCandidates([full, paid])).toEqual([full]);
    expect(trialSquadCandidates([paid])).toEqual([]);
  });

  it('start now', () => {
    expect(startTrial(trialTerms(null, subscriptionSettings()), ['a'], NOW)).toMatchObject({
      status: 'active',
      isTrial: true,
      startDate: NOW,
      endDate: inDays(3),
      connectedSquads: ['a'],
      trafficLimitGb: 10,
    });
  });
});
