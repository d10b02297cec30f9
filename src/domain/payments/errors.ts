import { type AppError, type DeclaredRefusal, refusal } from '../../core/errors.ts';
import { tooManyRequests } from '../../core/rate-limit.ts';
import { idempotencyKeyInUse } from '../ledger/run-once.ts';
import { ProviderError } from './ports.ts';

const starsOnlyInBotRefusal = refusal(
  'stars_only_in_bot',
  400,
  'Messenger Stars payments are only available through the messenger bot',
);

/** Refusals of payments; the texts are the literal ones of spec 03 section 3. */
export const topupRestricted = refusal('topup_restricted', 403, 'Balance top-up is restricted for this account');
export const methodNotOffered = refusal('payment_method_unavailable', 400, 'Invalid or unavailable payment method');
export const belowMinimum = refusal('amount_below_minimum', 400, 'Minimum amount is <n> RUB', (kopeks: number) => ({
  detail: `Minimum amount is ${rubles(kopeks)} RUB`,
}));
export const aboveMaximum = refusal('amount_above_maximum', 400, 'Maximum amount is <n> RUB', (kopeks: number) => ({
  detail: `Maximum amount is ${rubles(kopeks)} RUB`,
}));
export const methodSwitchedOff = refusal('payment_method_off', 400, 'Sandbox payment method is unavailable', (name: string) => ({
  detail: `${name} payment method is unavailable`,
}));
export const paymentNotFound = refusal('payment_not_found', 404, 'Payment not found');
export const noRecentPayments = refusal('payment_not_found', 404, 'No recent payments found');
/** @param method null = the administration's text, which does not name it */
export const invalidMethod = refusal('invalid_payment_method', 400, 'Invalid payment method', (method: string | null) => ({
  detail: method === null ? 'Invalid payment method' : `Invalid payment method: ${method}`,
}));
export const unsupportedMethod = refusal(
  'unsupported_payment_method',
  400,
  'Unsupported payment method: balance',
  (method: string) => ({ detail: `Unsupported payment method: ${method}` }),
);
export const cardNotFound = refusal('saved_card_not_found', 404, 'Saved card not found');
export const recurrentOff = refusal('recurrent_payments_off', 400, 'Recurrent payments are not enabled');

/** The provider created no invoice; the user may try again. */
export function invoiceFailed(method: { id: string; name: string }, cause: unknown) {
  const what = method.id === 'cryptobot' ? 'invoice' : 'payment';
  return creationFailure(cause, `Failed to create ${method.name} ${what}`);
}

/** 502 where the provider is down or does not answer (spec 00, HTTP); 500 where it refuses the request. */
function creationFailure(cause: unknown, detail: string): AppError {
  const isDown = cause instanceof ProviderError && cause.failure === 'unavailable';
  return (isDown ? providerDown : topupFailed)({ detail, cause });
}

const providerDown = refusal('payment_creation_failed', 502, 'Failed to create payment');
export const topupFailed = refusal('payment_creation_failed', 500, 'Failed to create payment. Please try again later.');

/** Stars have no payment page. */
export function starsOnlyInBot(botUsername: string | null) {
  const bot = botUsername ? `@${botUsername}` : 'the messenger bot';
  return starsOnlyInBotRefusal({ detail: `Messenger Stars payments are only available through ${bot}` });
}

export const starsOff = refusal('payment_method_off', 400, 'Messenger Stars payments are not enabled');
export const starsBelowMinimum = refusal('amount_below_minimum', 400, 'Minimum amount is 1.00 RUB');
export const starsAboveMaximum = refusal('amount_above_maximum', 400, 'Maximum amount is 10,000.00 RUB');
export const starsNotCalculated = refusal('stars_not_calculated', 500, 'Failed to calculate Stars amount', (cause: unknown) => ({
  cause,
}));
export const starsInvoiceFailed = (cause: unknown) => creationFailure(cause, 'Failed to create Stars invoice');

export const noPaymentUrl = refusal('payment_url_missing', 500, 'Payment URL not received');

/** With what a top-up refuses a user who is there. */
export const TOPUP_REFUSES: readonly DeclaredRefusal[] = [
  methodNotOffered,
  belowMinimum,
  aboveMaximum,
  starsOnlyInBotRefusal,
  methodSwitchedOff,
  topupRestricted,
  idempotencyKeyInUse,
  tooManyRequests,
  providerDown,
];
/** The same of an invoice in Stars; its smallest amount is checked before. */
export const STARS_INVOICE_REFUSES: readonly DeclaredRefusal[] = [
  starsOff,
  starsAboveMaximum,
  aboveMaximum,
  topupRestricted,
  idempotencyKeyInUse,
  tooManyRequests,
  providerDown,
];

/** Kopeks as `1234.50`. */
function rubles(kopeks: number): string {
  return `${Math.trunc(kopeks / 100)}.${String(kopeks % 100).padStart(2, '0')}`;
}
