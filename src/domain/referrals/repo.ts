import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { ReferralPair } from './types.ts';

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
