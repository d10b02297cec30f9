/** Pure rules of the referral program (spec 04 section 1). */
import { percentOf } from '../../core/money.ts';

/**
 * Percent of a referred user's payments that the referrer gets: the personal one where it is a percentage, else the service-wide one,
 * limited to 0..100. 0 = no commission.
 */
export function effectiveCommissionPercent(personal: number | null, global: number): number {
  if (personal !== null && personal >= 0 && personal <= 100) return personal;
  return Math.min(100, Math.max(0, global));
}

/** What the reward of a payment depends on; kopeks and percent. */
export interface AccrualFacts {
  amountKopeks: number;
  percent: number;
  hasMadeFirstTopup: boolean;
  /** `referral_commission_topup` rows of the pair so far. */
  commissionsPaid: number;
  minimumTopupKopeks: number;
  firstTopupBonusKopeks: number;
  inviterBonusKopeks: number;
  /** 0 = no limit. */
  maxCommissionPayments: number;
}

export interface AccrualPlan {
  /** The referral's first top-up that counts. */
  isFirstTopup: boolean;
  /** To the referral. */
  referralKopeks: number;
  /** To the referrer. */
  referrerKopeks: number;
  reason: 'referral_first_topup' | 'referral_commission_topup';
}

/** Who gets what for a payment (spec 04 section 1.3). The limit counts commissions alone, and does not apply to the first bonus. */
export function planAccrual(facts: AccrualFacts): AccrualPlan {
  const commission = percentOf(facts.amountKopeks, facts.percent);
  if (!facts.hasMadeFirstTopup && facts.amountKopeks >= facts.minimumTopupKopeks) {
    const referrerKopeks = facts.inviterBonusKopeks + commission;
    return { isFirstTopup: true, referralKopeks: facts.firstTopupBonusKopeks, referrerKopeks, reason: 'referral_first_topup' };
  }
  const isLimited = facts.maxCommissionPayments > 0 && facts.commissionsPaid >= facts.maxCommissionPayments;
  return {
    isFirstTopup: false,
    referralKopeks: 0,
    referrerKopeks: isLimited ? 0 : commission,
    reason: 'referral_commission_topup',
  };
}
