import type { Db } from '../../core/db/db.ts';
import type { SystemRole } from './permission-catalogue.ts';
import type { AccessPolicy } from './permission-rules.ts';

export interface HeldRole {
  id: number;
  name: string;
  level: number;
  permissions: string[];
}

/** Roles in effect: assignment active and not expired, role active; highest level first. */
export async function listHeldRoles(db: Db, userId: number, now: Date): Promise<HeldRole[]> {
  return db.sql<HeldRole>(
    `SELECT r.id, r.name, r.level, r.permissions FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id
     WHERE ur.user_id = $1::int AND ur.is_active AND r.is_active AND (ur.expires_at IS NULL OR ur.expires_at > $2::timestamptz)
     ORDER BY r.level DESC, r.id`,
    [userId, now],
  );
}

/** All active policies, highest priority first. */
export async function listActivePolicies(db: Db): Promise<AccessPolicy[]> {
  const rows = await db.sql<{
    name: string;
    roleId: number | null;
    effect: string;
    resource: string;
    actions: string[];
    conditions: Record<string, unknown> | null;
  }>(
    'SELECT name, role_id, effect, resource, actions, conditions FROM access_policies WHERE is_active ORDER BY priority DESC, id',
  );
  return rows.map(({ roleId, conditions, ...policy }) => ({ ...policy, roleId: roleId, conditions: conditions ?? {} }));
}

/** Users whose effective set depends on this role. */
export async function listRoleHolderIds(db: Db, roleId: number): Promise<number[]> {
  const rows = await db.sql<{ userId: number }>('SELECT user_id FROM user_roles WHERE role_id = $1::int', [roleId]);
  return rows.map((row) => row.userId);
}

/** Instances that start together seed one after the other; the lock ends with the transaction. */
export async function lockSeeding(db: Db): Promise<void> {
  await db.sql("SELECT 1 AS locked FROM pg_advisory_xact_lock(hashtext('seed_roles'))");
}

/** A system role by its level, else any role by its name. */
export async function findSeededRole(db: Db, role: SystemRole): Promise<{ id: number; permissions: string[] } | null> {
  const [row] = await db.sql<{ id: number; permissions: string[] }>(
    `SELECT id, permissions FROM admin_roles WHERE (is_system AND level = $1::int) OR name = $2
     ORDER BY (is_system AND level = $1::int) DESC, id LIMIT 1`,
    [role.level, role.name],
  );
  return row ?? null;
}

export async function insertSystemRole(db: Db, role: SystemRole, now: Date): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO admin_roles (name, level, permissions, color, icon, is_system, created_at, updated_at)
     VALUES ($1, $2::int, $3::jsonb, $4, $5, true, $6::timestamptz, $6::timestamptz) RETURNING id`,
    [role.name, role.level, JSON.stringify(role.permissions), role.color, role.icon, now],
  );
  return row!.id;
}

export async function setRolePermissions(db: Db, roleId: number, permissions: readonly string[], now: Date): Promise<void> {
  await db.sql('UPDATE admin_roles SET permissions = $2::jsonb, updated_at = $3::timestamptz WHERE id = $1::int RETURNING id', [
    roleId,
    JSON.stringify(permissions),
    now,
  ]);
}

/** Gives the role to every registered user of the lists; an e-mail must be verified. @returns the users who did not have it */
export async function grantToConfigAdmins(
  db: Db,
  roleId: number,
  messengerIds: readonly number[],
  emails: readonly string[],
  now: Date,
): Promise<number[]> {
  const rows = await db.sql<{ userId: number }>(
    `INSERT INTO user_roles (user_id, role_id, assigned_at, is_active)
     SELECT id, $1::int, $4::timestamptz, true FROM users
     WHERE messenger_id = ANY($2::bigint[]) OR (email_verified AND email = ANY($3::text[]))
     ON CONFLICT (user_id, role_id) DO UPDATE SET is_active = true, expires_at = NULL, assigned_at = EXCLUDED.assigned_at
     WHERE NOT user_roles.is_active OR user_roles.expires_at IS NOT NULL
     RETURNING user_id`,
    [roleId, messengerIds, emails, now],
  );
  return rows.map((row) => row.userId);
}

/** Takes the role from everyone who is not on the lists. @returns the users who lost it */
export async function revokeFromOthers(
  db: Db,
  roleId: number,
  messengerIds: readonly number[],
  emails: readonly string[],
): Promise<number[]> {
  const rows = await db.sql<{ userId: number }>(
    `UPDATE user_roles ur SET is_active = false FROM users u
     WHERE ur.role_id = $1::int AND ur.is_active AND u.id = ur.user_id
       AND NOT (coalesce(u.messenger_id = ANY($2::bigint[]), false) OR (u.email_verified AND coalesce(u.email = ANY($3::text[]), false)))
     RETURNING ur.user_id`,
    [roleId, messengerIds, emails],
  );
  return rows.map((row) => row.userId);
}

export async function countActiveHolders(db: Db, roleId: number): Promise<number> {
  const [row] = await db.sql<{ total: number }>(
    'SELECT count(*)::int AS total FROM user_roles WHERE role_id = $1::int AND is_active',
    [roleId],
  );
  return row!.total;
}
