/** Pure rules of withdrawals (spec 03 section 6). */
import { DAY_MS } from '../../../core/clock.ts';
import type { AvailableAmounts, LastRequest, WithdrawalSums, WithdrawalTerms } from './types.ts';

/**
 * What may be requested. Without the restriction to referral earnings it is the balance less what is pending.
 * Earnings that have not matured are never part of it. The amounts are never negative.
 */
export function availableAmounts(sums: WithdrawalSums, isReferralOnly: boolean): AvailableAmounts {
  const { balanceKopeks, earnedKopeks, maturingKopeks = 0, withdrawnKopeks, pendingKopeks } = sums;
  const entitlement = Math.max(0, earnedKopeks - maturingKopeks - withdrawnKopeks - pendingKopeks);
  const availableReferralKopeks = Math.min(balanceKopeks, entitlement);
  const availableTotalKopeks = isReferralOnly
    ? availableReferralKopeks
    : Math.max(0, balanceKopeks - pendingKopeks - maturingKopeks);
  return { availableReferralKopeks, availableTotalKopeks };
}

/** Why a user cannot make a request, whatever the amount. */
export type RequestRefusal =
  | { reason: 'withdrawal_off' }
  | { reason: 'withdrawal_below_minimum'; minimumKopeks: number; availableKopeks: number }
  | { reason: 'withdrawal_cooldown'; days: number }
  | { reason: 'withdrawal_pending' };

export interface RequestFacts {
  terms: WithdrawalTerms;
  availableTotalKopeks: number;
  last: LastRequest | null;
  now: Date;
}

/** The first refusal in the order of the specification; null when a request can be made. */
export function refusalOfRequest({ terms, availableTotalKopeks, last, now }: RequestFacts): RequestRefusal | null {
  if (!terms.isEnabled) return { reason: 'withdrawal_off' };
  if (availableTotalKopeks < terms.minAmountKopeks) {
    const [minimumKopeks, availableKopeks] = [terms.minAmountKopeks, availableTotalKopeks];
    return { reason: 'withdrawal_below_minimum', minimumKopeks, availableKopeks };
  }
  if (last !== null && terms.cooldownDays > 0 && !terms.isTestMode) {
    const restMs = last.createdAt.getTime() + terms.cooldownDays * DAY_MS - now.getTime();
    if (restMs > 0) return { reason: 'withdrawal_cooldown', days: Math.ceil(restMs / DAY_MS) };
  }
  if (last?.status === 'pending') return { reason: 'withdrawal_pending' };
  return null;
}

/** Why this amount cannot be requested. */
export type AmountRefusal =
  | { reason: 'withdrawal_below_minimum'; minimumKopeks: number; availableKopeks: number }
  | { reason: 'withdrawal_exceeds_available'; availableKopeks: number }
  | { reason: 'withdrawal_exceeds_referral'; availableKopeks: number };

/**
 * Compares an amount with the minimum and with what is available. An amount that the balance covers, but the referral earnings do not, has
 * a refusal of its own.
 */
export function refusalOfAmount(
  amountKopeks: number,
  sums: WithdrawalSums,
  available: AvailableAmounts,
  terms: WithdrawalTerms,
): AmountRefusal | null {
  const availableKopeks = available.availableTotalKopeks;
  if (amountKopeks < terms.minAmountKopeks) {
    return { reason: 'withdrawal_below_minimum', minimumKopeks: terms.minAmountKopeks, availableKopeks };
  }
  if (amountKopeks <= availableKopeks) return null;
  const isCovered = terms.isReferralOnly && amountKopeks <= sums.balanceKopeks;
  return { reason: isCovered ? 'withdrawal_exceeds_referral' : 'withdrawal_exceeds_available', availableKopeks };
}

/**
 * Whether two administrators have to approve.
 * @param thresholdKopeks setting REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS; 0 = one approval is enough for any amount
 */
export function needsSecondApproval(amountKopeks: number, thresholdKopeks: number): boolean {
  return thresholdKopeks > 0 && amountKopeks > thresholdKopeks;
}
