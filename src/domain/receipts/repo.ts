import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Receipt, ReceiptPayment } from './types.ts';

const RECEIPT = columns('Receipt', [
  ...(['id', 'paymentId', 'sequence', 'mark', 'name', 'amountKopeks', 'operationAt', 'state', 'uuid', 'attempts'] as const),
  ...(['sentAt', 'cancelSentAt'] as const),
]);
const PAYMENT = columns('Payment', ['id', 'method', 'purpose', 'orderId', 'amountKopeks']);
type ReceiptRow = RowOf<typeof RECEIPT>;

/**
 * Payments that have a receipt: credited ones of YooKassa, and those of guest purchases whatever the provider is. What
 * was paid from the balance is no payment, and what was paid in the test mode of YooKassa is no income.
 * @param withTest text of the parameter that says whether test payments have one too
 */
const hasReceipt = (withTest: string) => `p.transaction_id IS NOT NULL AND p.amount_kopeks > 0 AND p.currency = 'RUB'
  AND (p.method = 'yookassa' OR p.purpose = 'guest_purchase')
  AND (${withTest}::boolean OR NOT coalesce(p.callback_payload @> '{"test": true}', false))`;

/** The payment, if it has a receipt; null for others, and where another system has made the receipt. */
export async function findReceiptPayment(
  db: Db,
  paymentId: number,
  { now, withTest }: { now: Date; withTest: boolean },
): Promise<ReceiptPayment | null> {
  const [row] = await db.sql<RowOf<typeof PAYMENT> & { operationAt: Date; transactionId: number; messengerId: number | null }>(
    `SELECT ${PAYMENT.of('p')}, least(coalesce(p.paid_at, p.updated_at), $2::timestamptz) AS operation_at, p.transaction_id,
       u.messenger_id
     FROM payments p JOIN transactions t ON t.id = p.transaction_id LEFT JOIN users u ON u.id = p.user_id
     WHERE p.id = $1::int AND ${hasReceipt('$3')}
       AND (t.receipt_uuid IS NULL OR EXISTS (SELECT 1 FROM receipts r WHERE r.payment_id = p.id))`,
    [paymentId, now, withTest],
  );
  return row ?? null;
}

/** Payments that were paid since a given time and have no receipt row, oldest first. @returns ids */
export async function listWithoutReceipt(
  db: Db,
  range: { paidSince: Date; withTest: boolean; afterId: number; limit: number },
): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT p.id FROM payments p JOIN transactions t ON t.id = p.transaction_id
     WHERE p.paid_at >= $1::timestamptz AND p.id > $2::int AND ${hasReceipt('$4')} AND t.receipt_uuid IS NULL
       AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.payment_id = p.id)
     ORDER BY p.id LIMIT $3::int`,
    [range.paidSince, range.afterId, range.limit, range.withTest],
  );
  return rows.map(({ id }) => id);
}

/** Payments of which money was returned since a given time, and whose receipt still says more than what is left. @returns ids */
export async function listToCorrect(db: Db, range: { since: Date; afterId: number; limit: number }): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT p.id FROM payments p JOIN receipts r ON r.payment_id = p.id AND r.state IN ('queued', 'failed', 'created')
     WHERE p.id > $2::int AND p.id IN (SELECT v.payment_id FROM payment_reversals v WHERE v.status = 'done' AND v.created_at >= $1::timestamptz)
       AND r.amount_kopeks > p.amount_kopeks - (SELECT coalesce(sum(v.amount_kopeks), 0) FROM payment_reversals v
         WHERE v.payment_id = p.id AND v.status = 'done')
     ORDER BY p.id LIMIT $3::int`,
    [range.since, range.afterId, range.limit],
  );
  return rows.map(({ id }) => id);
}

/** Kopeks of a payment that were returned. */
export async function sumReversed(db: Db, paymentId: number): Promise<number> {
  const [row] = await db.sql<{ kopeks: bigint }>(
    `SELECT coalesce(sum(amount_kopeks), 0)::bigint AS kopeks FROM payment_reversals WHERE payment_id = $1::int AND status = 'done'`,
    [paymentId],
  );
  return Number(row!.kopeks);
}

export interface NewReceipt extends Pick<Receipt, 'paymentId' | 'sequence' | 'mark' | 'name' | 'amountKopeks' | 'operationAt'> {
  now: Date;
}

