import type { TextKey } from '../../messaging/texts.ts';
import { daysLeft, isActive } from '../../subscriptions/rules/status.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import type { Availability, SpinError, WheelConfig, WheelPrize } from './types.ts';

/** The data that decides about a spin; read under the lock of the user row before a payment. */
export interface SpinFacts {
  config: WheelConfig;
  activePrizes: number;
  spinsToday: number;
  balanceKopeks: number;
  subscription: Subscription | null;
  /** Value of the stars of a spin. */
  requiredKopeks: number;
  now: Date;
}

/** Shown when there is no limit. */
const UNLIMITED = 999;
/** Price of 30 days when none is configured; kopeks. */
const FALLBACK_MONTH_KOPEKS = 19_900;
const MONTH_DAYS = 30;

/** A hundred years, as for promo codes: longer prizes would lead to dates outside of the calendar. */
export const MAX_PRIZE_DAYS = 36_500;

/** Whether a code won with the prize would give days or money; one that gives neither is not given (spec 04 sections 7.4 and 13.4). */
export function hasCodeValue(prize: Pick<WheelPrize, 'promoBalanceBonusKopeks' | 'promoSubscriptionDays'>): boolean {
  return prize.promoSubscriptionDays > 0 || prize.promoBalanceBonusKopeks > 0;
}

export function isLimitReached(config: WheelConfig, spinsToday: number): boolean {
  return config.dailySpinLimit > 0 && spinsToday >= config.dailySpinLimit;
}

/** Whether the user may spin and how it can be paid; the checks have the documented order (spec 04 section 13.2). */
export function availabilityOf(facts: SpinFacts): Availability {
  const { config, balanceKopeks, subscription, requiredKopeks, now } = facts;
  if (!config.isEnabled) return unavailable('wheel_disabled');
  if (isLimitReached(config, facts.spinsToday)) return unavailable('daily_limit_reached');
  const canPayStars = config.spinCostStarsEnabled && config.spinCostStars > 0 && balanceKopeks >= requiredKopeks;
  const remainingDays = subscription && isActive(subscription, now) ? daysLeft(subscription, now) : 0;
  const canPayDays = config.spinCostDaysEnabled && remainingDays >= config.minSubscriptionDaysForDayPayment + config.spinCostDays;
  const hasInsufficientFunds = config.spinCostStarsEnabled && balanceKopeks < requiredKopeks;
  const unpaid = hasInsufficientFunds ? 'insufficient_balance' : 'no_payment_method_available';
  const reason = canPayStars || canPayDays ? null : unpaid;
  if (reason === null && facts.activePrizes === 0) return unavailable('no_prizes_configured');
  return {
    reason,
    spinsRemaining: config.dailySpinLimit === 0 ? UNLIMITED : config.dailySpinLimit - facts.spinsToday,
    canPayStars,
    canPayDays,
    minSubscriptionDays: config.minSubscriptionDaysForDayPayment,
    userSubscriptionDays: remainingDays,
    userBalanceKopeks: balanceKopeks,
    requiredBalanceKopeks: requiredKopeks,
  };
}

function unavailable(reason: Availability['reason']): Availability {
  return {
    reason,
    spinsRemaining: 0,
    canPayStars: false,
    canPayDays: false,
    minSubscriptionDays: 0,
    userSubscriptionDays: 0,
    userBalanceKopeks: 0,
    requiredBalanceKopeks: 0,
  };
}

/** Value of subscription days as a payment: whole kopeks, rounded down. */
export function daysValueKopeks(days: number, monthKopeks: number): number {
  const month = monthKopeks > 0 ? monthKopeks : FALLBACK_MONTH_KOPEKS;
  return Math.floor((month * days) / MONTH_DAYS);
}

/** The text of each refusal. */
export const ERROR_TEXTS: Readonly<Record<SpinError, TextKey>> = {
  wheel_disabled: 'games.wheel_disabled',
  daily_limit_reached: 'games.wheel_daily_limit',
  insufficient_balance: 'games.wheel_insufficient_balance',
  no_payment_method_available: 'games.wheel_no_payment_method',
  no_prizes_configured: 'games.wheel_no_prizes',
  cannot_pay_stars: 'games.wheel_cannot_pay_stars',
  cannot_pay_days: 'games.wheel_cannot_pay_days',
  payment_error: 'games.wheel_payment_error',
  internal_error: 'games.wheel_internal_error',
};
