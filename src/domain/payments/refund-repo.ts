import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Language } from '../messaging/texts.ts';
import { PAYMENT } from './repo.ts';
import type { Payment } from './types.ts';

/** What `request_refund()` did (prisma/sql/reversals.sql). */
export type RefundRequestOutcome = 'requested' | 'unknown' | 'not_credited' | 'credited' | 'too_much' | 'requested_before';

export interface NewRefund {
  paymentId: number;
  /** Kopeks; null = all that is left of the payment. */
  amountKopeks: number | null;
  requestedBy: string;
  reason: string;
  /** Of money that came and was credited to nobody; no balance is touched. */
  isUncredited?: boolean;
  titles: Record<Language, string>;
  now: Date;
}

/** Requests a refund with everything that belongs to it, in one statement. Amounts are kopeks. */
export async function insertRefund(
  db: Db,
  refund: NewRefund,
): Promise<{ outcome: RefundRequestOutcome; reversalId: number | null; debitedKopeks: number; leftKopeks: number }> {
  const { paymentId, amountKopeks, requestedBy, reason, isUncredited = false, titles, now } = refund;
  const [row] = await db.sql<{ outcome: RefundRequestOutcome; reversalId: number | null; debited: bigint; leftKopeks: bigint }>(
    'SELECT outcome, reversal_id, debited, left_kopeks FROM request_refund($1::int, $2::bigint, $3, $4, $5::jsonb, $6::timestamptz, $7::boolean)',
    [paymentId, amountKopeks, requestedBy, reason, JSON.stringify(titles), now, isUncredited],
  );
  const { outcome, reversalId, debited, leftKopeks } = row!;
  return { outcome, reversalId, debitedKopeks: Number(debited), leftKopeks: Number(leftKopeks) };
}

const REFUND = columns('PaymentReversal', ['id', 'paymentId', 'amountKopeks', 'chargeId', 'reversalId', 'attempts', 'createdAt']);

/** A requested refund with its payment; `attempts` counts the current one, too. */
export type RequestedRefund = RowOf<typeof REFUND> & { payment: Payment };

/** Counts an attempt. @returns null when the refund has ended */
export async function startAttempt(db: Db, id: number): Promise<RequestedRefund | null> {
  const [refund] = await db.sql<RowOf<typeof REFUND>>(
    `UPDATE payment_reversals SET attempts = attempts + 1 WHERE id = $1::int AND status = 'requested' RETURNING ${REFUND.of()}`,
    [id],
  );
  if (!refund) return null;
  const [payment] = await db.sql<RowOf<typeof PAYMENT>>(`SELECT ${PAYMENT.of()} FROM payments WHERE id = $1::int`, [
    refund.paymentId,
  ]);
  return { ...refund, payment: payment! };
}

/** @returns the provider's id, null = none yet; undefined when the refund has ended */
export async function findOpenReversalId(db: Db, id: number): Promise<string | null | undefined> {
  const [row] = await db.sql<{ reversalId: string | null }>(
    "SELECT reversal_id FROM payment_reversals WHERE id = $1::int AND status = 'requested'",
    [id],
  );
  return row?.reversalId;
}

/** Records of which charge of the invoice a refund is, so that another charge which is credited meanwhile pays nothing for it. */
export async function nameCharge(db: Db, id: number, chargeId: string): Promise<void> {
  await db.sql('UPDATE payment_reversals SET charge_id = $2 WHERE id = $1::int RETURNING id', [id, chargeId]);
}

/** Whether the provider may have carried out this refund besides the reversals that are known: it gives back no more than was paid. */
export async function isCoveredByRest(db: Db, id: number): Promise<boolean> {
  const [row] = await db.sql<{ isCovered: boolean }>(
    `SELECT r.amount_kopeks <= p.amount_kopeks - coalesce((SELECT sum(v.amount_kopeks) FROM payment_reversals v
       WHERE v.payment_id = p.id AND v.status = 'done'), 0) AS is_covered
     FROM payment_reversals r JOIN payments p ON p.id = r.payment_id WHERE r.id = $1::int`,
    [id],
  );
  return row!.isCovered;
}

/** Whether another reversal of the same method has this id of the provider. */
export async function isRecordedBeside(db: Db, id: number, reversalId: string): Promise<boolean> {
  const rows = await db.sql(
    `SELECT v.id FROM payment_reversals r JOIN payment_reversals v ON v.method = r.method AND v.reversal_id = $2 AND v.id <> r.id
     WHERE r.id = $1::int`,
    [id, reversalId],
  );
  return rows.length > 0;
}

/** Stores the provider's id of a refund that it has accepted and not carried out yet. */
export async function attachReversalId(db: Db, id: number, reversalId: string): Promise<void> {
  await db.sql(
    "UPDATE payment_reversals SET reversal_id = coalesce(reversal_id, $2) WHERE id = $1::int AND status = 'requested' RETURNING id",
    [id, reversalId],
  );
}

/** @returns false when the refund had ended before */
export async function completeRefund(db: Db, id: number, reversalId: string, now: Date): Promise<boolean> {
  const [row] = await db.sql<{ done: boolean }>('SELECT complete_refund($1::int, $2, $3::timestamptz) AS done', [
    id,
    reversalId,
    now,
  ]);
  return row!.done;
}

/** @returns false when the refund had ended before */
export async function failRefund(
  db: Db,
  id: number,
  error: string,
  titles: Record<Language, string>,
  now: Date,
): Promise<boolean> {
  const [row] = await db.sql<{ done: boolean }>('SELECT fail_refund($1::int, $2, $3::jsonb, $4::timestamptz) AS done', [
    ...[id, error, JSON.stringify(titles), now],
  ]);
  return row!.done;
}
