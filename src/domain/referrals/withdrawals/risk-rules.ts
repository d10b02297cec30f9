/** The risk score of a withdrawal request (spec 03 section 6). Pure. */

/** What the score depends on; kopeks. Deposits are those with a payment method. */
export interface RiskFacts {
  earnedKopeks: number;
  depositsKopeks: number;
  /** Purchases and withdrawals. */
  spendingKopeks: number;
  referralCount: number;
  /** Referrals who ever made a deposit. */
  payingReferrals: number;
  /** Referrals with more deposits in the last 30 days than the setting allows. */
  frequentReferrals: number;
  /** Referrals whose deposits of the last 30 days exceed the setting. */
  largeReferrals: number;
  /** Earnings of the last 7 days. */
  weekEarningsCount: number;
}

export type RiskLevel = 'low' | 'medium' | 'high' | 'critical';
export const RECOMMENDATIONS = ['approve', 'review', 'reject'] as const;
export type Recommendation = (typeof RECOMMENDATIONS)[number];

/** Rules that raise the score; the names are keys of the texts `withdrawals.flag_…`. */
export const RISK_FLAGS = [
  'deposits_without_purchases',
  'deposits_exceed_purchases',
  'earnings_without_referrals',
  'frequent_deposits',
  'large_deposits',
  'single_payer',
  'many_earnings',
] as const;
export type RiskFlag = (typeof RISK_FLAGS)[number];

export interface Risk {
  /** 0..100 */
  score: number;
  level: RiskLevel;
  recommendation: Recommendation;
  flags: RiskFlag[];
}

const MAX_SCORE = 100;
/** Earnings above which a single paying referral is suspicious, kopeks. */
export const SINGLE_PAYER_EARNED_KOPEKS = 50_000;
/** Earnings in a week above which their number is suspicious. */
export const MANY_WEEK_EARNINGS = 20;

/** @param ratio setting REFERRAL_WITHDRAWAL_SUSPICIOUS_NO_PURCHASES_RATIO: deposits in units of the spending */
export function assessRisk(facts: RiskFacts, ratio: number): Risk {
  const { depositsKopeks: deposits, spendingKopeks: spending } = facts;
  const points: [RiskFlag, number][] = [
    ['deposits_without_purchases', deposits > 0 && spending === 0 ? 40 : 0],
    ['deposits_exceed_purchases', spending > 0 && deposits > spending * ratio ? 25 : 0],
    ['earnings_without_referrals', facts.earnedKopeks > 0 && facts.referralCount === 0 ? 50 : 0],
    ['frequent_deposits', facts.frequentReferrals * 15],
    ['large_deposits', facts.largeReferrals * 10],
    ['single_payer', facts.payingReferrals === 1 && facts.earnedKopeks > SINGLE_PAYER_EARNED_KOPEKS ? 20 : 0],
    ['many_earnings', facts.weekEarningsCount > MANY_WEEK_EARNINGS ? 15 : 0],
  ];
  const score = Math.min(
    MAX_SCORE,
    points.reduce((sum, [, value]) => sum + value, 0),
  );
  const level = riskLevel(score);
  const flags = points.filter(([, value]) => value > 0).map(([flag]) => flag);
  return { score, level, recommendation: recommendationOf(level), flags };
}

export function riskLevel(score: number): RiskLevel {
  if (score >= 70) return 'critical';
  if (score >= 50) return 'high';
  return score >= 30 ? 'medium' : 'low';
}

function recommendationOf(level: RiskLevel): Recommendation {
  if (level === 'critical') return 'reject';
  return level === 'low' ? 'approve' : 'review';
}
