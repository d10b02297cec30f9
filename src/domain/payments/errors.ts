import { refuse } from '../../core/errors.ts';
import { ProviderError } from './ports.ts';

/** Refusals of payments; the texts are the literal ones of spec 03 section 3. */
export const topupRestricted = () => refuse('topup_restricted', 403, 'Balance top-up is restricted for this account');
export const methodNotOffered = () => refuse('payment_method_unavailable', 400, 'Invalid or unavailable payment method');
export const belowMinimum = (kopeks: number) => refuse('amount_below_minimum', 400, `Minimum amount is ${rubles(kopeks)} RUB`);
export const aboveMaximum = (kopeks: number) => refuse('amount_above_maximum', 400, `Maximum amount is ${rubles(kopeks)} RUB`);
export const methodSwitchedOff = (name: string) => refuse('payment_method_off', 400, `${name} payment method is unavailable`);
export const paymentNotFound = () => refuse('payment_not_found', 404, 'Payment not found');
export const noRecentPayments = () => refuse('payment_not_found', 404, 'No recent payments found');
/** @param method null = the administration's text, which does not name it */
export const invalidMethod = (method: string | null) =>
  refuse('invalid_payment_method', 400, method === null ? 'Invalid payment method' : `Invalid payment method: ${method}`);
export const unsupportedMethod = (method: string) =>
  refuse('unsupported_payment_method', 400, `Unsupported payment method: ${method}`);
export const cardNotFound = () => refuse('saved_card_not_found', 404, 'Saved card not found');
export const recurrentOff = () => refuse('recurrent_payments_off', 400, 'Recurrent payments are not enabled');

/** The provider created no invoice; the user may try again. */
export function invoiceFailed(method: { id: string; name: string }, cause: unknown) {
  const what = method.id === 'cryptobot' ? 'invoice' : 'payment';
  return refuse('payment_creation_failed', creationStatus(cause), `Failed to create ${method.name} ${what}`, { cause });
}

/** 502 where the provider is down or does not answer (spec 00, HTTP); 500 where it refuses the request (spec 03 section 3). */
function creationStatus(cause: unknown): 500 | 502 {
  return cause instanceof ProviderError && cause.failure === 'unavailable' ? 502 : 500;
}

export const topupFailed = (cause: unknown) =>
  refuse('payment_creation_failed', 500, 'Failed to create payment. Please try again later.', { cause });

/** Stars have no payment page. */
export function starsOnlyInBot(botUsername: string | null) {
  const bot = botUsername ? `@${botUsername}` : 'the messenger bot';
  return refuse('stars_only_in_bot', 400, `Messenger Stars payments are only available through ${bot}`);
}

export const starsOff = () => refuse('payment_method_off', 400, 'Messenger Stars payments are not enabled');
export const starsBelowMinimum = () => refuse('amount_below_minimum', 400, 'Minimum amount is 1.00 RUB');
export const starsAboveMaximum = () => refuse('amount_above_maximum', 400, 'Maximum amount is 10,000.00 RUB');
export const starsNotCalculated = (cause: unknown) =>
  refuse('stars_not_calculated', 500, 'Failed to calculate Stars amount', { cause });
export const starsInvoiceFailed = (cause: unknown) =>
  refuse('payment_creation_failed', creationStatus(cause), 'Failed to create Stars invoice', { cause });

export const noPaymentUrl = () => refuse('payment_url_missing', 500, 'Payment URL not received');

/** Kopeks as `1234.50`. */
function rubles(kopeks: number): string {
  return `${Math.trunc(kopeks / 100)}.${String(kopeks % 100).padStart(2, '0')}`;
}
