import type { Db } from '../../core/db/db.ts';
import type { ProviderPaymentState } from './ports.ts';

/** What a credit needs of the payer, read under the lock of the user row. */
export interface LockedPayer {
  id: number;
  balanceKopeks: number;
  referredById: number | null;
  hasMadeFirstTopup: boolean;
  promoGroupId: number | null;
  promoGroupName: string | null;
}

/** Locks the user row, the first lock of every money operation (spec 00, Consistency). */
export async function lockPayer(db: Db, userId: number): Promise<LockedPayer | null> {
  const [row] = await db.sql<{
    id: number;
    balanceKopeks: number;
    referredById: number | null;
    hasMadeFirstTopup: boolean;
    promoGroupId: number | null;
    promoGroupName: string | null;
  }>(
    `SELECT u.id, u.balance_kopeks, u.referred_by_id, u.has_made_first_topup, u.promo_group_id,
       (SELECT g.name FROM promo_groups g WHERE g.id = u.promo_group_id) AS promo_group_name
     FROM users u WHERE u.id = $1::int FOR NO KEY UPDATE OF u`,
    [userId],
  );
  if (!row) return null;
  return {
    id: row.id,
    balanceKopeks: row.balanceKopeks,
    referredById: row.referredById,
    hasMadeFirstTopup: row.hasMadeFirstTopup,
    promoGroupId: row.promoGroupId,
    promoGroupName: row.promoGroupName,
  };
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

/** Paid and credited are one fact, written in the transaction that moves the money (spec 03 H4, H5). */
export async function markCredited(db: Db, mark: CreditMark): Promise<void> {
  await db.sql(
    `UPDATE payments SET is_paid = true, paid_at = $5::timestamptz, outcome = 'paid', status = $4, transaction_id = $2::int,
       external_id = coalesce(external_id, $3), callback_payload = $6::jsonb, updated_at = $7::timestamptz
     WHERE id = $1::int RETURNING id`,
    [mark.paymentId, mark.transactionId, mark.externalId, mark.status, mark.paidAt, JSON.stringify(mark.raw ?? null), mark.now],
  );
}

export interface TopupNote {
  userId: number;
  transactionId: number;
  amountKopeks: number;
  extra: object;
  now: Date;
}

/**
 * The operation's row for `notifications` (spec 05 section 9.2), and the first-top-up flag of a payer without referrer; with one
 * the flag belongs to the referral bonus (spec 03 section 2.3).
 */
export async function noteTopup(db: Db, note: TopupNote): Promise<void> {
  await db.sql(
    `WITH flagged AS (
       UPDATE users SET has_made_first_topup = true, updated_at = $5::timestamptz
       WHERE id = $1::int AND referred_by_id IS NULL AND NOT has_made_first_topup)
     INSERT INTO subscription_events (event_type, user_id, transaction_id, amount_kopeks, currency, occurred_at, extra, created_at)
     VALUES ('balance_topup', $1::int, $2::int, $3::bigint, 'RUB', $5::timestamptz, $4::jsonb, $5::timestamptz) RETURNING id`,
    [note.userId, note.transactionId, note.amountKopeks, JSON.stringify(note.extra), note.now],
  );
}

/** Is this ledger row already the credit of another payment, or of another user? */
export async function isTransactionTaken(db: Db, transactionId: number, userId: number): Promise<boolean> {
  const [row] = await db.sql<{ taken: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM payments WHERE transaction_id = $1::int)
       OR NOT EXISTS (SELECT 1 FROM transactions WHERE id = $1::int AND user_id = $2::int) AS taken`,
    [transactionId, userId],
  );
  return row!.taken;
}

/**
 * Notes a state that credits nothing. A payment that was credited meanwhile, or that is already known to be odd, stays as it is.
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

/** Keeps a refund visible. @returns false when it was noted before */
export async function markRefunded(db: Db, id: number, status: string, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE payments SET outcome = 'refunded', status = $2, updated_at = $3::timestamptz
     WHERE id = $1::int AND transaction_id IS NOT NULL AND outcome <> 'refunded' RETURNING id`,
    [id, status, now],
  );
  return rows.length > 0;
}

export interface StarsPayment {
  userId: number | null;
  orderId: string;
  chargeId: string;
  amountKopeks: number;
  description: string;
  status: string;
  transactionId: number | null;
  update: object;
  now: Date;
}

/**
 * Stars have no invoice row: the record is written with the credit, or without one for a payer nobody knows.
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
