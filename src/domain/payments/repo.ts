import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { CreatedInvoice } from './ports.ts';
import type { Payment } from './types.ts';

export const PAYMENT = columns('Payment', [
  ...(['id', 'method', 'userId', 'orderId', 'externalId', 'chargeId', 'merchantId'] as const),
  ...(['amountKopeks', 'currency', 'status', 'outcome'] as const),
  ...(['isPaid', 'paidAt', 'expiresAt', 'paymentUrl', 'option', 'purpose', 'transactionId', 'createdAt'] as const),
]);
type PaymentRow = RowOf<typeof PAYMENT>;

/** `userId` is null for people without an account. */
export interface NewPayment
  extends Pick<Payment, 'method' | 'userId' | 'orderId' | 'amountKopeks' | 'status' | 'option' | 'purpose'> {
  description: string;
}

/** @returns the id */
export async function insertPayment(db: Db, payment: NewPayment, now: Date): Promise<number> {
  const { id } = await db.prisma.payment.create({ data: { ...payment, createdAt: now, updatedAt: now }, select: { id: true } });
  return id;
}

/** Stores the provider's answer. A callback may have come before it: then the status of the callback stays. */
export async function attachInvoice(db: Db, id: number, invoice: CreatedInvoice, now: Date): Promise<void> {
  await db.sql(
    `UPDATE payments SET external_id = coalesce(external_id, $2), payment_url = $3, expires_at = $4::timestamptz, updated_at = $6::timestamptz,
       merchant_id = $7, status = CASE WHEN outcome = 'pending' AND external_id IS NULL THEN $5 ELSE status END
     WHERE id = $1::int RETURNING id`,
    [...[id, invoice.externalId, invoice.paymentUrl, invoice.expiresAt, invoice.status, now], invoice.merchantId ?? null],
  );
}

/** Marks an invoice that the provider did not create. A later callback still finds the record by its order id. */
export async function markInvoiceFailed(db: Db, id: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE payments SET outcome = 'failed', status = 'failed', updated_at = $2::timestamptz
     WHERE id = $1::int AND outcome = 'pending' AND transaction_id IS NULL RETURNING id`,
    [id, now],
  );
}

export async function findPayment(db: Db, id: number): Promise<Payment | null> {
  const [row] = await db.sql<PaymentRow>(`SELECT ${PAYMENT.of()} FROM payments WHERE id = $1::bigint`, [id]);
  return row ?? null;
}

export async function lockPayment(db: Db, id: number): Promise<Payment | null> {
  const [row] = await db.sql<PaymentRow>(`SELECT ${PAYMENT.of()} FROM payments WHERE id = $1::int FOR UPDATE`, [id]);
  return row ?? null;
}

export async function findByExternalId(db: Db, method: string, externalId: string): Promise<Payment | null> {
  const [row] = await db.sql<PaymentRow>(`SELECT ${PAYMENT.of()} FROM payments WHERE method = $1 AND external_id = $2`, [
    method,
    externalId,
  ]);
  return row ?? null;
}

export async function findByOrderId(db: Db, method: string, orderId: string): Promise<Payment | null> {
  const [row] = await db.sql<PaymentRow>(`SELECT ${PAYMENT.of()} FROM payments WHERE order_id = $2 AND method = $1`, [
    method,
    orderId,
  ]);
  return row ?? null;
}

export async function findPaymentOfUser(db: Db, userId: number, method: string, id: number): Promise<Payment | null> {
  const [row] = await db.sql<PaymentRow>(
    `SELECT ${PAYMENT.of()} FROM payments WHERE id = $1::bigint AND user_id = $2::int AND method = $3`,
    [id, userId, method],
  );
  return row ?? null;
}

export async function findLatestPayment(db: Db, userId: number, method: string, since: Date): Promise<Payment | null> {
  const [row] = await db.sql<PaymentRow>(
    `SELECT ${PAYMENT.of()} FROM payments WHERE user_id = $1::int AND method = $2 AND created_at >= $3::timestamptz
     ORDER BY created_at DESC, id DESC LIMIT 1`,
    [userId, method, since],
  );
  return row ?? null;
}

/** Waiting for the payer. Paid Stars are shown too. */
const LISTED = `user_id = $1::int AND created_at >= $2::timestamptz
  AND ((method = 'messenger_stars' AND purpose NOT IN ('wheel_spin', 'guest_purchase') AND outcome <> 'failed')
    OR (outcome = 'pending' AND external_id IS NOT NULL AND purpose IN ('balance_topup', 'recurrent_topup')))`;

export function listPendingPayments(db: Db, userId: number, since: Date, limit: number, offset: number): Promise<Payment[]> {
  return db.sql<PaymentRow>(
    `SELECT ${PAYMENT.of()} FROM payments WHERE ${LISTED} ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [userId, since, limit, offset],
  );
}

