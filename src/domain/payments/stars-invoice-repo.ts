import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Payment } from './types.ts';

export interface NewStarsInvoice extends Pick<Payment, 'amountKopeks' | 'purpose'> {
  userId: number;
  /** The id of the invoice, which the messenger returns with the payment. */
  payload: string;
  stars: number;
  description: string;
  now: Date;
}

/** A user may ask twice within one second, with the same payload: both are one invoice, and the later price counts. */
export async function insertStarsInvoice(db: Db, invoice: NewStarsInvoice): Promise<void> {
  await db.sql(
    `INSERT INTO payments (method, user_id, order_id, amount_kopeks, description, status, purpose, metadata, created_at, updated_at)
     VALUES ('messenger_stars', $1::int, $2, $3::bigint, $4, 'created', $5, jsonb_build_object('stars', $6::int), $7::timestamptz,
       $7::timestamptz)
     ON CONFLICT (order_id) DO UPDATE SET amount_kopeks = EXCLUDED.amount_kopeks, metadata = EXCLUDED.metadata
     WHERE payments.transaction_id IS NULL RETURNING id`,
    [invoice.userId, invoice.payload, invoice.amountKopeks, invoice.description, invoice.purpose, invoice.stars, invoice.now],
  );
}

const INVOICE = columns('Payment', ['id', 'userId']);

/** An invoice in Stars. `stars` is the price that was asked for; null where none is stored. */
export type StarsInvoiceRecord = RowOf<typeof INVOICE> & { stars: number | null; isPaid: boolean };

/** @param lock until the end of the transaction */
export async function findStarsInvoice(db: Db, payload: string, { lock }: { lock: boolean }): Promise<StarsInvoiceRecord | null> {
  const [row] = await db.sql<StarsInvoiceRecord>(
    `SELECT ${INVOICE.of()}, (metadata ->> 'stars')::int AS stars, is_paid OR transaction_id IS NOT NULL AS is_paid FROM payments
     WHERE order_id = $1 AND method = 'messenger_stars' ${lock ? 'FOR UPDATE' : ''}`,
    [payload],
  );
  return row ?? null;
}

/** A charge of the messenger with the ledger row that it became. */
export interface StarsCharge {
  chargeId: string;
  transactionId: number;
  update: object;
}

/** Marks an invoice paid by a charge, in the transaction that posts the money. */
export async function markStarsInvoicePaid(db: Db, invoiceId: number, charge: StarsCharge, now: Date): Promise<void> {
  await db.sql(
    `UPDATE payments SET external_id = $2, is_paid = true, paid_at = $3::timestamptz, outcome = 'paid', status = 'paid',
       transaction_id = $4::int, callback_payload = $5::jsonb, updated_at = $3::timestamptz
     WHERE id = $1::int AND transaction_id IS NULL RETURNING id`,
    [invoiceId, charge.chargeId, now, charge.transactionId, JSON.stringify(charge.update)],
  );
}
