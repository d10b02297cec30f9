import type { Db } from '../../../core/db/db.ts';
import type { ReferralPair } from '../../referrals/types.ts';

/** What the referral of an event has paid for subscriptions in the period of contest `c`; `referral` is SQL of the user's id. */
const paidBy = (referral: string) => `coalesce((SELECT sum(abs(p.amount_kopeks)) FROM transactions p
  WHERE p.user_id = ${referral} AND p.type = 'subscription_payment' AND p.is_completed AND NOT p.is_internal
    AND p.created_at >= c.start_at AND p.created_at <= c.closes_at), 0)::bigint`;

/** Contests of a type that run at a moment and to whose period the registration of user `u` belongs. */
const scoring = (type: string, at: string) => `referral_contests c ON c.is_active AND c.contest_type = '${type}'
  AND c.start_at <= ${at} AND c.closes_at >= ${at} AND u.created_at >= c.start_at AND u.created_at <= c.closes_at`;

/** Who paid, and who invited the payer; null when nobody did. */
export async function findPayer(db: Db, transactionId: number): Promise<ReferralPair | null> {
  const [row] = await db.sql<ReferralPair>(
    `SELECT u.id AS referral_id, u.referred_by_id AS referrer_id FROM transactions t JOIN users u ON u.id = t.user_id
     WHERE t.id = $1::int AND u.referred_by_id IS NOT NULL`,
    [transactionId],
  );
  return row ?? null;
}

/** Who was invited, and by whom; null when nobody did. */
export async function findReferral(db: Db, referralId: number): Promise<ReferralPair | null> {
  const [row] = await db.sql<ReferralPair>(
    'SELECT id AS referral_id, referred_by_id AS referrer_id FROM users WHERE id = $1::int AND referred_by_id IS NOT NULL',
    [referralId],
  );
  return row ?? null;
}

/**
 * Scores a payment in all contests that run at its moment: the first payment of a referral is its event, and every payment renews the sum
 * from the movements themselves, so that repeated and reordered runs come to the same. Under the lock of the payer.
 * @returns number of contests
 */
export async function scorePayment(db: Db, transactionId: number): Promise<number> {
  const rows = await db.sql(
    `INSERT INTO referral_contest_events AS e (contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at)
     SELECT c.id, u.referred_by_id, u.id, 'subscription_purchase', ${paidBy('u.id')}, t.created_at
     FROM transactions t JOIN users u ON u.id = t.user_id JOIN ${scoring('referral_paid', 't.created_at')}
     WHERE t.id = $1::int AND t.type = 'subscription_payment' AND t.is_completed AND NOT t.is_internal AND u.referred_by_id IS NOT NULL
     ORDER BY c.id
     ON CONFLICT (contest_id, referral_id) DO UPDATE SET amount_kopeks = EXCLUDED.amount_kopeks,
       occurred_at = least(e.occurred_at, EXCLUDED.occurred_at) RETURNING e.id`,
    [transactionId],
  );
  return rows.length;
}

/** Scores a registration in all contests of registrations that run at its moment; once each. */
export async function scoreRegistration(db: Db, referralId: number, at: Date): Promise<number> {
  const rows = await db.sql(
    `INSERT INTO referral_contest_events (contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at)
     SELECT c.id, u.referred_by_id, u.id, 'referral_registration', 0, $2::timestamptz
     FROM users u JOIN ${scoring('referral_registered', '$2::timestamptz')}
     WHERE u.id = $1::int AND u.referred_by_id IS NOT NULL ORDER BY c.id
     ON CONFLICT (contest_id, referral_id) DO NOTHING RETURNING id`,
    [referralId, at],
  );
  return rows.length;
}

/** A place in the order in which `listCandidates` reads. */
export interface CandidatePlace {
  createdAt: Date;
  id: number;
}

