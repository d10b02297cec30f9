import type { Db } from '../../core/db/db.ts';
import type { AssignedBy } from './types.ts';

/** @returns whether the user was not in the group yet; false, too, for a group that does not exist */
export async function insertMembership(
  db: Db,
  userId: number,
  groupId: number,
  assignedBy: AssignedBy,
  now: Date,
): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO user_promo_groups (user_id, promo_group_id, assigned_by, assigned_at)
     SELECT $1::int, id, $3, $4::timestamptz FROM promo_groups WHERE id = $2::int FOR KEY SHARE
     ON CONFLICT (user_id, promo_group_id) DO NOTHING RETURNING user_id`,
    [userId, groupId, assignedBy, now],
  );
  return rows.length > 0;
}

/** @returns whether the user had a membership that was assigned in one of these ways */
export async function deleteMembership(
  db: Db,
  userId: number,
  groupId: number,
  assignedBy: readonly AssignedBy[],
): Promise<boolean> {
  const rows = await db.sql(
    `DELETE FROM user_promo_groups WHERE user_id = $1::int AND promo_group_id = $2::int AND assigned_by = ANY($3::text[])
     RETURNING user_id`,
    [userId, groupId, assignedBy],
  );
  return rows.length > 0;
}

/**
 * Removes a user from all groups but one and adds the user to that one, as assigned by an administrator.
 * @param groupId null = no group
 * @param reassigns whether a membership of another origin (automatic, a promo code) becomes an administrator's
 */
export async function replaceMemberships(
  db: Db,
  userId: number,
  groupId: number | null,
  { reassigns, now }: { reassigns: boolean; now: Date },
): Promise<void> {
  await db.sql(
    `WITH removed AS (DELETE FROM user_promo_groups WHERE user_id = $1::int AND promo_group_id IS DISTINCT FROM $2::int)
     INSERT INTO user_promo_groups (user_id, promo_group_id, assigned_by, assigned_at)
     SELECT $1::int, $2::int, 'admin', $3::timestamptz WHERE $2::int IS NOT NULL
     ON CONFLICT (user_id, promo_group_id) DO UPDATE SET assigned_by = 'admin', assigned_at = $3::timestamptz WHERE $4::boolean`,
    [userId, groupId, now, reassigns],
  );
}

/**
 * The next users by id who are in the group or have it as primary one, locked in the order of ids. Each half of the list is an
 * index scan in that order, so that all calls together read the users once.
 */
export async function lockNextMembers(db: Db, groupId: number, afterId: number, limit: number): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `WITH next AS MATERIALIZED (
       (SELECT id FROM users WHERE promo_group_id = $1::int AND id > $2::int ORDER BY id LIMIT $3::int)
       UNION (SELECT user_id FROM user_promo_groups WHERE promo_group_id = $1::int AND user_id > $2::int ORDER BY user_id LIMIT $3::int)
       ORDER BY id LIMIT $3::int)
     SELECT u.id FROM users u JOIN next ON next.id = u.id ORDER BY u.id FOR NO KEY UPDATE OF u`,
    [groupId, afterId, limit],
  );
  return rows.map((row) => row.id);
}

/** Moves locked users from one group to another in one statement (spec 04 section 8.5); users who are no longer members are not moved. */
export async function moveMembers(
  db: Db,
  userIds: readonly number[],
  move: { fromId: number; toId: number; now: Date },
): Promise<void> {
  await db.sql(
    `WITH removed AS (DELETE FROM user_promo_groups WHERE promo_group_id = $2::int AND user_id = ANY($1::int[]) RETURNING user_id)
     INSERT INTO user_promo_groups (user_id, promo_group_id, assigned_by, assigned_at)
     SELECT u.id, $3::int, 'system', $4::timestamptz FROM users u
     WHERE u.id = ANY($1::int[]) AND (u.promo_group_id = $2::int OR u.id IN (SELECT user_id FROM removed))
     ON CONFLICT (user_id, promo_group_id) DO NOTHING RETURNING user_id`,
    [userIds, move.fromId, move.toId, move.now],
  );
}

/** Whether the group has a member, or is the primary group of a user. */
export async function hasMembers(db: Db, groupId: number): Promise<boolean> {
  const [row] = await db.sql<{ found: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM users WHERE promo_group_id = $1::int)
       OR EXISTS (SELECT 1 FROM user_promo_groups WHERE promo_group_id = $1::int) AS found`,
    [groupId],
  );
  return row!.found;
}
