import type { Db } from '../../core/db/db.ts';
import type { Payment, StoredOutcome } from './types.ts';

interface PaymentRow {
  id: number;
  method: string;
  userId: number | null;
  orderId: string;
  externalId: string | null;
  amountKopeks: number;
  currency: string;
  status: string;
  outcome: StoredOutcome;
  isPaid: boolean;
  paidAt: Date | null;
  expiresAt: Date | null;
  paymentUrl: string | null;
  option: string | null;
  purpose: string;
  transactionId: number | null;
  createdAt: Date;
}

const COLUMNS = `id, method, user_id, order_id, external_id, amount_kopeks, currency, status, outcome, is_paid, paid_at, expires_at,
  payment_url, option, purpose, transaction_id, created_at`;

function toPayment(row: PaymentRow): Payment {
  return {
    id: row.id,
    method: row.method,
    userId: row.userId,
    orderId: row.orderId,
    externalId: row.externalId,
    amountKopeks: row.amountKopeks,
    currency: row.currency,
    status: row.status,
    outcome: row.outcome,
    isPaid: row.isPaid,
    paidAt: row.paidAt,
    expiresAt: row.expiresAt,
    paymentUrl: row.paymentUrl,
    option: row.option,
    purpose: row.purpose,
    transactionId: row.transactionId,
    createdAt: row.createdAt,
  };
}

const first = (rows: PaymentRow[]): Payment | null => (rows[0] ? toPayment(rows[0]) : null);

export interface NewPayment {
  method: string;
  /** Null for people without an account. */
  userId: number | null;
  orderId: string;
  amountKopeks: number;
  description: string;
  status: string;
  option: string | null;
  purpose: string;
  now: Date;
}

export async function insertPayment(db: Db, payment: NewPayment): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO payments (method, user_id, order_id, amount_kopeks, description, status, option, purpose, created_at, updated_at)
     VALUES ($1, $2::int, $3, $4::bigint, $5, $6, $7, $8, $9::timestamptz, $9::timestamptz) RETURNING id`,
    [
      payment.method,
      payment.userId,
      payment.orderId,
      payment.amountKopeks,
      payment.description,
      payment.status,
      payment.option,
      payment.purpose,
      payment.now,
    ],
  );
  return row!.id;
}

export interface InvoiceFacts {
  externalId: string;
  paymentUrl: string;
  status: string;
  expiresAt: Date | null;
}

/** Notes the provider's answer. A callback may have been faster: then the status it brought stays. */
export async function attachInvoice(db: Db, id: number, invoice: InvoiceFacts, now: Date): Promise<void> {
  await db.sql(
    `UPDATE payments SET external_id = coalesce(external_id, $2), payment_url = $3, expires_at = $4::timestamptz, updated_at = $6::timestamptz,
       status = CASE WHEN outcome = 'pending' AND external_id IS NULL THEN $5 ELSE status END
     WHERE id = $1::int RETURNING id`,
    [id, invoice.externalId, invoice.paymentUrl, invoice.expiresAt, invoice.status, now],
  );
}

/** Marks an invoice that the provider did not make. A later callback still finds the record by its order id. */
export async function markInvoiceFailed(db: Db, id: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE payments SET outcome = 'failed', status = 'failed', updated_at = $2::timestamptz
     WHERE id = $1::int AND outcome = 'pending' AND transaction_id IS NULL RETURNING id`,
    [id, now],
  );
}

export async function findPayment(db: Db, id: number): Promise<Payment | null> {
  return first(await db.sql<PaymentRow>(`SELECT ${COLUMNS} FROM payments WHERE id = $1::bigint`, [id]));
}

export async function lockPayment(db: Db, id: number): Promise<Payment | null> {
  return first(await db.sql<PaymentRow>(`SELECT ${COLUMNS} FROM payments WHERE id = $1::int FOR UPDATE`, [id]));
}