export async function countPendingPayments(db: Db, userId: number, since: Date): Promise<number> {
  const [row] = await db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM payments WHERE ${LISTED}`, [userId, since]);
  return row!.total;
}

export async function hasPayments(db: Db, method: string): Promise<boolean> {
  return (await db.prisma.payment.findFirst({ where: { method }, select: { id: true } })) !== null;
}

/**
 * Claims the next pending payments to ask a provider about, oldest first, and marks them as asked, so that instances take different ones.
 * @param createdAfter older payments are not asked about
 * @param askedBefore only those not asked about since
 */
export function claimForCheck(db: Db, method: string, createdAfter: Date, askedBefore: Date, limit: number): Promise<Payment[]> {
  return db.sql<PaymentRow>(
    `UPDATE payments SET last_checked_at = $3::timestamptz WHERE id = ANY(ARRAY(
       SELECT id FROM payments WHERE outcome = 'pending' AND created_at >= $2::timestamptz AND method = $1 AND external_id IS NOT NULL
         AND purpose IN ('balance_topup', 'recurrent_topup') AND (last_checked_at IS NULL OR last_checked_at < $3::timestamptz)
       ORDER BY created_at, id LIMIT $4::int FOR UPDATE SKIP LOCKED))
     RETURNING ${PAYMENT.of()}`,
    [method, createdAfter, askedBefore, limit],
  );
}

/** When an invoice expires: as its provider said, after 24 h at the latest. */
const DUE = "least(expires_at, created_at + interval '24 hours')";

/** Claims payments of a method that have expired and were not asked for since. */
export function claimExpiring(db: Db, method: string, now: Date, limit: number): Promise<Payment[]> {
  return db.sql<PaymentRow>(
    `UPDATE payments SET last_checked_at = $2::timestamptz WHERE id = ANY(ARRAY(
       SELECT id FROM payments WHERE outcome = 'pending' AND method = $1 AND ${DUE} <= $2::timestamptz
         AND (last_checked_at IS NULL OR last_checked_at < ${DUE})
       ORDER BY created_at, id LIMIT $3::int FOR UPDATE SKIP LOCKED))
     RETURNING ${PAYMENT.of()}`,
    [method, now, limit],
  );
}

/** Claims payments of a method that were created in a span of time and not asked for since its end. */
export function claimOpenDuring(
  db: Db,
  method: string,
  during: { from: Date; to: Date },
  now: Date,
  limit: number,
): Promise<Payment[]> {
  return db.sql<PaymentRow>(
    `UPDATE payments SET last_checked_at = greatest($4::timestamptz, $3::timestamptz) WHERE id = ANY(ARRAY(
       SELECT id FROM payments WHERE outcome = 'pending' AND method = $1 AND created_at >= $2::timestamptz AND created_at < $3::timestamptz
         AND (last_checked_at IS NULL OR last_checked_at < $3::timestamptz)
       ORDER BY created_at, id LIMIT $5::int FOR UPDATE SKIP LOCKED))
     RETURNING ${PAYMENT.of()}`,
    [method, during.from, during.to, now, limit],
  );
}

/** Payments whose provider gave no answer count as not asked. */
export async function forgetCheck(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db.sql('UPDATE payments SET last_checked_at = NULL WHERE id = ANY($1::int[]) RETURNING id', [ids]);
}

/**
 * Expires pending payments that were created before a given time, and asked for when they expired: other ones of the methods that can be
 * asked wait until a second point in time. @returns how many were marked; at most `limit`
 */
export async function expirePayments(
  db: Db,
  old: { createdBefore: Date; unaskedBefore: Date; askable: readonly string[] },
  now: Date,
  limit: number,
): Promise<number> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE payments SET outcome = 'expired', updated_at = $2::timestamptz WHERE id = ANY(ARRAY(
       SELECT id FROM payments WHERE outcome = 'pending' AND created_at < $1::timestamptz
         AND (last_checked_at >= ${DUE} OR created_at < $4::timestamptz OR method <> ALL($5::text[]))
       ORDER BY created_at LIMIT $3::int FOR UPDATE SKIP LOCKED)) AND transaction_id IS NULL
     RETURNING id`,
    [old.createdBefore, now, limit, old.unaskedBefore, old.askable],
  );
  return rows.length;
}
