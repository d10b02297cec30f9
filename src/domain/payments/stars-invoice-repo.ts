import type { Db } from '../../core/db/db.ts';
import type { StarsCharge, StarsInvoiceRecord } from './purpose-stars.ts';

export interface NewStarsInvoice {
  userId: number;
  /** Handed back with the payment; the invoice's own id. */
  payload: string;
  stars: number;
  amountKopeks: number;
  purpose: string;
  description: string;
  now: Date;
}

/** The same user may ask twice within a second: then the later price counts, for the invoice is one. */
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

interface InvoiceRow {
  id: number;
  userId: number | null;
  stars: number | null;
  isPaid: boolean;
  transactionId: number | null;
}

export async function findStarsInvoice(db: Db, payload: string, { lock }: { lock: boolean }): Promise<StarsInvoiceRecord | null> {
  const [row] = await db.sql<InvoiceRow>(
    `SELECT id, user_id, (metadata ->> 'stars')::int AS stars, is_paid, transaction_id FROM payments
     WHERE order_id = $1 AND method = 'messenger_stars' ${lock ? 'FOR UPDATE' : ''}`,
    [payload],
  );
  if (!row) return null;
  return { id: row.id, userId: row.userId, stars: row.stars, isPaid: row.isPaid || row.transactionId !== null };
}

/** The invoice is paid by this charge; in the transaction that posts the money. */
export async function markStarsInvoicePaid(db: Db, invoiceId: number, charge: StarsCharge, now: Date): Promise<void> {
  await db.sql(
    `UPDATE payments SET external_id = $2, is_paid = true, paid_at = $3::timestamptz, outcome = 'paid', status = 'paid',
       transaction_id = $4::int, callback_payload = $5::jsonb, updated_at = $3::timestamptz
     WHERE id = $1::int AND transaction_id IS NULL RETURNING id`,
    [invoiceId, charge.chargeId, now, charge.transactionId, JSON.stringify(charge.update)],
  );
}