export async function findByExternalId(db: Db, method: string, externalId: string): Promise<Payment | null> {
  return first(
    await db.sql<PaymentRow>(`SELECT ${COLUMNS} FROM payments WHERE method = $1 AND external_id = $2`, [method, externalId]),
  );
}

export async function findByOrderId(db: Db, method: string, orderId: string): Promise<Payment | null> {
  return first(
    await db.sql<PaymentRow>(`SELECT ${COLUMNS} FROM payments WHERE order_id = $2 AND method = $1`, [method, orderId]),
  );
}

export async function findOwnPayment(db: Db, userId: number, method: string, id: number): Promise<Payment | null> {
  return first(
    await db.sql<PaymentRow>(`SELECT ${COLUMNS} FROM payments WHERE id = $1::bigint AND user_id = $2::int AND method = $3`, [
      id,
      userId,
      method,
    ]),
  );
}

export async function findLatestPayment(db: Db, userId: number, method: string, since: Date): Promise<Payment | null> {
  return first(
    await db.sql<PaymentRow>(
      `SELECT ${COLUMNS} FROM payments WHERE user_id = $1::int AND method = $2 AND created_at >= $3::timestamptz
       ORDER BY created_at DESC, id DESC LIMIT 1`,
      [userId, method, since],
    ),
  );
}

/** Waiting for the payer; Stars are shown when paid, since the messenger tells of nothing else (spec 03 section 4.1). */
const LISTED = `user_id = $1::int AND created_at >= $2::timestamptz
  AND ((method = 'messenger_stars' AND purpose <> 'wheel_spin') OR (outcome = 'pending' AND external_id IS NOT NULL AND purpose IN ('balance_topup', 'recurrent_topup')))`;

export async function listPendingPayments(
  db: Db,
  userId: number,
  since: Date,
  limit: number,
  offset: number,
): Promise<Payment[]> {
  const rows = await db.sql<PaymentRow>(
    `SELECT ${COLUMNS} FROM payments WHERE ${LISTED} ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [userId, since, limit, offset],
  );
  return rows.map(toPayment);
}

export async function countPendingPayments(db: Db, userId: number, since: Date): Promise<number> {
  const [row] = await db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM payments WHERE ${LISTED}`, [userId, since]);
  return row!.total;
}

export async function hasPayments(db: Db, method: string): Promise<boolean> {
  const [row] = await db.sql<{ found: boolean }>('SELECT EXISTS (SELECT 1 FROM payments WHERE method = $1) AS found', [method]);
  return row!.found;
}

/**
 * Takes the next payments to ask a provider about, longest unasked first, and marks them as asked: instances share the work.
 * @param createdAfter payments older than this are left alone
 * @param askedBefore only those not asked since
 */
export async function claimForCheck(
  db: Db,
  method: string,
  createdAfter: Date,
  askedBefore: Date,
  limit: number,
): Promise<Payment[]> {
  const rows = await db.sql<PaymentRow>(
    `UPDATE payments SET last_checked_at = $3::timestamptz WHERE id IN (
       SELECT id FROM payments WHERE outcome = 'pending' AND created_at >= $2::timestamptz AND method = $1 AND external_id IS NOT NULL
         AND purpose IN ('balance_topup', 'recurrent_topup') AND (last_checked_at IS NULL OR last_checked_at < $3::timestamptz)
       ORDER BY created_at, id LIMIT $4::int FOR UPDATE SKIP LOCKED)
     RETURNING ${COLUMNS}`,
    [method, createdAfter, askedBefore, limit],
  );
  return rows.map(toPayment);
}

/** @returns how many were marked; at most `limit` */
export async function expirePayments(db: Db, createdBefore: Date, now: Date, limit: number): Promise<number> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE payments SET outcome = 'expired', updated_at = $2::timestamptz WHERE id IN (
       SELECT id FROM payments WHERE outcome = 'pending' AND created_at < $1::timestamptz ORDER BY created_at LIMIT $3::int
       FOR UPDATE SKIP LOCKED) AND transaction_id IS NULL
     RETURNING id`,
    [createdBefore, now, limit],
  );
  return rows.length;
}
