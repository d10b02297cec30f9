import { HOUR_MS } from '../../core/clock.ts';
import { hexToken, type Random } from '../../core/random.ts';
import type { TextKey } from '../messaging/texts.ts';
import type { PaymentProvider, ProviderPaymentState } from './ports.ts';
import type { Payment } from './types.ts';

/** How long a payment is shown as waiting, may be checked, and waits at all (spec 03 sections 4.1 and 11, H15). */
export const PENDING_MS = 24 * HOUR_MS;
/** How far back `latest` looks (spec 03 section 3). */
export const LATEST_MS = HOUR_MS;

/** Purposes whose money goes to the balance of the payer. Others belong to the modules that sell something. */
export const TOPUP_PURPOSES: readonly string[] = ['balance_topup', 'recurrent_topup'];

/** A new order id: 120 random bits, so that nobody guesses or meets another's (spec 03 H16). */
export function newOrderId(random: Random): string {
  return hexToken(random, 15);
}

/** Only web addresses are handed to clients (spec 03 section 4.1). */
export function webUrl(url: string | null): string | null {
  return url !== null && /^https?:\/\//i.test(url) ? url : null;
}

/**
 * What a state that the provider confirmed means for a payment (spec 03 sections 2.2 and 11). `credit` = move the money now.
 * Money is credited only for exactly the amount and currency of the record, whatever the record was thought to be before:
 * a success that comes after a failure or after the 24 hours still counts (H15).
 */
export function judgeState(
  payment: Payment,
  state: ProviderPaymentState,
): 'credit' | 'already_credited' | 'pending' | 'failed' | 'amount_mismatch' | 'refunded' | 'order_mismatch' {
  if (isOtherOrder(payment, state)) return 'order_mismatch';
  const isCredited = payment.transactionId !== null;
  if (state.outcome === 'failed') return isCredited ? 'refunded' : 'failed';
  if (isCredited) return 'already_credited';
  if (state.outcome === 'pending') return 'pending';
  const isEqual = state.amountKopeks === payment.amountKopeks && state.currency === payment.currency;
  return isEqual ? 'credit' : 'amount_mismatch';
}

/** Either id that both sides know must agree; a record without external id learns it from the answer. */
function isOtherOrder(payment: Payment, state: ProviderPaymentState): boolean {
  if (payment.externalId !== null && payment.externalId !== state.externalId) return true;
  return state.orderId !== null && state.orderId !== payment.orderId;
}

/** May the user ask the provider about it now (spec 03 section 4.1)? */
export function isCheckable(payment: Payment, provider: PaymentProvider | null, now: Date): boolean {
  if (!provider?.canFetchStatus || payment.externalId === null || payment.outcome !== 'pending') return false;
  if (now.getTime() - payment.createdAt.getTime() > PENDING_MS) return false;
  const status = payment.status.toLowerCase();
  return provider.pendingStatuses.some((known) => known.toLowerCase() === status);
}

/** The word shown as `status`: the provider's own, unless ours says more. */
export function shownStatus(payment: Payment): string {
  const ours = payment.outcome === 'expired' || payment.outcome === 'amount_mismatch' || payment.outcome === 'refunded';
  return ours ? payment.outcome : payment.status;
}

/** One status table for all methods (spec 03 H20): the providers' words in lower case. */
const STATUS_WORDS: Readonly<Record<string, TextKey>> = {
  pending: 'payments.status_waiting',
  new: 'payments.status_waiting',
  created: 'payments.status_waiting',
  opened: 'payments.status_waiting',
  active: 'payments.status_waiting',
  check: 'payments.status_waiting',
  process: 'payments.status_processing',
  processing: 'payments.status_processing',
  inprogress: 'payments.status_processing',
  in_progress: 'payments.status_processing',
  confirm_check: 'payments.status_processing',
  underpaid: 'payments.status_processing',
  hold: 'payments.status_held',
  authorized: 'payments.status_held',
  waiting_for_capture: 'payments.status_held',
  declined: 'payments.status_declined',
  decline: 'payments.status_declined',
  cancel: 'payments.status_cancelled',
  canceled: 'payments.status_cancelled',
  cancelled: 'payments.status_cancelled',
  fail: 'payments.status_failed',
  failed: 'payments.status_failed',
  error: 'payments.status_failed',
  system_fail: 'payments.status_failed',
  expired: 'payments.status_expired',
  amount_mismatch: 'payments.status_amount_mismatch',
};

/** Emoji and word of a payment's status; paid always wins (spec 03 section 4.1). */
export function statusText(payment: Payment): TextKey {
  if (payment.isPaid) return 'payments.status_paid';
  const known = STATUS_WORDS[shownStatus(payment).toLowerCase()];
  if (known) return known;
  if (payment.outcome === 'failed') return 'payments.status_failed';
  return payment.outcome === 'pending' ? 'payments.status_waiting' : 'payments.status_unknown';
}

const STARS_PAYLOAD = /^balance_/;

/**
 * Payload of a Stars top-up (spec 03 section 3).
 * @param kopeks what the stars are worth
 */
export function starsTopupPayload(userId: number, kopeks: number, now: Date): string {
  return `balance_topup_${userId}_${kopeks}_${Math.floor(now.getTime() / 1_000)}`;
}

/** Payloads this service made and can fulfil; other kinds are refused before anybody pays (spec 03 section 2.5). */
export function isStarsTopup(payload: string): boolean {
  return STARS_PAYLOAD.test(payload);
}

/** Header names that may carry a credential: they are not stored with a callback. */
const SECRET_HEADER = /secret|authorization|cookie|token|api-?key|password/i;

/** The headers of a callback that are worth keeping. */
export function storableHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !SECRET_HEADER.test(entry[0]),
  );
  return Object.fromEntries(kept);
}
