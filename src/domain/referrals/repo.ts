import type { Db } from '../../core/db/db.ts';
import type { ReferralParty } from './types.ts';

interface PartyRow {
  id: number;
  status: string;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  emailVerified: boolean;
  language: string;
  referredById: number | null;
  hasMadeFirstTopup: boolean;
  referralCommissionPercent: number | null;
}

const COLUMNS = `id, status, messenger_id, username, first_name, last_name, email, email_verified, language, referred_by_id,
  has_made_first_topup, referral_commission_percent::float8 AS referral_commission_percent`;

function toParty(row: PartyRow): ReferralParty {
  return {
    id: row.id,
    status: row.status,
    messengerId: row.messengerId,
    username: row.username,
    firstName: row.firstName,
    lastName: row.lastName,
    email: row.email,
    emailVerified: row.emailVerified,
    language: row.language,
    referredById: row.referredById,
    hasMadeFirstTopup: row.hasMadeFirstTopup,
    commissionPercent: row.referralCommissionPercent,
  };
}

/**
 * Locks the invited user, and holds the referrer against being attributed himself meanwhile, in the order of their ids: two opposite
 * attributions at once see each other. Many newcomers of one referrer do not wait for each other.
 */
export async function lockPair(db: Db, pair: { referrerId: number; referralId: number }): Promise<void> {
  const ids = [pair.referrerId, pair.referralId].sort((a, b) => a - b);
  for (const id of ids) {
    await db.sql(`SELECT id FROM users WHERE id = $1::int ${id === pair.referralId ? 'FOR NO KEY UPDATE' : 'FOR SHARE'}`, [id]);
  }
}

export async function findParty(db: Db, userId: number): Promise<ReferralParty | null> {
  const [row] = await db.sql<PartyRow>(`SELECT ${COLUMNS} FROM users WHERE id = $1::int`, [userId]);
  return row ? toParty(row) : null;
}

/**
 * Sets the referrer of a user who has none: attribution happens once (spec 04 section 1.2), and never makes somebody a descendant of
 * himself. @returns whether it was set
 */
export async function setReferrer(db: Db, referralId: number, referrerId: number, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE users SET referred_by_id = $2::int, updated_at = $3::timestamptz
     WHERE id = $1::int AND referred_by_id IS NULL AND NOT EXISTS (
       WITH RECURSIVE ancestors (id) AS (
         SELECT $2::int UNION SELECT u.referred_by_id FROM users u JOIN ancestors a ON u.id = a.id WHERE u.referred_by_id IS NOT NULL)
       SELECT 1 FROM ancestors WHERE ancestors.id = $1::int) RETURNING id`,
    [referralId, referrerId, now],
  );
  return rows.length > 0;
}

/**
 * The row that says "invited, not paid yet", with the campaign that the invited user came through first. One a pair.
 * @returns false when it stands there already
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
