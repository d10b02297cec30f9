import { type Refusal, refusal } from '../../../core/errors.ts';
import type { RefundObstacle } from './rules.ts';

/** Refusals of gifts; the texts are the literal ones of spec 03 section 9. */
export const giftsDisabled = refusal('gifts_disabled', 400, 'Gift feature is not enabled');
export const RESTRICTED = 'Purchases are restricted for this account';
export const invalidEmail = refusal('gift_email_invalid', 400, 'Invalid email format');
export const invalidUsername = refusal('gift_username_invalid', 400, 'Invalid messenger username format');
export const giftToSelf = refusal('gift_to_self', 400, 'Cannot gift to yourself');
export const giftTariffNotFound = refusal('gift_tariff_not_found', 404, 'Tariff not found or inactive');
export const insufficientBalance = refusal('insufficient_balance', 400, 'Insufficient balance');

export const codeTooShort = refusal('gift_code_too_short', 400, 'Code too short');
export const giftNotFound = refusal('gift_not_found', 404, 'Gift not found');
export const giftOfBuyer = refusal('gift_own', 400, 'Cannot activate your own gift');
export const notClaimable = refusal('gift_not_claimable', 400, 'This gift cannot be activated');
export const tooManyFailures = refusal('rate_limited', 429, 'Too many requests', (seconds: number) => ({
  headers: { 'Retry-After': String(seconds) },
}));

/** For the command line. */
export const REFUND_REFUSALS: Readonly<Record<RefundObstacle, Refusal>> = {
  not_a_gift: refusal('gift_not_a_gift', 409, 'This purchase is not a gift'),
  refunded: refusal('gift_refunded', 409, 'This gift has been refunded already'),
  returned: refusal('gift_returned', 409, 'The provider gives the money of this gift back to its payer, or has done so'),
  unpaid: refusal('gift_unpaid', 409, 'This gift has not been paid'),
  claimed: refusal('gift_claimed', 409, 'This gift has been claimed'),
  no_buyer: refusal('gift_no_buyer', 409, 'The account of the buyer no longer exists'),
};

export const notResendable = refusal('gift_without_notice', 409, 'This gift has no notice to send: nothing has been given yet');
