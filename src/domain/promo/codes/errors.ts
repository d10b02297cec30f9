import { type AppError, refuse } from '../../../core/errors.ts';
import type { ActivationRefusal, ValueRefusal } from './rules.ts';

const ACTIVATION_TEXTS: Readonly<Record<ActivationRefusal | 'user_not_found' | 'not_found', string>> = {
  user_not_found: 'User not found',
  not_found: 'Promo code not found',
  used: 'Promo code has been fully used',
  expired: 'Promo code has expired',
  already_used_by_user: 'You have already used this promo code',
  daily_limit: 'Too many promo code activations today',
  not_first_purchase: 'This promo code is only available for first purchase',
  active_discount_exists: 'You already have an active discount. Deactivate it first via /deactivate-discount',
  no_subscription_for_days: 'This promo code requires an active or expired subscription',
};

const VALUE_TEXTS: Readonly<Record<ValueRefusal, string>> = {
  code_empty: 'Code must not be empty',
  bonus: 'Balance bonus must be positive for balance promo codes',
  days: 'Subscription days must be positive for this promo code type',
  discount_percent: 'Discount percent must be between 1 and 100',
  discount_hours: 'Discount validity hours must be positive',
  validity: 'valid_from cannot be greater than valid_until',
};

/** Every refusal of an activation is 400 (spec 04 section 7.2). */
export function activationRefused(reason: keyof typeof ACTIVATION_TEXTS): AppError {
  return refuse(`promocode_${reason}`, 400, ACTIVATION_TEXTS[reason]);
}

export function valuesRefused(reason: ValueRefusal): AppError {
  return refuse(`promocode_${reason}`, 400, VALUE_TEXTS[reason]);
}

/** Too many codes that do not exist; the block ends with the window of the limit. */
export function tooManyGuesses(blockSeconds: number): AppError {
  return refuse('rate_limited', 429, 'Too many requests', { headers: { 'Retry-After': String(blockSeconds) } });
}

export const promocodeNotFound = () => refuse('promocode_not_found', 404, 'Promo code not found');
export const codeTaken = () => refuse('promocode_exists', 400, 'Promo code with this code already exists');
export const limitBelowUses = () => refuse('promocode_limit', 400, 'max_uses cannot be less than current uses');
export const tooManyDiscounts = () =>
  refuse('promocode_held', 400, 'Too many users hold a discount of this promo code for it to be renamed');
export const promoGroupUnknown = () => refuse('promo_group_not_found', 404, 'Promo group not found');
