import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { AccessPolicy, SystemRole } from './permissions.ts';

const ROLE = columns('AdminRole', [
  ...(['id', 'name', 'description', 'level', 'permissions', 'color', 'icon', 'isSystem', 'isActive', 'createdAt'] as const),
  'requiresSecondFactor',
]);

export type AdminRole = RowOf<typeof ROLE>;

export type ListedRole = AdminRole & { userCount: number };

/** Highest level first, each with the number of its active assignments, in one statement. */
export function listRoles(db: Db, includeInactive: boolean): Promise<ListedRole[]> {
  return db.sql<ListedRole>(
    `SELECT ${ROLE.of()}, coalesce(assigned.users, 0)::int AS user_count FROM admin_roles
     LEFT JOIN (SELECT role_id, count(*) AS users FROM user_roles WHERE is_active GROUP BY role_id) assigned ON assigned.role_id = id
     WHERE is_active OR $1::boolean ORDER BY level DESC, id`,
    [includeInactive],
  );
}

export async function findRole(db: Db, id: number): Promise<AdminRole | null> {
  const [row] = await db.sql<AdminRole>(`SELECT ${ROLE.of()} FROM admin_roles WHERE id = $1::bigint`, [id]);
  return row ?? null;
}

/** Locks a role before a change. */
export async function lockRole(db: Db, id: number): Promise<AdminRole | null> {
  const [row] = await db.sql<AdminRole>(`SELECT ${ROLE.of()} FROM admin_roles WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ?? null;
}

/** Locks a role against changes until the transaction ends; several transactions can have this lock. */
export async function lockRoleForShare(db: Db, id: number): Promise<AdminRole | null> {
  const [row] = await db.sql<AdminRole>(`SELECT ${ROLE.of()} FROM admin_roles WHERE id = $1::bigint FOR SHARE`, [id]);
  return row ?? null;
}

export interface RoleInsert {
  name: string;
  description: string | null;
  level: number;
  permissions: readonly string[];
  color: string | null;
  icon: string | null;
  requiresSecondFactor: boolean;
  createdBy: number;
  now: Date;
}

/** @returns null when the name is taken */
export async function insertRole(db: Db, role: RoleInsert): Promise<AdminRole | null> {
  const [row] = await db.sql<AdminRole>(
    `INSERT INTO admin_roles (name, description, level, permissions, color, icon, created_by, created_at, updated_at, requires_second_factor)
     VALUES ($1, $2, $3::int, $4::jsonb, $5, $6, $7::int, $8::timestamptz, $8::timestamptz, $9::boolean)
     ON CONFLICT (name) DO NOTHING RETURNING ${ROLE.of()}`,
    [
      ...[
        role.name,
        role.description,
        role.level,
        JSON.stringify(role.permissions),
        role.color,
        role.icon,
        role.createdBy,
        role.now,
      ],
      role.requiresSecondFactor,
    ],
  );
  return row ?? null;
}

export async function isRoleNameTaken(db: Db, name: string, exceptId: number): Promise<boolean> {
  return (await db.prisma.adminRole.count({ where: { name, id: { not: exceptId } } })) > 0;
}

/** Writes every field that can change. The unique name may refuse it: see `isUniqueViolation`. */
export async function updateRole(db: Db, role: AdminRole, now: Date): Promise<void> {
  const { id, name, description, level, permissions, color, icon, isActive, requiresSecondFactor } = role;
  const data = { name, description, level, permissions, color, icon, isActive, requiresSecondFactor, updatedAt: now };
  await db.prisma.adminRole.update({ where: { id }, data, select: { id: true } });
}

/** Assignments and policies of the role are deleted with it. */
export async function deleteRole(db: Db, id: number): Promise<void> {
  await db.prisma.adminRole.delete({ where: { id }, select: { id: true } });
}

export function countActiveAssignments(db: Db, roleId: number): Promise<number> {
  return db.prisma.userRole.count({ where: { roleId, isActive: true } });
}

export type RoleInEffect = RowOf<typeof IN_EFFECT>;
const IN_EFFECT = columns('AdminRole', ['id', 'name', 'level', 'permissions', 'requiresSecondFactor']);

/** Roles in effect: assignment active and not expired, role active; highest level first. */
export function listRolesInEffect(db: Db, userId: number, now: Date): Promise<RoleInEffect[]> {
  return db.sql<RoleInEffect>(`SELECT ${IN_EFFECT.of('r')} ${FROM_IN_EFFECT} ORDER BY r.level DESC, r.id`, [userId, now]);
}

const FROM_IN_EFFECT = `FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id
  WHERE ur.user_id = $1::int AND ur.is_active AND r.is_active AND (ur.expires_at IS NULL OR ur.expires_at > $2::timestamptz)`;

/** Of the roles in effect those that were assigned at or before `until`, without the permissions that somebody added to them later. */
export async function listRolesSince(db: Db, userId: number, now: Date, until: Date): Promise<RoleInEffect[]> {
  const rows = await db.sql<RoleInEffect & { added: string[] }>(
    `SELECT ${IN_EFFECT.of('r')}, (SELECT coalesce(jsonb_agg(p), '[]') FROM jsonb_array_elements(r.widenings) w,
         jsonb_array_elements_text(w -> 'added') p WHERE (w ->> 'at')::timestamptz > $3::timestamptz) AS added
     ${FROM_IN_EFFECT} AND ur.assigned_at <= $3::timestamptz ORDER BY r.level DESC, r.id`,
    [userId, now, until],
  );
  return rows.map((role) => ({
    ...role,
    permissions: role.permissions.filter((permission) => !role.added.includes(permission)),
  }));
}

/** Users whose permissions depend on this role. */
export async function listUserIdsOfRole(db: Db, roleId: number): Promise<number[]> {
  const rows = await db.prisma.userRole.findMany({ where: { roleId }, select: { userId: true } });
  return rows.map((row) => row.userId);
}

/** Instances that start concurrently create the system roles one after the other; the lock ends with the transaction. */
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
  const data = { permissions: [...permissions], updatedAt: now };
  await db.prisma.adminRole.update({ where: { id: roleId }, data, select: { id: true } });
}

/** Assigns the role to every registered user of the lists; an e-mail must be verified. @returns the users who did not have it */
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

/** Deactivates the role for everyone who is not on the lists. @returns the users who lost it */
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

const POLICY = columns('AccessPolicy', [
  ...(['id', 'name', 'description', 'roleId', 'priority', 'effect', 'conditions', 'resource', 'actions', 'isActive'] as const),
  ...(['createdBy', 'createdAt'] as const),
]);

/** `roleId` null: for everybody. `resource` is a pattern of sections, `actions` are patterns of actions. */
type Policy = RowOf<typeof POLICY>;

export type NamedPolicy = Policy & { roleName: string | null };

const SELECT = `SELECT ${POLICY.of('p')}, r.name AS role_name FROM access_policies p LEFT JOIN admin_roles r ON r.id = p.role_id`;

/** Highest priority first. @param filter.roleId null = of every role and global */
export function listPolicies(db: Db, filter: { roleId: number | null; includeInactive: boolean }): Promise<NamedPolicy[]> {
  return db.sql<NamedPolicy>(
    `${SELECT} WHERE ($1::bigint IS NULL OR p.role_id = $1::bigint) AND (p.is_active OR $2::boolean) ORDER BY p.priority DESC, p.id`,
    [filter.roleId, filter.includeInactive],
  );
}

/** All active policies, highest priority first. */
export function listActivePolicies(db: Db): Promise<AccessPolicy[]> {
  return db.sql<AccessPolicy>(
    'SELECT name, role_id, effect, resource, actions, conditions FROM access_policies WHERE is_active ORDER BY priority DESC, id',
  );
}

export async function lockPolicy(db: Db, id: number): Promise<NamedPolicy | null> {
  const [row] = await db.sql<NamedPolicy>(`${SELECT} WHERE p.id = $1::bigint FOR UPDATE OF p`, [id]);
  return row ?? null;
}

export async function insertPolicy(db: Db, policy: Omit<Policy, 'id'>): Promise<number> {
  const data = { ...policy, conditions: policy.conditions as Prisma.InputJsonObject };
  const { id } = await db.prisma.accessPolicy.create({ data, select: { id: true } });
  return id;
}

/** Writes every field that can change. */
export async function updatePolicy(db: Db, policy: Policy): Promise<void> {
  const { id, name, description, roleId, priority, effect, resource, actions, isActive } = policy;
  const conditions = policy.conditions as Prisma.InputJsonObject;
  const data = { name, description, roleId, priority, effect, conditions, resource, actions, isActive };
  await db.prisma.accessPolicy.update({ where: { id }, data, select: { id: true } });
}

export async function deletePolicy(db: Db, id: number): Promise<void> {
  await db.prisma.accessPolicy.delete({ where: { id }, select: { id: true } });
}
