import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
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

const DENIAL = columns('LiftedDenial', ['resource', 'actions', 'sources', 'liftedAt']);

/** Patterns of what was denied, and ids of those who lifted it. */
type LiftedDenial = RowOf<typeof DENIAL>;

/**
 * Records that an administrator lifts denials, for everybody to whom they apply. Called before it happens, because it reads who that is.
 * @param denials which active denials: of this policy, or all of this role, also for one user alone
 */
export async function recordLiftedDenials(
  t: App,
  actor: AdminActor,
  denials: { policyId: number } | { roleId: number; userId?: number },
): Promise<void> {
  const sources = [actor.userId, ...(await sourcesOfGrantor(t.db, actor))];
  const { policyId, roleId, userId }: { policyId?: number; roleId?: number; userId?: number } = denials;
  await t.db.sql(
    `INSERT INTO lifted_denials (user_id, resource, actions, sources, lifted_at)
     SELECT ur.user_id, p.resource, p.actions, CASE WHEN ur.expires_at <= $5::timestamptz THEN ur.granted_through ELSE $4::jsonb END,
       LEAST(ur.expires_at, $5::timestamptz)
     FROM access_policies p LEFT JOIN user_roles ur ON ur.role_id = p.role_id AND ur.is_active
     WHERE p.effect = 'deny' AND p.is_active AND (p.role_id IS NULL OR ur.user_id IS NOT NULL)
       AND p.id = coalesce($1::int, p.id) AND ($2::int IS NULL OR p.role_id = $2::int) AND ($3::int IS NULL OR ur.user_id = $3::int)
     RETURNING id`,
    [policyId ?? null, roleId ?? null, userId ?? null, JSON.stringify(sources), t.clock.now()],
  );
}

/** Denials that applied to the user and were lifted, also by the end of the time for which their role was assigned. */
export function listLiftedDenials(db: Db, userId: number, now: Date): Promise<LiftedDenial[]> {
  return db.sql<LiftedDenial>(
    `SELECT ${DENIAL.of('d')} FROM lifted_denials d WHERE d.user_id = $1::int OR d.user_id IS NULL
     UNION ALL
     SELECT p.resource, p.actions, ur.granted_through, ur.expires_at FROM user_roles ur
       JOIN access_policies p ON p.role_id = ur.role_id AND p.effect = 'deny' AND p.is_active
     WHERE ur.user_id = $1::int AND ur.is_active AND ur.expires_at <= $2::timestamptz`,
    [userId, now],
  );
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
