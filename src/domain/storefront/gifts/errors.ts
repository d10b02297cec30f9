import { refuse } from '../../../core/errors.ts';
import type { RefundObstacle } from './rules.ts';

/** Refusals of gifts; the texts are the literal ones of spec 03 section 9. */
export const giftsDisabled = () => refuse('gifts_disabled', 400, 'Gift feature is not enabled');
export const RESTRICTED = 'Purchases are restricted for this account';
export const invalidEmail = () => refuse('gift_email_invalid', 400, 'Invalid email format');
export const invalidUsername = () => refuse('gift_username_invalid', 400, 'Invalid messenger username format');
export const giftToSelf = () => refuse('gift_to_self', 400, 'Cannot gift to yourself');
export const giftTariffNotFound = () => refuse('gift_tariff_not_found', 404, 'Tariff not found or inactive');
export const insufficientBalance = () => refuse('insufficient_balance', 400, 'Insufficient balance');

export const codeTooShort = () => refuse('gift_code_too_short', 400, 'Code too short');
export const giftNotFound = () => refuse('gift_not_found', 404, 'Gift not found');
export const giftOfBuyer = () => refuse('gift_own', 400, 'Cannot activate your own gift');
export const notClaimable = () => refuse('gift_not_claimable', 400, 'This gift cannot be activated');
export const tooManyFailures = (seconds: number) =>
  refuse('rate_limited', 429, 'Too many requests', { headers: { 'Retry-After': String(seconds) } });

const OBSTACLES: Readonly<Record<RefundObstacle, string>> = {
  not_a_gift: 'This purchase is not a gift',
  refunded: 'This gift has been refunded already',
  returned: 'The provider gives the money of this gift back to its payer, or has done so',
  unpaid: 'This gift has not been paid',
  claimed: 'This gift has been claimed',
  no_buyer: 'The account of the buyer no longer exists',
};

/** For the command line. */
export const notRefundable = (obstacle: RefundObstacle) => refuse(`gift_${obstacle}`, 409, OBSTACLES[obstacle]);
export const notResendable = () =>
  refuse('gift_without_notice', 409, 'This gift has no notice to send: nothing has been given yet');
