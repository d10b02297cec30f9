import { describe, expect, test } from 'vitest';
import { startOfDay } from '../../../src/core/clock.ts';
import { ValidationError } from '../../../src/core/errors.ts';
import {
  activationRefusal,
  codeOfSource,
  discountSource,
  isDiscountExpired,
  isValid,
  storedMaxUses,
  usesLeft,
} from '../../../src/domain/promo/codes/promocodes.ts';
import type { Promocode, RedeemerFacts } from '../../../src/domain/promo/codes/types.ts';
import { periodDiscountsOf, thresholdOf } from '../../../src/domain/promo-groups/promo-groups.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = new Date(now.getTime() + 1);
const earlier = new Date(now.getTime() - 1);

const code: Promocode = {
  id: 1,
  code: 'SPRING',
  type: 'balance',
  balanceBonusKopeks: 100,
  subscriptionDays: 0,
  maxUses: 2,
  currentUses: 1,
  validFrom: now,
  validUntil: now,
  isActive: true,
  firstPurchaseOnly: false,
  promoGroupId: null,
  createdBy: null,
  createdAt: now,
  updatedAt: now,
};
const user: RedeemerFacts = {
  hasUsedCode: false,
  activationsToday: 4,
  hasHadPaid: false,
  hasActiveDiscount: false,
  hasSubscription: false,
};

describe('validity', () => {
  test.each([
    ['both ends count', {}, true],
    ['not yet', { validFrom: later }, false],
    ['no longer', { validUntil: earlier }, false],
    ['no end', { validUntil: null }, true],
    ['switched off', { isActive: false }, false],
    ['used up', { currentUses: 2 }, false],
  ])('%s', (_name, fields, expected) => {
    expect(isValid({ ...code, ...fields }, now)).toBe(expected);
  });
});

describe('the first reason counts (spec 04 section 7.2)', () => {
  const everything: RedeemerFacts = {
    hasUsedCode: true,
    activationsToday: 5,
    hasHadPaid: true,
    hasActiveDiscount: true,
    hasSubscription: false,
  };
  test.each([
    ['used', { currentUses: 2, isActive: false }, everything],
    ['expired', { isActive: false }, everything],
    ['already_used_by_user', { firstPurchaseOnly: true }, everything],
    ['daily_limit', { firstPurchaseOnly: true }, { ...everything, hasUsedCode: false }],
    ['not_first_purchase', { firstPurchaseOnly: true, type: 'discount' as const }, { ...user, hasHadPaid: true }],
    ['active_discount_exists', { type: 'discount' as const }, { ...user, hasActiveDiscount: true }],
    ['no_subscription_for_days', { type: 'subscription_days' as const }, user],
    [null, {}, user],
    [null, { firstPurchaseOnly: true }, user],
    [null, { type: 'subscription_days' as const }, { ...user, hasSubscription: true, hasActiveDiscount: true }],
  ])('%s', (expected, fields, facts) => {
    expect(activationRefusal({ ...code, ...fields }, facts, now)).toBe(expected);
  });
});

test('0 means unlimited uses, and the remaining uses are never below 0', () => {
  expect([storedMaxUses(0), storedMaxUses(1)]).toEqual([999_999, 1]);
  expect([usesLeft(code), usesLeft({ maxUses: 1, currentUses: 3 })]).toEqual([1, 0]);
});

test('the source of a discount identifies its code only', () => {
  expect(codeOfSource(discountSource('A:B'))).toBe('A:B');
  expect([codeOfSource(null), codeOfSource('offer'), codeOfSource('xpromocode:A')]).toEqual([null, null, null]);
});

test('a discount has expired at its end, one without end never', () => {
  const ends = (expiresAt: Date | null) => isDiscountExpired({ percent: 1, source: null, expiresAt }, now);
  expect([ends(now), ends(earlier), ends(later), ends(null)]).toEqual([true, true, false, false]);
});

test('days begin at midnight UTC', () => {
  expect(startOfDay(new Date('2026-03-01T23:59:59.999Z')).toISOString()).toBe('2026-03-01T00:00:00.000Z');
});

describe('promo group values (spec 04 section 8.4)', () => {
  test('percentages of periods are clamped, periods are days', () => {
    expect(periodDiscountsOf({ 30: 101, 90: -1, 360: 100 })).toEqual({ 30: 100, 90: 0, 360: 100 });
    for (const days of ['0', '-30', 'month', '1.5', '030', ''])
      expect(() => periodDiscountsOf({ [days]: 1 })).toThrow(ValidationError);
  });

  test('a threshold of 0 means none', () => {
    expect([thresholdOf(null), thresholdOf(0), thresholdOf(-1), thresholdOf(1)]).toEqual([null, null, null, 1]);
  });
});
