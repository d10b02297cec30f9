import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

/** The last row of a page of inactive users. */
export interface InactivePosition {
  lastActivity: Date;
  userId: number;
}

/** A page of active users without balance who were last seen before a moment, latest first. Users who were never seen are left out. */
export async function listInactiveUsers(
  db: Db,
  range: { before: Date; after: InactivePosition | null; limit: number },
): Promise<InactivePosition[]> {
  return db.sql<InactivePosition>(
    `SELECT user_id, last_activity FROM user_stats
     WHERE status = 'active' AND balance_kopeks = 0 AND last_activity > 'epoch' AND last_activity < $1::timestamptz
       AND ($2::timestamptz IS NULL OR last_activity < $2::timestamptz OR (last_activity = $2::timestamptz AND user_id < $3::int))
     ORDER BY last_activity DESC, user_id DESC LIMIT $4::int`,
    [range.before, range.after?.lastActivity ?? null, range.after?.userId ?? null, range.limit],
  );
}

const REMOVABLE = columns('User', ['id', 'messengerId', 'email', 'emailVerified']);

export type RemovableUser = RowOf<typeof REMOVABLE>;

/**
 * Locks those of the users that may be deleted at this moment: still inactive and without balance, no subscription with time left, no role,
 * no partnership, no paid gift or purchase that is not delivered. Users locked by another transaction wait for the next night.
 */
export async function lockRemovable(db: Db, userIds: readonly number[], before: Date, now: Date): Promise<RemovableUser[]> {
  return db.sql<RemovableUser>(
    `SELECT ${REMOVABLE.of('u')} FROM users u
     WHERE u.id = ANY($1::int[]) AND u.status = 'active' AND u.balance_kopeks = 0 AND u.last_activity < $2::timestamptz
       AND u.partner_status IN ('none', 'rejected')
       AND NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.user_id = u.id AND s.end_date > $3::timestamptz)
       AND NOT EXISTS (SELECT 1 FROM user_roles r WHERE r.user_id = u.id AND r.is_active)
       AND NOT EXISTS (SELECT 1 FROM guest_purchases g WHERE g.status IN ('paid', 'pending_activation') AND (g.user_id = u.id OR g.buyer_user_id = u.id))
     ORDER BY u.id FOR NO KEY UPDATE OF u SKIP LOCKED`,
    [userIds, before, now],
  );
}