/** Queues a receipt unless the payment has one that counts, or this one. @returns whether it did; of two at once one does */
export async function insertReceipt(db: Db, { now, ...receipt }: NewReceipt): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO receipts (payment_id, sequence, mark, name, amount_kopeks, operation_at, state, next_attempt_at, created_at, updated_at)
     VALUES ($1::int, $2::int, $3, $4, $5::bigint, $6::timestamptz, 'queued', $7::timestamptz, $7::timestamptz, $7::timestamptz)
     ON CONFLICT DO NOTHING RETURNING id`,
    [receipt.paymentId, receipt.sequence, receipt.mark, receipt.name, receipt.amountKopeks, receipt.operationAt, now],
  );
  return rows.length > 0;
}

export async function lockLastReceipt(db: Db, paymentId: number): Promise<Receipt | null> {
  const [row] = await db.sql<ReceiptRow>(
    `SELECT ${RECEIPT.of()} FROM receipts WHERE payment_id = $1::int ORDER BY sequence DESC LIMIT 1 FOR UPDATE`,
    [paymentId],
  );
  return row ?? null;
}

export async function lockReceipt(db: Db, id: number): Promise<Receipt | null> {
  const [row] = await db.sql<ReceiptRow>(`SELECT ${RECEIPT.of()} FROM receipts WHERE id = $1::int FOR UPDATE`, [id]);
  return row ?? null;
}

/** A receipt that the queue has claimed, with the state in which it was. */
export type ClaimedReceipt = Receipt & { stateBefore: Receipt['state'] };

/**
 * Claims the oldest receipt that is due. One that is to be sent becomes `sending`: whatever happens to the process afterwards, it is looked
 * up before it is sent again, at `leaseUntil`.
 */
export async function claimDueReceipt(db: Db, now: Date, leaseUntil: Date): Promise<ClaimedReceipt | null> {
  const [row] = await db.sql<ReceiptRow & { stateBefore: Receipt['state'] }>(
    `WITH c AS MATERIALIZED (SELECT d.id, d.state FROM receipts d WHERE d.next_attempt_at <= $1::timestamptz
       ORDER BY d.created_at, d.id LIMIT 1 FOR UPDATE SKIP LOCKED)
     UPDATE receipts r SET attempts = r.attempts + 1, next_attempt_at = $2::timestamptz, updated_at = $1::timestamptz,
       state = CASE WHEN c.state IN ('queued', 'failed') THEN 'sending' ELSE r.state END,
       sent_at = CASE WHEN c.state IN ('queued', 'failed') THEN $1::timestamptz ELSE r.sent_at END
     FROM c WHERE r.id = c.id RETURNING ${RECEIPT.of('r')}, c.state AS state_before`,
    [now, leaseUntil],
  );
  return row ?? null;
}

/** What a step changes of a receipt; a field that is left out stays. */
export interface ReceiptChange {
  state: Receipt['state'];
  /** Null for `created` and `cancelled`. */
  nextAttemptAt: Date | null;
  uuid?: string | null;
  amountKopeks?: number;
  sentAt?: Date | null;
  cancelSentAt?: Date | null;
  lastError?: string | null;
  issuedAt?: Date;
  cancelledAt?: Date;
}

/** Changes a receipt that is still in this state. @returns false when another worker or a returned payment has changed it meanwhile */
export async function changeReceipt(
  db: Db,
  { id, state }: Pick<Receipt, 'id' | 'state'>,
  change: ReceiptChange,
  now: Date,
): Promise<boolean> {
  const { count } = await db.prisma.receipt.updateMany({
    where: { id, state },
    data: { ...change, ...(change.lastError ? { lastError: change.lastError.slice(0, 500) } : {}), updatedAt: now },
  });
  return count > 0;
}

/** Whether the queue has something to do now. */
export async function hasDue(db: Db, now: Date): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM receipts WHERE next_attempt_at <= $1::timestamptz LIMIT 1', [now]);
  return rows.length > 0;
}

/** Whether a receipt waits for the service; those that wait for a person do not count. */
export async function hasUnfinished(db: Db): Promise<boolean> {
  const rows = await db.sql(
    `SELECT id FROM receipts WHERE next_attempt_at IS NOT NULL AND state IN ('queued', 'sending', 'unclear', 'cancel_requested') LIMIT 1`,
  );
  return rows.length > 0;
}

/** How many receipts wait, by state, and since when the oldest of them. */
export async function countWaiting(db: Db): Promise<{ state: Receipt['state']; total: number; oldest: Date }[]> {
  return db.sql(
    `SELECT state, count(*)::int AS total, min(operation_at) AS oldest FROM receipts WHERE next_attempt_at IS NOT NULL GROUP BY state
     ORDER BY state`,
  );
}
