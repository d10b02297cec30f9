import type { PersonalDiscount, Promocode, PromocodeValues, RedeemerFacts } from './types.ts';

/** Stored for "no limit" (spec 04 section 7.1). */
export const UNLIMITED_USES = 999_999;

/** Activations that one user may make in any 24 hours (spec 04 section 7.2). */
export const ACTIVATIONS_A_DAY = 5;

const SOURCE_PREFIX = 'promocode:';

export type ActivationRefusal =
  | 'used'
  | 'expired'
  | 'already_used_by_user'
  | 'daily_limit'
  | 'not_first_purchase'
  | 'active_discount_exists'
  | 'no_subscription_for_days';

/** Codes are stored and looked up trimmed and in upper case. */
export function normaliseCode(code: string): string {
  return code.trim().toUpperCase();
}

type Limits = Pick<Promocode, 'isActive' | 'currentUses' | 'maxUses' | 'validFrom' | 'validUntil'>;

/** Whether the code can be activated now, regardless of the user. */
export function isValid(code: Limits, now: Date): boolean {
  return (
    code.isActive &&
    code.currentUses < code.maxUses &&
    code.validFrom <= now &&
    (code.validUntil === null || code.validUntil >= now)
  );
}

export function usesLeft(code: Pick<Promocode, 'maxUses' | 'currentUses'>): number {
  return Math.max(0, code.maxUses - code.currentUses);
}

/** 0 in a request means unlimited. */
export function storedMaxUses(maxUses: number): number {
  return maxUses === 0 ? UNLIMITED_USES : maxUses;
}

/** The first reason, in the documented order, why this user may not activate this code now; null = may (spec 04 section 7.2). */
export function activationRefusal(code: Promocode, user: RedeemerFacts, now: Date): ActivationRefusal | null {
  if (!isValid(code, now)) return code.currentUses >= code.maxUses ? 'used' : 'expired';
  if (user.hasUsedCode) return 'already_used_by_user';
  if (user.activationsToday >= ACTIVATIONS_A_DAY) return 'daily_limit';
  if (code.firstPurchaseOnly && user.hasHadPaid) return 'not_first_purchase';
  if (code.type === 'discount' && user.hasActiveDiscount) return 'active_discount_exists';
  if (code.type === 'subscription_days' && !user.hasSubscription) return 'no_subscription_for_days';
  return null;
}

export type ValueRefusal = 'code_empty' | 'bonus' | 'days' | 'discount_percent' | 'discount_hours' | 'validity';

/** The first reason why a code must not be stored like this; null = it may (spec 04 section 7.4). */
export function valueRefusal(values: PromocodeValues): ValueRefusal | null {
  const { type, balanceBonusKopeks, subscriptionDays, validFrom, validUntil } = values;
  if (values.code === '') return 'code_empty';
  if (type === 'balance' && balanceBonusKopeks <= 0) return 'bonus';
  if ((type === 'subscription_days' || type === 'trial_subscription') && subscriptionDays <= 0) return 'days';
  if (type === 'discount' && (balanceBonusKopeks < 1 || balanceBonusKopeks > 100)) return 'discount_percent';
  // Codes of older installations have 0 hours, until the first purchase; none is made any more (spec 10 X15).
  if (type === 'discount' && subscriptionDays <= 0) return 'discount_hours';
  return validUntil !== null && validFrom > validUntil ? 'validity' : null;
}

export function discountSource(code: string): string {
  return `${SOURCE_PREFIX}${code}`;
}

/** The code that gave a discount; null when it came from elsewhere. */
export function codeOfSource(source: string | null): string | null {
  return source?.startsWith(SOURCE_PREFIX) ? source.slice(SOURCE_PREFIX.length) : null;
}

/** Whether the discount has expired; one without end does not expire. */
export function isDiscountExpired(discount: PersonalDiscount, now: Date): boolean {
  return discount.expiresAt !== null && discount.expiresAt <= now;
}
