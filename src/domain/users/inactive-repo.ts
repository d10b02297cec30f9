import type { Db } from '../../core/db/db.ts';

/** Where a walk over silent users stands. */
export interface SilentPosition {
  lastActivity: Date;
  userId: number;
}

/** A page of active users without balance who were last seen before a moment, latest first. Never seen is not long ago. */
export async function listSilentUsers(
  db: Db,
  range: { before: Date; after: SilentPosition | null; limit: number },
): Promise<SilentPosition[]> {
  return db.sql<SilentPosition>(
    `SELECT user_id AS "userId", last_activity AS "lastActivity" FROM user_stats
     WHERE status = 'active' AND balance_kopeks = 0 AND last_activity > 'epoch' AND last_activity < $1::timestamptz
       AND ($2::timestamptz IS NULL OR last_activity < $2::timestamptz OR (last_activity = $2::timestamptz AND user_id < $3::int))
     ORDER BY last_activity DESC, user_id DESC LIMIT $4::int`,
    [range.before, range.after?.lastActivity ?? null, range.after?.userId ?? null, range.limit],
  );
}

export interface RemovableUser {
  id: number;
  messengerId: number | null;
  email: string | null;
  emailVerified: boolean;
}

/**
 * Locks those of the users that may go at this moment: still silent and without balance, no subscription with time left, no role, no
 * partnership, nothing paid for that waits to be handed over. Users that somebody works on are left to the next night.
 */
export async function lockRemovable(db: Db, userIds: readonly number[], before: Date, now: Date): Promise<RemovableUser[]> {
  return db.sql<RemovableUser>(
    `SELECT u.id, u.messenger_id AS "messengerId", u.email, u.email_verified AS "emailVerified" FROM users u
     WHERE u.id = ANY($1::int[]) AND u.status = 'active' AND u.balance_kopeks = 0 AND u.last_activity < $2::timestamptz
       AND u.partner_status IN ('none', 'rejected')
       AND NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.user_id = u.id AND s.end_date > $3::timestamptz)
       AND NOT EXISTS (SELECT 1 FROM user_roles r WHERE r.user_id = u.id AND r.is_active)
       AND NOT EXISTS (SELECT 1 FROM guest_purchases g WHERE g.status IN ('paid', 'pending_activation') AND (g.user_id = u.id OR g.buyer_user_id = u.id))
     ORDER BY u.id FOR NO KEY UPDATE OF u SKIP LOCKED`,
    [userIds, before, now],
  );
}
