import { addDays } from '../../../core/clock.ts';
import { isFull } from '../../catalog/find-tariff.ts';
import type { ServerSquad, Tariff } from '../../catalog/types.ts';
import type { Subscription, SubscriptionChanges, SubscriptionSettings } from '../types.ts';
import { isPast } from './status.ts';

/** Why a user may not take a trial. */
export type TrialRefusal = 'account_type' | 'trial_disabled' | 'active_subscription' | 'trial_used';

/** The documented texts of GET and POST /trial (spec 02 section 5.1). */
export const TRIAL_REFUSAL_TEXTS: Readonly<Record<TrialRefusal, string>> = {
  account_type: 'Trial is not available for your account type',
  trial_disabled: 'Trial is not available for your account type',
  active_subscription: 'You already have an active subscription',
  trial_used: 'Trial already used',
};

export interface TrialCandidate {
  /** `messenger` or empty counts as a messenger account, everything else as an e-mail account. */
  authType: string | null;
  hasHadPaidSubscription: boolean;
  subscription: Pick<Subscription, 'status' | 'isTrial' | 'endDate'> | null;
}

/**
 * Whether a user may take a trial, the same test for both areas (spec 02 section 5.7): the account type is allowed, trials have
 * a length, the user never paid and holds no subscription row except a pending trial.
 * @returns null when eligible
 */
export function trialRefusal(
  candidate: TrialCandidate,
  settings: Pick<SubscriptionSettings, 'trialDisabledFor' | 'trialDurationDays'>,
  now: Date,
): TrialRefusal | null {
  if (isTypeBlocked(candidate.authType, settings.trialDisabledFor)) return 'account_type';
  if (settings.trialDurationDays <= 0) return 'trial_disabled';
  const { subscription } = candidate;
  if (subscription?.status === 'active' && !isPast(subscription, now)) return 'active_subscription';
  if (candidate.hasHadPaidSubscription) return 'trial_used';
  if (subscription !== null && !(subscription.status === 'pending' && subscription.isTrial)) return 'trial_used';
  return null;
}

/** Kopeks a trial costs; 0 unless paid trials are on. */
export function trialPrice(settings: Pick<SubscriptionSettings, 'trialPaymentEnabled' | 'trialActivationPriceKopeks'>): number {
  return settings.trialPaymentEnabled ? Math.max(0, settings.trialActivationPriceKopeks) : 0;
}

/** The tariff that trials follow: the flagged one (newest update, then highest id), else the one named by the settings. */
export function pickTrialTariff<T extends Pick<Tariff, 'id' | 'isTrialAvailable' | 'updatedAt'>>(
  tariffs: readonly T[],
  settings: Pick<SubscriptionSettings, 'trialTariffId'>,
): T | null {
  const flagged = tariffs
    .filter((tariff) => tariff.isTrialAvailable)
    .sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime() || b.id - a.id);
  if (flagged[0] !== undefined) return flagged[0];
  return (settings.trialTariffId > 0 && tariffs.find((tariff) => tariff.id === settings.trialTariffId)) || null;
}

/** What a trial gives; days, GB (0 = unlimited), devices. */
export interface TrialTerms {
  durationDays: number;
  trafficLimitGb: number;
  deviceLimit: number;
  tariffId: number | null;
  /** Empty = pick one of `trialSquadCandidates`. */
  squads: string[];
}

/** Terms of a trial (spec 02 section 4.1); a tariff without a traffic limit gives the trial setting's limit. */
export function trialTerms(
  tariff: Pick<Tariff, 'id' | 'trafficLimitGb' | 'deviceLimit' | 'allowedSquads'> | null,
  settings: Pick<SubscriptionSettings, 'trialDurationDays' | 'trialTrafficLimitGb' | 'trialDeviceLimit'>,
): TrialTerms {
  return {
    durationDays: settings.trialDurationDays,
    trafficLimitGb: tariff?.trafficLimitGb || settings.trialTrafficLimitGb,
    deviceLimit: tariff?.deviceLimit ?? settings.trialDeviceLimit,
    tariffId: tariff?.id ?? null,
    squads: tariff === null ? [] : [...new Set(tariff.allowedSquads)],
  };
}

/**
 * The servers of which one is drawn at random when a trial names none: trial-eligible ones that are available and not full,
 * else not full, else any; empty when no server may be used for trials.
 */
export function trialSquadCandidates<
  T extends Pick<ServerSquad, 'isTrialEligible' | 'isAvailable' | 'maxUsers' | 'currentUsers'>,
>(squads: readonly T[]): T[] {
  const eligible = squads.filter((squad) => squad.isTrialEligible);
  const notFull = eligible.filter((squad) => !isFull(squad));
  const available = notFull.filter((squad) => squad.isAvailable);
  if (available.length > 0) return available;
  return notFull.length > 0 ? notFull : eligible;
}

/** A new or pending subscription as a running trial: changed fields. */
export function startTrial(terms: TrialTerms, squads: readonly string[], now: Date): SubscriptionChanges {
  return {
    status: 'active',
    isTrial: true,
    startDate: now,
    endDate: addDays(now, terms.durationDays),
    trafficLimitGb: terms.trafficLimitGb,
    trafficUsedGb: 0,
    purchasedTrafficGb: 0,
    trafficResetAt: null,
    deviceLimit: terms.deviceLimit,
    connectedSquads: [...squads],
    tariffId: terms.tariffId,
    isDailyPaused: false,
    lastDailyChargeAt: null,
  };
}

function isTypeBlocked(authType: string | null, disabledFor: SubscriptionSettings['trialDisabledFor']): boolean {
  if (disabledFor === 'none') return false;
  if (disabledFor === 'all') return true;
  const isMessenger = authType === null || authType === '' || authType === 'messenger';
  return disabledFor === 'messenger' ? isMessenger : !isMessenger;
}
