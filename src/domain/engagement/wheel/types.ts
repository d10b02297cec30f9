/** The fortune wheel (spec 04 section 13). Amounts are kopeks, times UTC. */

export type PrizeType = 'subscription_days' | 'balance_bonus' | 'traffic_gb' | 'promocode' | 'nothing';
export type SpinPayment = 'messenger_stars' | 'subscription_days';

export interface WheelConfig {
  id: number;
  isEnabled: boolean;
  name: string;
  spinCostStars: number;
  spinCostDays: number;
  spinCostStarsEnabled: boolean;
  spinCostDaysEnabled: boolean;
  rtpPercent: number;
  /** Since 00:00 UTC; 0 = no limit. */
  dailySpinLimit: number;
  minSubscriptionDaysForDayPayment: number;
  promoPrefix: string;
  promoValidityDays: number;
  createdAt: Date;
  updatedAt: Date;
}

export type WheelConfigChanges = Partial<Omit<WheelConfig, 'id' | 'createdAt' | 'updatedAt'>>;

export interface WheelPrize {
  id: number;
  configId: number;
  prizeType: PrizeType;
  /** Days, kopeks or GB by type. */
  prizeValue: number;
  displayName: string;
  emoji: string;
  color: string;
  /** Worth for the payout ratio, and what is paid when the prize itself cannot be given. */
  prizeValueKopeks: number;
  sortOrder: number;
  /** 0..1; null or 0 = worked out. */
  manualProbability: number | null;
  isActive: boolean;
  promoBalanceBonusKopeks: number;
  promoSubscriptionDays: number;
  promoTrafficGb: number;
  createdAt: Date;
  updatedAt: Date;
}

export type PrizeFields = Omit<WheelPrize, 'id' | 'configId' | 'createdAt' | 'updatedAt'>;

/** Why nobody may spin now. */
export type SpinBar =
  | 'wheel_disabled'
  | 'daily_limit_reached'
  | 'insufficient_balance'
  | 'no_payment_method_available'
  | 'no_prizes_configured';

export type SpinError = SpinBar | 'cannot_pay_stars' | 'cannot_pay_days' | 'payment_error' | 'internal_error';

export interface Availability {
  reason: SpinBar | null;
  spinsRemaining: number;
  canPayStars: boolean;
  canPayDays: boolean;
  minSubscriptionDays: number;
  userSubscriptionDays: number;
  userBalanceKopeks: number;
  requiredBalanceKopeks: number;
}

export interface WonPrize {
  prizeId: number;
  prizeType: PrizeType;
  prizeValue: number;
  displayName: string;
  emoji: string;
  color: string;
  rotationDegrees: number;
  message: string;
  promocode: string | null;
}

/** A plain value: it is kept with the idempotency key. */
export type SpinOutcome = { isSuccess: true; won: WonPrize } | { isSuccess: false; error: SpinError; message: string };

export interface SpinRecord {
  id: number;
  userId: number;
  username: string | null;
  paymentType: string;
  /** Stars or days. */
  paymentAmount: number;
  paymentValueKopeks: number;
  prizeType: string;
  prizeValue: number;
  prizeDisplayName: string;
  prizeValueKopeks: number;
  /** Of the live prize; null once it is gone. */
  emoji: string | null;
  color: string | null;
  isApplied: boolean;
  createdAt: Date;
}

export interface Period {
  from: Date | null;
  to: Date | null;
}

export interface WheelStatistics {
  totalSpins: number;
  revenueKopeks: number;
  payoutKopeks: number;
  byPayment: { paymentType: string; count: number; totalKopeks: number }[];
  prizes: { prizeType: string; displayName: string; count: number; totalKopeks: number }[];
  topWins: { userId: number; username: string | null; displayName: string; valueKopeks: number; createdAt: Date }[];
}
