import { columns, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { countActiveReferralsOf } from './stats/active-sql.ts';
import type { ReferralPair } from './types.ts';
import { earnedAfter, RESERVED } from './withdrawals/repo.ts';

const USER = columns('User', [
  ...(['id', 'status', 'messengerId', 'username', 'firstName', 'lastName', 'email', 'emailVerified', 'language'] as const),
  ...(['referredById', 'hasMadeFirstTopup'] as const),
]);

/** Referrer or referral, with how to reach them. `hasMadeFirstTopup`: the first top-up that counts has been made. */
export type ReferralUser = RowOf<typeof USER> & {
  /** Personal commission; null = the service-wide one. */
  commissionPercent: number | null;
};

/**
 * Locks the referral, and the referrer for share so that no referrer of the referrer can be set, in the order of their ids: of two
 * concurrent opposite attributions, the second sees the first. Many referrals of one referrer do not wait for each other.
 */
export async function lockPair(db: Db, pair: ReferralPair): Promise<void> {
  const ids = [pair.referrerId, pair.referralId].sort((a, b) => a - b);
  for (const id of ids) {
    await db.sql(`SELECT id FROM users WHERE id = $1::int ${id === pair.referralId ? 'FOR NO KEY UPDATE' : 'FOR SHARE'}`, [id]);
  }
}

/** Locks the users of several pairs, by id. */
export async function lockUsersOfPairs(db: Db, pairs: readonly ReferralPair[]): Promise<void> {
  const ids = [...new Set(pairs.flatMap(({ referralId, referrerId }) => [referralId, referrerId]))];
  await db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) ORDER BY id FOR NO KEY UPDATE', [ids]);
}

export async function findReferralUser(db: Db, userId: number): Promise<ReferralUser | null> {
  const [row] = await db.sql<ReferralUser>(
    `SELECT ${USER.of()}, referral_commission_percent::float8 AS commission_percent FROM users WHERE id = $1::int`,
    [userId],
  );
  return row ?? null;
}

/**
 * The earning of 0 that records "registered, not paid yet", with the first campaign of the referral. One for each pair.
 * @returns false when it exists already
 */
export async function insertPendingEarning(db: Db, referrerId: number, referralId: number, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `INSERT INTO referral_earnings (user_id, referral_id, amount_kopeks, reason, campaign_id, created_at)
     VALUES ($1::int, $2::int, 0, 'referral_registration_pending',
       (SELECT r.campaign_id FROM advertising_campaign_registrations r WHERE r.user_id = $2::int ORDER BY r.created_at, r.id LIMIT 1),
       $3::timestamptz)
     ON CONFLICT DO NOTHING RETURNING id`,
    [referrerId, referralId, now],
  );
  return rows.length > 0;
}

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

/** What the referral page of a user starts from; kopeks. */
interface MyCounters {
  referralCode: string;
  commissionPercent: number | null;
  /** With what pending withdrawal requests hold. */
  balanceKopeks: number;
  totalReferrals: number;
  activeReferrals: number;
  totalEarningsKopeks: number;
  /** Of these, what cannot be withdrawn yet. */
  maturingKopeks: number;
  /** Of requests that were approved or completed. */
  withdrawnKopeks: number;
  /** Of pending requests. */
  pendingKopeks: number;
}

export async function findMyCounters(db: Db, userId: number, now: Date, maturedBefore: Date | null): Promise<MyCounters | null> {
  const [row] = await db.sql<MyCounters>(
    `SELECT u.referral_code, u.referral_commission_percent::float8 AS commission_percent, (u.balance_kopeks + ${RESERVED})::bigint AS balance_kopeks,
       ${earnedAfter('$3')} AS maturing_kopeks,
       coalesce(f.referrals, 0) AS total_referrals, ${countActiveReferralsOf('u.id', '$2')} AS active_referrals,
       coalesce(f.earned_kopeks, 0) AS total_earnings_kopeks, w.withdrawn AS withdrawn_kopeks, w.pending AS pending_kopeks
     FROM users u LEFT JOIN referrer_stats f ON f.user_id = u.id
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(q.amount_kopeks) FILTER (WHERE q.status IN ('approved', 'completed')), 0)::bigint AS withdrawn,
         coalesce(sum(q.amount_kopeks) FILTER (WHERE q.status = 'pending'), 0)::bigint AS pending
       FROM withdrawal_requests q WHERE q.user_id = u.id) w
     WHERE u.id = $1::int`,
    [userId, now, maturedBefore],
  );
  return row ?? null;
}

interface Slice {
  limit: number;
  offset: number;
}

const REFERRAL = columns('User', ['id', 'username', 'firstName', 'createdAt']);

export type MyReferral = RowOf<typeof REFERRAL> & {
  /** In any state. */
  hasSubscription: boolean;
  hasPaid: boolean;
};

/** The referrals of a user, newest first, with their number. */
export async function listReferrals(db: Db, userId: number, slice: Slice): Promise<{ items: MyReferral[]; total: number }> {
  const [items, [count]] = await Promise.all([
    db.sql<MyReferral>(
      `SELECT ${REFERRAL.of('r')}, r.has_had_paid_subscription AS has_paid,
         EXISTS (SELECT 1 FROM subscriptions s WHERE s.user_id = r.id) AS has_subscription
       FROM users r WHERE r.referred_by_id = $1::int ORDER BY r.created_at DESC, r.id DESC LIMIT $2::int OFFSET $3::bigint`,
      [userId, slice.limit, slice.offset],
    ),
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM users WHERE referred_by_id = $1::int', [userId]),
  ]);
  return { items, total: count!.total };
}

const EARNING = columns('ReferralEarning', ['id', 'amountKopeks', 'reason', 'createdAt']);

export type MyEarning = RowOf<typeof EARNING> & {
  referralUsername: string | null;
  referralFirstName: string | null;
  campaignName: string | null;
};

/** A user's rewards, newest first, those of 0 kopeks included, with their number and the sum of all. */
export async function listEarnings(
  db: Db,
  userId: number,
  slice: Slice,
): Promise<{ items: MyEarning[]; total: number; totalAmountKopeks: number }> {
  const [items, [all]] = await Promise.all([
    db.sql<MyEarning>(
      `WITH page AS MATERIALIZED (
         SELECT e.* FROM referral_earnings e WHERE e.user_id = $1::int ORDER BY e.created_at DESC, e.id DESC LIMIT $2::int OFFSET $3::bigint)
       SELECT ${EARNING.of('e')}, r.username AS referral_username, r.first_name AS referral_first_name, c.name AS campaign_name
       FROM page e JOIN users r ON r.id = e.referral_id LEFT JOIN advertising_campaigns c ON c.id = e.campaign_id
       ORDER BY e.created_at DESC, e.id DESC`,
      [userId, slice.limit, slice.offset],
    ),
    db.sql<{ total: number; totalAmountKopeks: number }>(
      `SELECT count(*)::int AS total,
         coalesce((SELECT earned_kopeks FROM referrer_stats WHERE user_id = $1::int), 0)::bigint AS total_amount_kopeks
       FROM referral_earnings WHERE user_id = $1::int`,
      [userId],
    ),
  ]);
  return { items, ...all! };
}
