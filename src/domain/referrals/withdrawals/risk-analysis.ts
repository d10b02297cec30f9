import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { fullName } from '../../identity/rules.ts';
import { serviceTextIn, type TextKey, text } from '../../messaging/texts.ts';
import type { MyWithdrawalSums } from './repo.ts';
import { listSuspiciousReferrals, type RiskLimits, type RiskRow, readRiskFacts, type SuspiciousReferral } from './risk-repo.ts';
import type { AvailableAmounts } from './types.ts';

/** The risk score of a withdrawal request. Pure. */

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
const RECOMMENDATIONS = ['approve', 'review', 'reject'] as const;
type Recommendation = (typeof RECOMMENDATIONS)[number];

/** Rules that raise the score; the names are keys of the texts `withdrawals.flag_…`. */
const RISK_FLAGS = [
  'deposits_without_purchases',
  'deposits_exceed_purchases',
  'earnings_without_referrals',
  'frequent_deposits',
  'large_deposits',
  'single_payer',
  'many_earnings',
] as const;
type RiskFlag = (typeof RISK_FLAGS)[number];

interface Risk {
  /** 0..100 */
  score: number;
  level: RiskLevel;
  recommendation: Recommendation;
  flags: RiskFlag[];
}

const MAX_SCORE = 100;
/** Earnings above which a single paying referral is suspicious, kopeks. */
const SINGLE_PAYER_EARNED_KOPEKS = 50_000;
/** Earnings in a week above which their number is suspicious. */
const MANY_WEEK_EARNINGS = 20;

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

/** Referrals that the analysis names; the score counts all of them. */
const MAX_NAMED = 50;

/** Analyses a request under the user's lock. The sums do not contain the request yet. */
export async function analyseRisk(
  t: App,
  userId: number,
  sums: MyWithdrawalSums,
  available: AvailableAmounts & { isReferralOnly: boolean },
) {
  const { settings } = t;
  const now = t.clock.now();
  const limits: RiskLimits = {
    monthStart: addDays(now, -30),
    weekStart: addDays(now, -7),
    maxDepositsPerMonth: settings.get('REFERRAL_WITHDRAWAL_SUSPICIOUS_MAX_DEPOSITS_PER_MONTH'),
    minDepositKopeks: settings.get('REFERRAL_WITHDRAWAL_SUSPICIOUS_MIN_DEPOSIT_KOPEKS'),
  };
  const facts = await readRiskFacts(t.db, userId, limits);
  const risk = assessRisk(
    { ...facts, earnedKopeks: sums.earnedKopeks },
    settings.get('REFERRAL_WITHDRAWAL_SUSPICIOUS_NO_PURCHASES_RATIO'),
  );
  const isAnySuspicious = facts.frequentReferrals + facts.largeReferrals > 0;
  const suspicious = isAnySuspicious ? await listSuspiciousReferrals(t.db, userId, limits, MAX_NAMED) : [];
  const language = settings.get('DEFAULT_LANGUAGE');
  const analysis = {
    risk_score: risk.score,
    risk_level: risk.level,
    recommendation: risk.recommendation,
    recommendation_text: text(language, `withdrawals.recommendation_${risk.recommendation}` satisfies TextKey),
    flags: risk.flags.map((flag) => text(language, `withdrawals.flag_${flag}` satisfies TextKey)),
    details: detailsOf(language, facts, suspicious, {
      total_earned: sums.earnedKopeks,
      own_deposits: facts.depositsKopeks,
      spending: facts.spendingKopeks,
      referral_spent: sums.referralSpentKopeks,
      withdrawn: sums.withdrawnKopeks,
      pending: sums.pendingKopeks,
      available_referral: available.availableReferralKopeks,
      available_total: available.availableTotalKopeks,
      only_referral_mode: available.isReferralOnly,
    }),
  };
  return { risk, json: JSON.stringify(analysis) };
}

function detailsOf(language: string, facts: RiskRow, suspicious: readonly SuspiciousReferral[], balanceStats: object): object {
  const flagsOf = ({ isFrequent, isLarge }: SuspiciousReferral) => [
    ...(isFrequent ? [text(language, 'withdrawals.flag_frequent_deposits')] : []),
    ...(isLarge ? [text(language, 'withdrawals.flag_large_deposits')] : []),
  ];
  return {
    balance_stats: balanceStats,
    referral_count: facts.referralCount,
    ...(suspicious.length === 0
      ? {}
      : {
          suspicious_referrals: suspicious.map((referral) => ({
            name: fullName(referral),
            deposits_count: referral.depositsCount,
            deposits_total: referral.depositsKopeks,
            flags: flagsOf(referral),
          })),
        }),
    ...(facts.referralCount === 0
      ? {}
      : {
          referral_deposits: {
            paying_referrals: facts.payingReferrals,
            total_deposits: facts.referralDepositsCount,
            total_amount: facts.referralDepositsKopeks,
          },
        }),
    earnings_by_reason: facts.earningsByReason,
    recent_activity: { week_earnings_count: facts.weekEarningsCount, week_earnings_amount: facts.weekEarningsKopeks },
  };
}

const ANALYSIS_TEXTS: readonly TextKey[] = [
  ...RECOMMENDATIONS.map((name): TextKey => `withdrawals.recommendation_${name}`),
  ...RISK_FLAGS.map((name): TextKey => `withdrawals.flag_${name}`),
];

/** A stored analysis with its notes in the reader's language: they were written in that of the installation (spec 10 U7). */
export function analysisIn(language: string, analysis: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(analysis), (_, value: unknown) =>
    typeof value === 'string' ? serviceTextIn(language, value, ANALYSIS_TEXTS) : value,
  ) as Record<string, unknown>;
}

/** A stored analysis; null where there is none, or none that can be read. */
export function parseAnalysis(json: string | null): Record<string, unknown> | null {
  if (json === null) return null;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
