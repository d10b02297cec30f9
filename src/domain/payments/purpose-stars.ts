import type { App } from '../../core/app.ts';
import type { UserRecord } from '../identity/types.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { upsertStarsPayment } from './credit-repo.ts';
import { newOrderId } from './rules.ts';
import { findStarsInvoice, insertStarsInvoice, markStarsInvoicePaid, type NewStarsInvoice } from './stars-invoice-repo.ts';
import type { CreditResult } from './types.ts';

/**
 * Something that Stars pay besides the balance. Later modules hand theirs in where updates and callbacks are taken, so that this one
 * knows none of them.
 */
export interface StarsPurpose {
  /** How the payloads of its invoices begin (spec 03 section 2.5). */
  readonly prefix: string;
  /** Asked before any star moves. @returns the sentence shown to the payer; null = may be paid */
  refusalOf(app: App, query: Extract<MessengerUpdate, { kind: 'pre_checkout' }>, payer: UserRecord): Promise<string | null>;
  /** Takes the payment of a known payer: what was bought, or the money back on the balance; once per charge. */
  settle(app: App, paid: Extract<MessengerUpdate, { kind: 'stars_paid' }>, payer: UserRecord): Promise<CreditResult>;
}

export interface StarsInvoiceRecord {
  id: number;
  userId: number | null;
  stars: number | null;
  isPaid: boolean;
}

/** A charge with the ledger row that it became. */
export interface StarsCharge {
  chargeId: string;
  transactionId: number;
  update: object;
}

/** Which of the purposes a payload belongs to; undefined = a top-up, or nobody's. */
export function purposeOf(purposes: readonly StarsPurpose[], payload: string): StarsPurpose | undefined {
  return purposes.find(({ prefix }) => payload.startsWith(prefix));
}

/** Keeps what was asked of whom, so that the payment can be held against it (spec 04 section 13.7). */
export function storeStarsInvoice(t: App, invoice: Omit<NewStarsInvoice, 'now'>): Promise<void> {
  return insertStarsInvoice(t.db, { ...invoice, now: t.clock.now() });
}

/** The stored invoice of a payload. @param lock in a transaction: until its end */
export function readStarsInvoice(app: App, payload: string, lock: boolean): Promise<StarsInvoiceRecord | null> {
  return findStarsInvoice(app.db, payload, { lock });
}

/** Writes the payment record of a charge, in the transaction that posts its money. @param invoice null = none fits: a record of its own */
export async function recordStarsCharge(
  t: App,
  invoice: StarsInvoiceRecord | null,
  charge: StarsCharge & { userId: number; amountKopeks: number; description: string },
): Promise<void> {
  const now = t.clock.now();
  if (invoice) return markStarsInvoicePaid(t.db, invoice.id, charge, now);
  await upsertStarsPayment(t.db, { ...charge, orderId: newOrderId(t.random), status: 'paid', now });
}
