import { describe, expect, test } from 'vitest';
import { assessRisk, type RiskFacts, riskLevel } from '../../../src/domain/referrals/withdrawals/risk-analysis.ts';
import {
  availableAmounts,
  needsSecondApproval,
  refusalOfAmount,
  refusalOfRequest,
} from '../../../src/domain/referrals/withdrawals/rules.ts';

const sums = (balanceKopeks: number, earnedKopeks: number, withdrawnKopeks = 0, pendingKopeks = 0) => ({
  balanceKopeks,
  earnedKopeks,
  withdrawnKopeks,
  pendingKopeks,
});
const terms = { isEnabled: true, isReferralOnly: true, minAmountKopeks: 100_000, cooldownDays: 30, isTestMode: false };
const now = new Date('2026-05-01T12:00:00Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);

describe('what is available (spec 03 section 6)', () => {
  test.each([
    ['earnings limited by the balance', sums(500, 900), true, 500, 500],
    ['the balance limited by the earnings', sums(900, 500), true, 500, 500],
    ['less what was withdrawn and what is pending', sums(900, 800, 300, 200), true, 300, 300],
    ['never below zero', sums(900, 100, 300, 200), true, 0, 0],
    ['the whole balance less what is pending', sums(900, 800, 300, 200), false, 300, 700],
    ['more pending than on the balance', sums(100, 0, 0, 200), false, 0, 0],
  ])('%s', (_, given, isReferralOnly, availableReferralKopeks, availableTotalKopeks) => {
    expect(availableAmounts(given, isReferralOnly)).toEqual({ availableReferralKopeks, availableTotalKopeks });
  });
});

describe('refusals in their order (spec 03 section 6)', () => {
  const facts = { terms, availableTotalKopeks: 200_000, last: null, now };
  const last = (status: 'pending' | 'cancelled', days: number) => ({ status, createdAt: daysAgo(days) });

  test('off comes before too little, too little before the pause, the pause before a pending request', () => {
    const worst = { ...facts, availableTotalKopeks: 0, last: last('pending', 1) };
    expect(refusalOfRequest({ ...worst, terms: { ...terms, isEnabled: false } })).toEqual({ reason: 'withdrawal_off' });
    expect(refusalOfRequest(worst)).toEqual({ reason: 'withdrawal_below_minimum', minimumKopeks: 100_000, availableKopeks: 0 });
    expect(refusalOfRequest({ ...worst, availableTotalKopeks: 100_000 })).toEqual({ reason: 'withdrawal_cooldown', days: 29 });
    expect(refusalOfRequest({ ...facts, last: last('pending', 30) })).toEqual({ reason: 'withdrawal_pending' });
    expect(refusalOfRequest(facts)).toBeNull();
  });

  test('the pause counts from any request, also a cancelled one, to the millisecond, but not in the test mode', () => {
    const justBefore = { status: 'cancelled' as const, createdAt: new Date(daysAgo(30).getTime() + 1) };
    expect(refusalOfRequest({ ...facts, last: justBefore })).toEqual({ reason: 'withdrawal_cooldown', days: 1 });
    expect(refusalOfRequest({ ...facts, last: last('cancelled', 30) })).toBeNull();
    expect(refusalOfRequest({ ...facts, last: justBefore, terms: { ...terms, isTestMode: true } })).toBeNull();
    // Written by an instance whose clock is ahead.
    const ahead = { status: 'cancelled' as const, createdAt: daysAgo(-1) };
    expect(refusalOfRequest({ ...facts, last: ahead, terms: { ...terms, cooldownDays: 0 } })).toBeNull();
    const pending = { ...facts, last: last('pending', 0), terms: { ...terms, isTestMode: true } };
    expect(refusalOfRequest(pending)).toEqual({ reason: 'withdrawal_pending' });
  });

  test('the amount: at least the minimum, at most what is available, and of the balance only the earnings', () => {
    const of = (amount: number, isReferralOnly = true) => {
      const given = sums(300_000, 200_000);
      return (
        refusalOfAmount(amount, given, availableAmounts(given, isReferralOnly), { ...terms, isReferralOnly })?.reason ?? null
      );
    };
    expect([of(99_999), of(100_000), of(200_000)]).toEqual(['withdrawal_below_minimum', null, null]);
    expect([of(200_001), of(300_000), of(300_001)]).toEqual([
      'withdrawal_exceeds_referral',
      'withdrawal_exceeds_referral',
      'withdrawal_exceeds_available',
    ]);
    expect([of(300_000, false), of(300_001, false)]).toEqual([null, 'withdrawal_exceeds_available']);
  });

  test('a second approval: off at 0, and above the amount, not at it', () => {
    expect([needsSecondApproval(10_000_000, 0), needsSecondApproval(500, 500), needsSecondApproval(501, 500)]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe('risk score (spec 03 section 6)', () => {
  const calm: RiskFacts = {
    earnedKopeks: 50_000,
    depositsKopeks: 0,
    spendingKopeks: 0,
    referralCount: 3,
    payingReferrals: 2,
    frequentReferrals: 0,
    largeReferrals: 0,
    weekEarningsCount: 20,
  };
  test.each<[string, Partial<RiskFacts>, number]>([
    ['nothing', {}, 0],
    ['deposits, and nothing spent', { depositsKopeks: 1 }, 40],
    ['deposits above twice the spending', { depositsKopeks: 201, spendingKopeks: 100 }, 25],
    ['deposits of twice the spending', { depositsKopeks: 200, spendingKopeks: 100 }, 0],
    ['earnings without referrals', { referralCount: 0 }, 50],
    ['neither earnings nor referrals', { referralCount: 0, earnedKopeks: 0 }, 0],
    ['two referrals with many deposits', { frequentReferrals: 2 }, 30],
    ['three referrals with large deposits', { largeReferrals: 3 }, 30],
    ['one paying referral and more than 500 rubles', { payingReferrals: 1, earnedKopeks: 50_001 }, 20],
    ['one paying referral and 500 rubles', { payingReferrals: 1 }, 0],
    ['21 earnings in a week', { weekEarningsCount: 21 }, 15],
    ['all together, at most 100', { depositsKopeks: 1, frequentReferrals: 9, largeReferrals: 9 }, 100],
  ])('%s', (_, facts, score) => {
    expect(assessRisk({ ...calm, ...facts }, 2).score).toBe(score);
  });

  test('levels and recommendations', () => {
    expect([0, 29, 30, 49, 50, 69, 70, 100].map(riskLevel)).toEqual([
      ...['low', 'low', 'medium', 'medium', 'high', 'high', 'critical', 'critical'],
    ]);
    const recommended = (facts: Partial<RiskFacts>) => assessRisk({ ...calm, ...facts }, 2).recommendation;
    expect(recommended({})).toBe('approve');
    expect(recommended({ frequentReferrals: 2 })).toBe('review');
    expect(recommended({ referralCount: 0 })).toBe('review');
    expect(recommended({ frequentReferrals: 5 })).toBe('reject');
    expect(assessRisk({ ...calm, depositsKopeks: 1, frequentReferrals: 1 }, 2).flags).toEqual([
      'deposits_without_purchases',
      'frequent_deposits',
    ]);
  });

  test('the ratio is a setting', () => {
    const facts = { ...calm, depositsKopeks: 160, spendingKopeks: 100 };
    expect([assessRisk(facts, 1.5).score, assessRisk(facts, 1.6).score]).toEqual([25, 0]);
  });
});
