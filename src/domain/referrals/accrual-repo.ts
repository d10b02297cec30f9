import type { Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { ReferralPair } from './types.ts';

/** A completed payment from outside, made by a user who has a referrer. */
export interface SourcePayment extends ReferralPair {
  transactionId: number;
  amountKopeks: number;
}

/**
 * Only money from outside pays rewards: no bonus, no manual credit, no purchase from the balance (spec 04 section 1.3).
 * @returns null for any other movement, and for a payer without referrer
 */
export async function findSourcePayment(db: Db, transactionId: number): Promise<SourcePayment | null> {
  const [row] = await db.sql<SourcePayment>(
    `SELECT t.id AS transaction_id, u.id AS referral_id, u.referred_by_id AS referrer_id, abs(t.amount_kopeks) AS amount_kopeks
     FROM transactions t JOIN users u ON u.id = t.user_id
     WHERE t.id = $1::int AND t.is_completed AND NOT t.is_internal AND t.type IN ('deposit', 'subscription_payment')
       AND t.payment_method NOT IN ('manual', 'balance') AND u.referred_by_id IS NOT NULL`,
    [transactionId],
  );
  return row ?? null;
}

/** Locks both users in the order of their ids (spec 04 section 1.4). */
export async function lockBoth(db: Db, ids: readonly [number, number]): Promise<void> {
  await db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) ORDER BY id FOR NO KEY UPDATE', [ids]);
}

/** What the reward of a payment depends on besides the settings. */
interface AccrualState {
  isAccrued: boolean;
  hasMadeFirstTopup: boolean;
  commissionsPaid: number;
  /** What went back of the payment. */
  reversedKopeks: number;
}

/** The state that a reward depends on; read under the locks. */
export async function findAccrualState(db: Db, payment: SourcePayment): Promise<AccrualState> {
  const [row] = await db.sql<AccrualState>(
    `SELECT EXISTS (SELECT 1 FROM referral_earnings WHERE referral_transaction_id = $1::int) AS is_accrued,
       (SELECT has_made_first_topup FROM users WHERE id = $2::int) AS has_made_first_topup,
       (SELECT count(*)::int FROM referral_earnings WHERE user_id = $3::int AND referral_id = $2::int
          AND reason = 'referral_commission_topup') AS commissions_paid,
       reversed_of_transaction($1::int) AS reversed_kopeks`,
    [payment.transactionId, payment.referralId, payment.referrerId],
  );
  return row!;
}

/** Deletes the pair's "not paid yet" row. */
export async function deletePendingEarning(db: Db, { referrerId, referralId }: ReferralPair): Promise<void> {
  await db.sql(
    `DELETE FROM referral_earnings WHERE user_id = $1::int AND referral_id = $2::int AND reason = 'referral_registration_pending'
     RETURNING id`,
    [referrerId, referralId],
  );
}

/** Stores the payment, so that the unique key refuses to pay it twice, and the referral's earliest campaign. */
export async function insertEarning(
  db: Db,
  payment: SourcePayment,
  earning: { amountKopeks: number; reason: Rows['ReferralEarning']['reason']; now: Date },
): Promise<void> {
  await db.sql(
    `INSERT INTO referral_earnings (user_id, referral_id, amount_kopeks, reason, referral_transaction_id, campaign_id, created_at)
     VALUES ($1::int, $2::int, $3::bigint, $4, $5::int,
       (SELECT r.campaign_id FROM advertising_campaign_registrations r WHERE r.user_id = $2::int ORDER BY r.created_at, r.id LIMIT 1),
       $6::timestamptz) RETURNING id`,
    [payment.referrerId, payment.referralId, earning.amountKopeks, earning.reason, payment.transactionId, earning.now],
  );
}
