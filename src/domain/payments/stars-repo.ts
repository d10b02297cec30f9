import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { PAYMENT } from './repo.ts';
import type { Payment } from './types.ts';

export interface NewStarsInvoice extends Pick<Payment, 'amountKopeks' | 'purpose'> {
  /** Null = anybody may pay it. */
  userId: number | null;
  /** The id of the invoice, which the messenger returns with the payment. */
  payload: string;
  stars: number;
  description: string;
  now: Date;
}

/**
 * Stores an invoice with its price in stars. A user may ask for two spins within one second, with the same payload: both are one invoice, and
 * the later price counts.
 * @returns its id; null when such an invoice is paid
 */
export async function insertStarsInvoice(db: Db, invoice: NewStarsInvoice): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO payments (method, user_id, order_id, amount_kopeks, description, status, purpose, metadata, created_at, updated_at)
     VALUES ('messenger_stars', $1::int, $2, $3::bigint, $4, 'pending', $5, jsonb_build_object('stars', $6::int), $7::timestamptz,
       $7::timestamptz)
     ON CONFLICT (order_id) DO UPDATE SET amount_kopeks = EXCLUDED.amount_kopeks, metadata = EXCLUDED.metadata
     WHERE payments.transaction_id IS NULL RETURNING id`,
    [invoice.userId, invoice.payload, invoice.amountKopeks, invoice.description, invoice.purpose, invoice.stars, invoice.now],
  );
  return row?.id ?? null;
}

/** Stores the link of an invoice. */
export async function attachStarsLink(db: Db, id: number, paymentUrl: string, now: Date): Promise<void> {
  await db.sql('UPDATE payments SET payment_url = $2, updated_at = $3::timestamptz WHERE id = $1::int RETURNING id', [
    id,
    paymentUrl,
    now,
  ]);
}

/** An invoice with its price in stars; null where none is stored. */
export type StarsPayment = Payment & { stars: number | null };

/** The invoice of a payload; spins of the wheel are read by `findStarsInvoice`. */
export async function findStarsPayment(db: Db, payload: string): Promise<StarsPayment | null> {
  const [row] = await db.sql<StarsPayment>(
    `SELECT ${PAYMENT.of()}, (metadata ->> 'stars')::int AS stars FROM payments
     WHERE order_id = $1 AND method = 'messenger_stars' AND purpose <> 'wheel_spin'`,
    [payload],
  );
  return row ?? null;
}

/** The payment of a charge, by its record or by its ledger row. */
export async function findByStarsCharge(db: Db, chargeId: string): Promise<Payment | null> {
  const [row] = await db.sql<Payment>(
    `SELECT ${PAYMENT.of('p')} FROM payments p WHERE p.method = 'messenger_stars' AND p.external_id = $1
     UNION ALL
     SELECT ${PAYMENT.of('p')} FROM transactions t JOIN payments p ON p.transaction_id = t.id
     WHERE t.payment_method = 'messenger_stars' AND t.external_id = $1
     LIMIT 1`,
    [chargeId],
  );
  return row ?? null;
}

/** A charge as the messenger reported it. */
export interface ReportedCharge {
  chargeId: string;
  payerMessengerId: number;
}

/** The latest charge that was reported of a payment, credited or not; null = none. */
export async function findReportedCharge(db: Db, paymentId: number): Promise<ReportedCharge | null> {
  const [row] = await db.sql<{ chargeId: string | null; payer: string | null }>(
    `SELECT callback_payload ->> 'chargeId' AS charge_id, callback_payload ->> 'payerMessengerId' AS payer
     FROM payments WHERE id = $1::int AND method = 'messenger_stars'`,
    [paymentId],
  );
  return row?.chargeId && row.payer ? { chargeId: row.chargeId, payerMessengerId: Number(row.payer) } : null;
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
  /** What the stars were worth when they were paid: a refund takes back as much. */
  amountKopeks: number;
  transactionId: number;
  update: object;
}

/** Marks an invoice paid by a charge, in the transaction that posts the money. */
export async function markStarsInvoicePaid(db: Db, invoiceId: number, charge: StarsCharge, now: Date): Promise<void> {
  await db.sql(
    `UPDATE payments SET external_id = $2, charge_id = $2, is_paid = true, paid_at = $3::timestamptz, outcome = 'paid', status = 'paid',
       transaction_id = $4::int, callback_payload = $5::jsonb, amount_kopeks = $6::bigint, updated_at = $3::timestamptz
     WHERE id = $1::int AND transaction_id IS NULL RETURNING id`,
    [invoiceId, charge.chargeId, now, charge.transactionId, JSON.stringify(charge.update), charge.amountKopeks],
  );
}

interface ListedMovement {
  eventKey: string;
  chargeId: string;
  payload: string;
}

interface KnownTransfers {
  /** Movements that were reported or have had their effect. */
  eventKeys: ReadonlySet<string>;
  /** Payments that are recorded here. */
  charges: ReadonlySet<string>;
  /** Invoices that are stored here. */
  payloads: ReadonlySet<string>;
}

/** What is known here of listed movements of Stars: by their updates, and by their effects, since stored updates are deleted in time. */
export async function findKnownTransfers(db: Db, movements: readonly ListedMovement[]): Promise<KnownTransfers> {
  const rows = await db.sql<{ kind: 'event' | 'charge' | 'refund' | 'payload'; key: string }>(
    `SELECT 'event' AS kind, event_key AS key FROM provider_callbacks
     WHERE provider = 'messenger_stars' AND event_key = ANY($1::text[])
     UNION ALL
     SELECT 'charge', external_id FROM transactions WHERE payment_method = 'messenger_stars' AND external_id = ANY($2::text[])
     UNION ALL
     SELECT 'charge', external_id FROM payments WHERE method = 'messenger_stars' AND external_id = ANY($2::text[])
     UNION ALL
     SELECT 'refund', reversal_id FROM payment_reversals WHERE method = 'messenger_stars' AND reversal_id = ANY($2::text[])
     UNION ALL
     SELECT 'refund', reference FROM payment_cases
     WHERE kind = 'reversal_unknown' AND method = 'messenger_stars' AND reference = ANY($2::text[])
     UNION ALL
     SELECT 'payload', order_id FROM payments WHERE method = 'messenger_stars' AND order_id = ANY($3::text[])`,
    [
      movements.map(({ eventKey }) => eventKey),
      movements.map(({ chargeId }) => chargeId),
      movements.map(({ payload }) => payload),
    ],
  );
  const keysOf = (...kinds: string[]) => rows.filter(({ kind }) => kinds.includes(kind)).map(({ key }) => key);
  const charges = keysOf('charge');
  const effects = [...charges.map((id) => `stars_paid:${id}`), ...keysOf('refund').map((id) => `stars_refunded:${id}`)];
  return {
    eventKeys: new Set([...keysOf('event'), ...effects]),
    charges: new Set(charges),
    payloads: new Set(keysOf('payload')),
  };
}
