import type { App } from '../../core/app.ts';
import type { UserRecord } from '../identity/types.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { upsertUninvoicedPayment } from './credit-repo.ts';
import { newOrderId } from './rules.ts';
import {
  findReportedCharge,
  findStarsInvoice,
  insertStarsInvoice,
  markStarsInvoicePaid,
  type NewStarsInvoice,
  type ReportedCharge,
  type StarsCharge,
  type StarsInvoiceRecord,
} from './stars-invoice-repo.ts';
import type { CreditResult } from './types.ts';

/**
 * What Stars pay besides top-ups of the balance. Later modules define theirs; they are passed in where updates and callbacks are
 * received, so that this module imports none of them.
 */
export interface StarsPurpose {
  /** How the payloads of its invoices begin (spec 03 section 2.5). */
  readonly prefix: string;
  /** Called before the payment. @returns the sentence shown to the payer; null = may be paid */
  refusalOf(app: App, query: Extract<MessengerUpdate, { kind: 'pre_checkout' }>, payer: UserRecord): Promise<string | null>;
  /** Applies the payment of a known payer: delivers what was bought, or credits the balance; once per charge. */
  settle(app: App, paid: Extract<MessengerUpdate, { kind: 'stars_paid' }>, payer: UserRecord): Promise<CreditResult>;
}

/** The purpose that a payload belongs to; undefined = a top-up, or unknown. */
export function purposeOf(purposes: readonly StarsPurpose[], payload: string): StarsPurpose | undefined {
  return purposes.find(({ prefix }) => payload.startsWith(prefix));
}

/** Stores the price and the user of an invoice, so that the payment can be compared with it (spec 04 section 13.7). */
export function storeStarsInvoice(t: App, invoice: Omit<NewStarsInvoice, 'now'>): Promise<number | null> {
  return insertStarsInvoice(t.db, { ...invoice, now: t.clock.now() });
}

/** What a refund of a payment in Stars needs of it (`RefundRequest`); null = no charge was reported, nothing can be given back. */
export function readStarsCharge(app: App, paymentId: number): Promise<ReportedCharge | null> {
  return findReportedCharge(app.db, paymentId);
}

/** The stored invoice of a payload. @param lock in a transaction: until its end */
export function readStarsInvoice(app: App, payload: string, lock: boolean): Promise<StarsInvoiceRecord | null> {
  return findStarsInvoice(app.db, payload, { lock });
}

/** Writes the payment record of a charge, in the transaction that posts its money. @param invoice null = none matches: a new record */
export async function recordStarsCharge(
  t: App,
  invoice: StarsInvoiceRecord | null,
  charge: StarsCharge & { userId: number; amountKopeks: number; description: string },
): Promise<void> {
  const now = t.clock.now();
  if (invoice) return markStarsInvoicePaid(t.db, invoice.id, charge, now);
  const record = { ...charge, method: 'messenger_stars', orderId: newOrderId(t.random), status: 'paid', now };
  await upsertUninvoicedPayment(t.db, record);
}
