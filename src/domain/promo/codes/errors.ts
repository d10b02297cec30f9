import { type DeclaredRefusal, type Refusal, refusal } from '../../../core/errors.ts';
import type { ActivationRefusal, ValueRefusal } from './promocodes.ts';

/** Every refusal of an activation is 400 (spec 04 section 7.2). */
export const ACTIVATION_REFUSALS: Readonly<Record<ActivationRefusal | 'user_not_found' | 'not_found', Refusal>> = {
  user_not_found: refusal('promocode_user_not_found', 400, 'User not found'),
  not_found: refusal('promocode_not_found', 400, 'Promo code not found'),
  used: refusal('promocode_used', 400, 'Promo code has been fully used'),
  expired: refusal('promocode_expired', 400, 'Promo code has expired'),
  already_used_by_user: refusal('promocode_already_used_by_user', 400, 'You have already used this promo code'),
  daily_limit: refusal('promocode_daily_limit', 400, 'Too many promo code activations today'),
  not_first_purchase: refusal('promocode_not_first_purchase', 400, 'This promo code is only available for first purchase'),
  active_discount_exists: refusal(
    'promocode_active_discount_exists',
    400,
    'You already have an active discount. Deactivate it first via /deactivate-discount',
  ),
  no_subscription_for_days: refusal(
    'promocode_no_subscription_for_days',
    400,
    'This promo code requires an active or expired subscription',
  ),
};

export const VALUE_REFUSALS: Readonly<Record<ValueRefusal, Refusal>> = {
  code_empty: refusal('promocode_code_empty', 400, 'Code must not be empty'),
  bonus: refusal('promocode_bonus', 400, 'Balance bonus must be positive for balance promo codes'),
  days: refusal('promocode_days', 400, 'Subscription days must be positive for this promo code type'),
  discount_percent: refusal('promocode_discount_percent', 400, 'Discount percent must be between 1 and 100'),
  discount_hours: refusal('promocode_discount_hours', 400, 'Discount validity hours must be positive'),
  validity: refusal('promocode_validity', 400, 'valid_from cannot be greater than valid_until'),
};

/** Too many codes that do not exist; the block ends with the window of the limit. */
export const tooManyGuesses = refusal('rate_limited', 429, 'Too many requests', (blockSeconds: number) => ({
  headers: { 'Retry-After': String(blockSeconds) },
}));

/** With what an activation refuses a user who is there. */
export const ACTIVATION_REFUSES: readonly DeclaredRefusal[] = [
  ...Object.values(ACTIVATION_REFUSALS).filter((refused) => refused !== ACTIVATION_REFUSALS.user_not_found),
  tooManyGuesses,
];

export const promocodeNotFound = refusal('promocode_not_found', 404, 'Promo code not found');
export const codeTaken = refusal('promocode_exists', 400, 'Promo code with this code already exists');
export const limitBelowUses = refusal('promocode_limit', 400, 'max_uses cannot be less than current uses');
export const tooManyDiscounts = refusal(
  'promocode_held',
  400,
  'Too many users hold a discount of this promo code for it to be renamed',
);
export const promoGroupUnknown = refusal('promo_group_not_found', 404, 'Promo group not found');

/** With what a new code is refused. */
export const CREATION_REFUSES: readonly DeclaredRefusal[] = [...Object.values(VALUE_REFUSALS), codeTaken];
/** With what a change of a code is refused. */
export const CHANGE_REFUSES: readonly DeclaredRefusal[] = [
  ...CREATION_REFUSES,
  limitBelowUses,
  tooManyDiscounts,
  promocodeNotFound,
];
