import { HOUR_MS } from '../../core/clock.ts';
import { hexToken, type Random } from '../../core/random.ts';
import type { TextKey } from '../messaging/texts.ts';
import type { PaymentProvider } from './ports.ts';
import type { Payment } from './types.ts';

/** How long a payment is shown as waiting, may be checked, and waits at all (spec 03 sections 4.1 and 11, H15). */
export const PENDING_MS = 24 * HOUR_MS;
/** How far back `latest` looks (spec 03 section 3). */
export const LATEST_MS = HOUR_MS;

/** Purposes whose money goes to the balance of the payer. Other purposes belong to the modules that sell something. */
export const TOPUP_PURPOSES: readonly string[] = ['balance_topup', 'recurrent_topup'];

/** A new order id of 120 random bits, so that it is neither guessed nor used twice (spec 03 H16). */
export function newOrderId(random: Random): string {
  return hexToken(random, 15);
}

/**
 * Whether a record was made by the decision about a case for money without an invoice of its own, e.g. what was paid beyond one
 * (prisma/sql/payment-cases.sql): the provider knows no payment by its ids.
 */
export function isMadeByCase({ externalId, orderId }: Pick<Payment, 'externalId' | 'orderId'>): boolean {
  return externalId === null && orderId.startsWith('case-');
}

/** The URL if it is a web address, else null: clients get no other (spec 03 section 4.1). */
export function webUrl(url: string | null): string | null {
  return url !== null && /^https?:\/\//i.test(url) ? url : null;
}

/** Whether the user may ask the provider about the payment now. */
export function isCheckable(payment: Payment, provider: PaymentProvider | null, now: Date): boolean {
  if (!provider?.canFetchStatus || payment.externalId === null || payment.outcome !== 'pending') return false;
  if (now.getTime() - payment.createdAt.getTime() > PENDING_MS) return false;
  const status = payment.status.toLowerCase();
  return provider.pendingStatuses.some((known) => known.toLowerCase() === status);
}

/** The `status` of answers: the provider's word, unless our outcome says more. */
export function shownStatus(payment: Payment): string {
  const ours = payment.outcome === 'expired' || payment.outcome === 'amount_mismatch' || payment.outcome === 'refunded';
  return ours ? payment.outcome : payment.status;
}

/** The providers' status words in lower case by their text, one table for all methods (spec 03 H20). */
const STATUS_WORDS: readonly (readonly [TextKey, readonly string[]])[] = [
  ['payments.status_waiting', ['pending', 'new', 'created', 'opened', 'active', 'check']],
  ['payments.status_processing', ['process', 'processing', 'inprogress', 'in_progress', 'confirm_check', 'underpaid']],
  ['payments.status_held', ['hold', 'authorized', 'waiting_for_capture']],
  ['payments.status_declined', ['declined', 'decline']],
  ['payments.status_cancelled', ['cancel', 'canceled', 'cancelled']],
  ['payments.status_failed', ['fail', 'failed', 'error', 'system_fail']],
  ['payments.status_expired', ['expired']],
  ['payments.status_amount_mismatch', ['amount_mismatch']],
  ['payments.status_refunded', ['refunded']],
];
const STATUS_TEXTS = new Map(STATUS_WORDS.flatMap(([key, words]) => words.map((word) => [word, key] as const)));

/** The text with emoji of a payment's status; paid takes precedence. */
export function statusText(payment: Payment): TextKey {
  if (payment.isPaid) return 'payments.status_paid';
  const known = STATUS_TEXTS.get(shownStatus(payment).toLowerCase());
  if (known) return known;
  if (payment.outcome === 'failed') return 'payments.status_failed';
  return payment.outcome === 'pending' ? 'payments.status_waiting' : 'payments.status_unknown';
}

const OLD_STARS_TOPUP = /^balance_/;
const OLD_STARS_SALE = /^(?:trial|simple_sub|simple_subscription|guest_purchase)_/;

/**
 * Invoices in Stars that were open when the installation changed to this service have no record here; their payloads say what they are for
 * (spec 03 section 2.5, spec 07 section 4.2). `sale` = of something that is not sold by Stars here.
 */
export function oldStarsPayload(payload: string): 'topup' | 'sale' | null {
  if (OLD_STARS_TOPUP.test(payload)) return 'topup';
  return OLD_STARS_SALE.test(payload) ? 'sale' : null;
}

/** Names of headers that may contain a credential, which is not stored with a callback. */
const SECRET_HEADER = /secret|authorization|cookie|token|api-?key|password/i;

/** The headers of a callback that may be stored. */
export function storableHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const storable = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !SECRET_HEADER.test(entry[0]),
  );
  return Object.fromEntries(storable);
}
