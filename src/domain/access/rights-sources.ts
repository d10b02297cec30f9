import type { AdminActor } from '../../core/actor.ts';
import type { Db } from '../../core/db/db.ts';

/**
 * From whom rights come (spec 01 section 4.8). What counts is stored with each assignment and role when it is made or widened: a grantor who
 * revokes the role of the one between, deletes a role or whose account is merged or erased stays a source.
 */

/** SQL: who has given the rights of an assignment `ur` of the role `r`. A role that was widened afterwards has given more than its assignment. */
const OF_ASSIGNMENT = `(
  SELECT ur.assigned_by AS id WHERE ur.assigned_by IS NOT NULL
  UNION SELECT value::int FROM jsonb_array_elements_text(ur.granted_through)
  UNION SELECT x.id FROM jsonb_array_elements(r.widenings) w
    CROSS JOIN LATERAL (SELECT (w ->> 'by')::int UNION SELECT value::int FROM jsonb_array_elements_text(w -> 'through')) x(id)
    WHERE (w ->> 'at')::timestamptz >= ur.assigned_at)`;

/** Ids of those who gave an administrator rights, directly or through others. Recursive: each is looked at once. */
export async function listRightsSources(db: Db, userId: number): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `WITH RECURSIVE sources(id) AS (
       SELECT o.id FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id CROSS JOIN LATERAL ${OF_ASSIGNMENT} o
       WHERE ur.user_id = $1::int AND ur.is_active
       UNION
       SELECT o.id FROM sources s JOIN user_roles ur ON ur.user_id = s.id JOIN admin_roles r ON r.id = ur.role_id
       CROSS JOIN LATERAL ${OF_ASSIGNMENT} o)
     SELECT id FROM sources ORDER BY id`,
    [userId],
  );
  return rows.map(({ id }) => id);
}

/** What is stored of the source of rights that an administrator gives; those of the configuration have theirs from nobody. */
export async function sourcesOfGrantor(db: Db, actor: AdminActor): Promise<number[]> {
  return actor.isConfigAdmin ? [] : listRightsSources(db, actor.userId);
}

/** Of accounts that were merged, in whichever direction and also through others, all are one person. @returns the account itself as well */
export async function listAccountsOf(db: Db, userId: number): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `WITH RECURSIVE mine(id) AS (
       SELECT $1::int UNION SELECT CASE m.primary_user_id WHEN mine.id THEN m.secondary_user_id ELSE m.primary_user_id END
       FROM account_merges m JOIN mine ON mine.id IN (m.primary_user_id, m.secondary_user_id))
     SELECT id FROM mine ORDER BY id`,
    [userId],
  );
  return rows.map(({ id }) => id);
}

/** Records who gives permissions to all holders of a locked role: the last time of each administrator, with all that he has added. */
export async function recordWidening(
  db: Db,
  roleId: number,
  widening: { by: number; at: Date; added: readonly string[]; through: readonly number[] },
): Promise<void> {
  await db.sql(
    `WITH former AS (SELECT w FROM admin_roles r, jsonb_array_elements(r.widenings) w WHERE r.id = $1::int)
     UPDATE admin_roles SET widenings = (SELECT coalesce(jsonb_agg(w), '[]') FROM former WHERE (w ->> 'by')::int <> $2::int)
       || jsonb_build_array(jsonb_build_object('by', $2::int, 'at', $3::timestamptz,
         'added', (SELECT coalesce(jsonb_agg(DISTINCT p), '[]') FROM (SELECT jsonb_array_elements_text(w -> 'added') AS p FROM former
           WHERE (w ->> 'by')::int = $2::int UNION SELECT jsonb_array_elements_text($4::jsonb)) a),
         'through', (SELECT coalesce(jsonb_agg(DISTINCT i), '[]') FROM (SELECT jsonb_array_elements_text(w -> 'through')::int AS i FROM former
           WHERE (w ->> 'by')::int = $2::int UNION SELECT jsonb_array_elements_text($5::jsonb)::int) a)))
     WHERE id = $1::int RETURNING id`,
    [roleId, widening.by, widening.at, JSON.stringify(widening.added), JSON.stringify(widening.through)],
  );
}
