import { describe, expect, it } from 'vitest';
import { type AccrualFacts, planAccrual } from '../../../src/domain/referrals/rewards.ts';

const facts: AccrualFacts = {
  amountKopeks: 50_000,
  percent: 25,
  hasMadeFirstTopup: true,
  commissionsPaid: 0,
  minimumTopupKopeks: 10_000,
  firstTopupBonusKopeks: 7_000,
  inviterBonusKopeks: 3_000,
  maxCommissionPayments: 0,
};
const first = { hasMadeFirstTopup: false };
const commission = 'referral_commission_topup';
const inviter = 'referral_first_topup';

describe('who gets what for a payment (spec 04 section 1.3)', () => {
  it.each<[string, Partial<AccrualFacts>, [boolean, number, number, string]]>([
    ['a later top-up pays the commission', {}, [false, 0, 12_500, commission]],
    ['the commission floors', { amountKopeks: 99, percent: 50 }, [false, 0, 49, commission]],
    ['a commission may have a fraction', { amountKopeks: 1_000, percent: 12.55 }, [false, 0, 125, commission]],
    ['0 percent is no commission', { percent: 0 }, [false, 0, 0, commission]],
    ['below the minimum: commission alone', { ...first, amountKopeks: 9_999 }, [false, 0, 2_499, commission]],
    ['the minimum itself is the first top-up', { ...first, amountKopeks: 10_000 }, [true, 7_000, 5_500, inviter]],
    ['the first one pays the inviter without commission', { ...first, percent: 0 }, [true, 7_000, 3_000, inviter]],
    ['bonuses may be off', { ...first, firstTopupBonusKopeks: 0, inviterBonusKopeks: 0 }, [true, 0, 12_500, inviter]],
    ['at the limit nothing', { maxCommissionPayments: 2, commissionsPaid: 2 }, [false, 0, 0, commission]],
    ['below the limit the commission', { maxCommissionPayments: 2, commissionsPaid: 1 }, [false, 0, 12_500, commission]],
    ['no limit is no limit', { maxCommissionPayments: 0, commissionsPaid: 99 }, [false, 0, 12_500, commission]],
    [
      'the limit holds below the minimum',
      { ...first, amountKopeks: 9_999, maxCommissionPayments: 1, commissionsPaid: 1 },
      [false, 0, 0, commission],
    ],
    ['the first bonus asks no limit', { ...first, maxCommissionPayments: 1, commissionsPaid: 1 }, [true, 7_000, 15_500, inviter]],
  ])('%s', (_, given, [isFirstTopup, referralKopeks, referrerKopeks, reason]) => {
    expect(planAccrual({ ...facts, ...given })).toEqual({ isFirstTopup, referralKopeks, referrerKopeks, reason });
  });
});
