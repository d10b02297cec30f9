import type { Changes } from '../../../core/changes.ts';
import type { Rows } from '../../../core/db/columns.ts';
import type { SpinRow } from './repo.ts';

/** The fortune wheel. Amounts are kopeks, times UTC. */

export type WheelConfig = Rows['WheelConfig'];

export type WheelConfigChanges = Changes<Omit<WheelConfig, 'id' | 'createdAt' | 'updatedAt'>>;

export type WheelPrize = Rows['WheelPrize'];

type PrizeType = WheelPrize['prizeType'];

export type PrizeFields = Omit<WheelPrize, 'id' | 'configId' | 'createdAt' | 'updatedAt'>;

export type SpinPayment = Rows['WheelSpin']['paymentType'];

/** Why the user cannot spin now. */
type SpinBlock =
  | 'wheel_disabled'
  | 'daily_limit_reached'
  | 'insufficient_balance'
  | 'no_payment_method_available'
  | 'no_prizes_configured';

export type SpinError = SpinBlock | 'cannot_pay_stars' | 'cannot_pay_days' | 'payment_error' | 'internal_error';

export interface Availability {
  reason: SpinBlock | null;
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

/** A plain value: it is stored with the idempotency key. */
export type SpinOutcome = { isSuccess: true; won: WonPrize } | { isSuccess: false; error: SpinError; message: string };

/** A spin with its user and the current look of the prize; null once the prize is deleted. */
export type SpinRecord = SpinRow & { username: string | null; emoji: string | null; color: string | null };

export interface Period {
  from: Date | null;
  to: Date | null;
}

export interface WheelStatistics {
  totalSpins: number;
  totalRevenueKopeks: number;
  totalPayoutKopeks: number;
  spinsByPaymentType: Record<string, { count: number; totalKopeks: number }>;
  prizesDistribution: { prizeType: string; displayName: string; count: number; totalKopeks: number }[];
  topWins: Pick<SpinRecord, 'userId' | 'username' | 'prizeDisplayName' | 'prizeValueKopeks' | 'createdAt'>[];
}
