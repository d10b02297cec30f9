import type { Rows } from '../../../core/db/columns.ts';

export type WithdrawalStatus = Rows['WithdrawalRequest']['status'];

/** What a user may have paid out depends on these sums; kopeks. */
export interface WithdrawalSums {
  /** With what pending requests hold (spec 10 M5). */
  balanceKopeks: number;
  /** All referral earnings. */
  earnedKopeks: number;
  /** Those of them that cannot be withdrawn yet (setting `REFERRAL_EARNINGS_HOLD_DAYS`). */
  maturingKopeks?: number;
  /** Of requests that were approved or completed. */
  withdrawnKopeks: number;
  /** Of pending requests. */
  pendingKopeks: number;
}

export interface AvailableAmounts {
  /** Earnings that are neither withdrawn nor requested, and are still on the balance. */
  availableReferralKopeks: number;
  /** The most that a request may ask for. */
  availableTotalKopeks: number;
}

/** The newest request of a user, whatever became of it. */
export interface LastRequest {
  status: WithdrawalStatus;
  createdAt: Date;
}

/** The settings of withdrawals; kopeks and days. */
export interface WithdrawalTerms {
  isEnabled: boolean;
  isReferralOnly: boolean;
  minAmountKopeks: number;
  cooldownDays: number;
  isTestMode: boolean;
}

export type PayoutStatus = 'approved' | 'completed';

/** From the first time, included, to the last, excluded: when a request was approved, or paid out. */
export interface PayoutFilter {
  from: Date;
  to: Date;
  /** Null = both. */
  status: PayoutStatus | null;
}
