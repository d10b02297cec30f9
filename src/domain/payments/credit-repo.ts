import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { ProviderPaymentState } from './ports.ts';
import type { Payment } from './types.ts';

const PAYER = columns('User', ['id', 'balanceKopeks', 'referredById', 'hasMadeFirstTopup', 'promoGroupId']);

/** What a credit needs of the payer, read under the lock of the user row. */
export type LockedPayer = RowOf<typeof PAYER> & { promoGroupName: string | null };

/** Locks the user row, the first lock of every money operation (spec 00, Consistency). */
export async function lockPayer(db: Db, userId: number): Promise<LockedPayer | null> {
  const [row] = await db.sql<LockedPayer>(
    `SELECT ${PAYER.of('u')}, (SELECT g.name FROM promo_groups g WHERE g.id = u.promo_group_id) AS promo_group_name
     FROM users u WHERE u.id = $1::int FOR NO KEY UPDATE OF u`,
    [userId],
  );
  return row ?? null;
}

export interface CreditMark {
  paymentId: number;
  transactionId: number;
  externalId: string;
  status: string;
  paidAt: Date;
  raw: unknown;
  now: Date;
}

/** Marks a payment paid and credited, in the transaction that moves the money (spec 03 H4, H5). */
export async function markCredited(db: Db, mark: CreditMark): Promise<void> {
  await db.sql(
    `UPDATE payments SET is_paid = true, paid_at = $5::timestamptz, outcome = 'paid', status = $4, transaction_id = $2::int,
       external_id = coalesce(external_id, $3), callback_payload = $6::jsonb, updated_at = $7::timestamptz
     WHERE id = $1::int RETURNING id`,
    [mark.paymentId, mark.transactionId, mark.externalId, mark.status, mark.paidAt, JSON.stringify(mark.raw ?? null), mark.now],
  );
}

/** Whether a ledger row is the credit of another payment, or belongs to another user. */
export async function isTransactionTaken(db: Db, transactionId: number, userId: number): Promise<boolean> {
  const [row] = await db.sql<{ taken: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM payments WHERE transaction_id = $1::int)
       OR NOT EXISTS (SELECT 1 FROM transactions WHERE id = $1::int AND user_id = $2::int) AS taken`,
    [transactionId, userId],
  );
  return row!.taken;
}

/**
 * Stores a state that credits nothing. A payment that has been credited meanwhile, or that is already marked as mismatching or refunded,
 * is not changed.
 * @returns whether the row changed
 */
export async function markUncredited(
  db: Db,
  id: number,
  outcome: 'pending' | 'failed' | 'amount_mismatch',
  state: ProviderPaymentState,
  now: Date,
): Promise<boolean> {
  const from =
    outcome === 'pending' ? ['pending'] : outcome === 'failed' ? ['pending', 'expired'] : ['pending', 'expired', 'failed'];
  const rows = await db.sql<{ id: number }>(
    `UPDATE payments SET outcome = $2, status = $3, external_id = coalesce(external_id, $4), callback_payload = $5::jsonb,
       updated_at = $7::timestamptz
     WHERE id = $1::int AND transaction_id IS NULL AND outcome = ANY($6::text[]) RETURNING id`,
    [id, outcome, state.status, state.externalId, JSON.stringify(state.raw ?? null), from, now],
  );
  return rows.length > 0;
}

/** Marks a credited payment as refunded. @returns false when it was marked before */
export async function markRefunded(db: Db, id: number, status: string, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE payments SET outcome = 'refunded', status = $2, updated_at = $3::timestamptz
     WHERE id = $1::int AND transaction_id IS NOT NULL AND outcome <> 'refunded' RETURNING id`,
    [id, status, now],
  );
  return rows.length > 0;
}

export interface StarsPayment extends Pick<Payment, 'userId' | 'orderId' | 'amountKopeks' | 'status' | 'transactionId'> {
  chargeId: string;
  description: string;
  update: object;
  now: Date;
}

/**
 * Top-ups in Stars have no stored invoice: the record is written with the credit, or without a credit for an unknown payer.
 * @returns its id; null when the charge has been credited before
 */
export async function upsertStarsPayment(db: Db, payment: StarsPayment): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO payments (method, user_id, order_id, external_id, amount_kopeks, description, status, outcome, is_paid, paid_at,
       callback_payload, transaction_id, created_at, updated_at)
     VALUES ('messenger_stars', $1::int, $2, $3, $4::bigint, $5, $6, CASE WHEN $7::int IS NULL THEN 'failed' ELSE 'paid' END,
       $7::int IS NOT NULL, $9::timestamptz, $8::jsonb, $7::int, $9::timestamptz, $9::timestamptz)
     ON CONFLICT (method, external_id) DO UPDATE SET user_id = EXCLUDED.user_id, status = EXCLUDED.status, outcome = EXCLUDED.outcome,
       is_paid = EXCLUDED.is_paid, amount_kopeks = EXCLUDED.amount_kopeks, transaction_id = EXCLUDED.transaction_id,
       updated_at = EXCLUDED.updated_at
     WHERE payments.transaction_id IS NULL RETURNING id`,
    [
      payment.userId,
      payment.orderId,
      payment.chargeId,
      payment.amountKopeks,
      payment.description,
      payment.status,
      payment.transactionId,
      JSON.stringify(payment.update),
      payment.now,
    ],
  );
  return row?.id ?? null;
}