/** Referrals whose registration belongs to the period of a contest, whether they have scored or not. @param after the last one before */
export function listCandidates(
  db: Db,
  contestId: number,
  after: CandidatePlace | null,
  limit: number,
): Promise<(ReferralPair & CandidatePlace)[]> {
  return db.sql<ReferralPair & CandidatePlace>(
    `SELECT u.id, u.id AS referral_id, u.referred_by_id AS referrer_id, u.created_at
     FROM users u JOIN referral_contests c ON c.id = $1::int AND c.is_active AND u.created_at >= c.start_at AND u.created_at <= c.closes_at
     WHERE u.referred_by_id IS NOT NULL AND ($2::timestamptz IS NULL OR (u.created_at, u.id) > ($2::timestamptz, $3::int))
     ORDER BY u.created_at, u.id LIMIT $4::int`,
    [contestId, after?.createdAt ?? null, after?.id ?? 0, limit],
  );
}

/** Scores everything that these referrals have paid in the period, as `scorePayment` would have. @returns number of events */
export async function scorePaid(db: Db, contestId: number, referralIds: readonly number[]): Promise<number> {
  const rows = await db.sql(
    `INSERT INTO referral_contest_events (contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at)
     SELECT c.id, u.referred_by_id, u.id, 'subscription_purchase', p.kopeks, p.first_at
     FROM referral_contests c JOIN users u ON u.id = ANY($2::int[]) AND u.created_at >= c.start_at AND u.created_at <= c.closes_at
     CROSS JOIN LATERAL (SELECT sum(abs(t.amount_kopeks))::bigint AS kopeks, min(t.created_at) AS first_at FROM transactions t
       WHERE t.user_id = u.id AND t.type = 'subscription_payment' AND t.is_completed AND NOT t.is_internal
         AND t.created_at >= c.start_at AND t.created_at <= c.closes_at) p
     WHERE c.id = $1::int AND c.is_active AND c.contest_type = 'referral_paid' AND u.referred_by_id IS NOT NULL AND p.first_at IS NOT NULL
     ORDER BY u.id
     ON CONFLICT (contest_id, referral_id) DO UPDATE SET amount_kopeks = EXCLUDED.amount_kopeks, occurred_at = EXCLUDED.occurred_at
     RETURNING id`,
    [contestId, [...referralIds]],
  );
  return rows.length;
}

/** Scores the registrations of these referrals likewise. @returns number of new events */
export async function scoreRegistered(db: Db, contestId: number, referralIds: readonly number[]): Promise<number> {
  const rows = await db.sql(
    `INSERT INTO referral_contest_events (contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at)
     SELECT c.id, u.referred_by_id, u.id, 'referral_registration', 0, min(r.created_at)
     FROM referral_contests c JOIN users u ON u.id = ANY($2::int[]) AND u.created_at >= c.start_at AND u.created_at <= c.closes_at
     JOIN referral_earnings r ON r.referral_id = u.id AND r.reason = 'referral_registration_pending'
       AND r.created_at >= c.start_at AND r.created_at <= c.closes_at
     WHERE c.id = $1::int AND c.is_active AND c.contest_type = 'referral_registered' AND u.referred_by_id IS NOT NULL
     GROUP BY c.id, u.id ORDER BY u.id
     ON CONFLICT (contest_id, referral_id) DO NOTHING RETURNING id`,
    [contestId, [...referralIds]],
  );
  return rows.length;
}

/** Renews the sums of a user's events, after movements have become the user's. */
export async function renewAmounts(db: Db, referralId: number): Promise<void> {
  await db.sql(
    `UPDATE referral_contest_events e SET amount_kopeks = ${paidBy('e.referral_id')} FROM referral_contests c
     WHERE c.id = e.contest_id AND e.referral_id = $1::int AND e.event_type = 'subscription_purchase' RETURNING e.id`,
    [referralId],
  );
}

/** Deletes the events by which the two have invited each other. */
export async function deleteMutualEvents(db: Db, a: number, b: number): Promise<void> {
  await db.sql(
    `DELETE FROM referral_contest_events WHERE (referrer_id = $1::int AND referral_id = $2::int)
       OR (referrer_id = $2::int AND referral_id = $1::int) RETURNING id`,
    [a, b],
  );
}
