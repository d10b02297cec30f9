import type { Db } from '../../core/db/db.ts';

/** A completed payment from outside, made by a user who has a referrer. */
export interface SourcePayment {
  transactionId: number;
  referralId: number;
  referrerId: number;
  amountKopeks: number;
}

/**
 * Money that came from outside alone pays rewards: no bonus, no manual credit, no purchase from the balance (spec 04 section 1.3).
 * @returns null for any other movement, and for a payer without referrer
 */
export async function findSourcePayment(db: Db, transactionId: number): Promise<SourcePayment | null> {
  const [row] = await db.sql<SourcePayment>(
    `SELECT t.id AS "transactionId", u.id AS "referralId", u.referred_by_id AS "referrerId", abs(t.amount_kopeks) AS "amountKopeks"
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

/** What of the past decides about a reward; read under the locks. */
export async function findAccrualState(
  db: Db,
  payment: SourcePayment,
): Promise<{ isAccrued: boolean; hasMadeFirstTopup: boolean; commissionsPaid: number }> {
  const [row] = await db.sql<{ isAccrued: boolean; hasMadeFirstTopup: boolean; commissionsPaid: number }>(
    `SELECT EXISTS (SELECT 1 FROM referral_earnings WHERE referral_transaction_id = $1::int) AS "isAccrued",
       (SELECT has_made_first_topup FROM users WHERE id = $2::int) AS "hasMadeFirstTopup",
       (SELECT count(*)::int FROM referral_earnings WHERE user_id = $3::int AND referral_id = $2::int
          AND reason = 'referral_commission_topup') AS "commissionsPaid"`,
    [payment.transactionId, payment.referralId, payment.referrerId],
  );
  return row!;
}

/** Claims the first top-up: of any number of claims one succeeds (spec 04 section 1.4). The pair's "not paid yet" rows go with it. */
export async function claimFirstTopup(db: Db, payment: SourcePayment, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    'UPDATE users SET has_made_first_topup = true, updated_at = $2::timestamptz WHERE id = $1::int AND NOT has_made_first_topup RETURNING id',
    [payment.referralId, now],
  );
  if (rows.length === 0) return false;
  await db.sql(
    `DELETE FROM referral_earnings WHERE user_id = $1::int AND referral_id = $2::int AND reason = 'referral_registration_pending'
     RETURNING id`,
    [payment.referrerId, payment.referralId],
  );
  return true;
}

/** Names the payment, so that the unique key refuses to pay it twice; and the referral's earliest campaign. */
export async function insertEarning(
  db: Db,
  payment: SourcePayment,
  earning: { amountKopeks: number; reason: string; now: Date },
): Promise<void> {
  await db.sql(
    `INSERT INTO referral_earnings (user_id, referral_id, amount_kopeks, reason, referral_transaction_id, campaign_id, created_at)
     VALUES ($1::int, $2::int, $3::bigint, $4, $5::int,
       (SELECT r.campaign_id FROM advertising_campaign_registrations r WHERE r.user_id = $2::int ORDER BY r.created_at, r.id LIMIT 1),
       $6::timestamptz) RETURNING id`,
    [payment.referrerId, payment.referralId, earning.amountKopeks, earning.reason, payment.transactionId, earning.now],
  );
}
