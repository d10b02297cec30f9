import type { Db } from '../../core/db/db.ts';

export interface AdminRole {
  id: number;
  name: string;
  description: string | null;
  level: number;
  permissions: string[];
  color: string | null;
  icon: string | null;
  isSystem: boolean;
  isActive: boolean;
  createdAt: Date;
}

export type ListedRole = AdminRole & { userCount: number };

interface RoleRow {
  id: number;
  name: string;
  description: string | null;
  level: number;
  permissions: string[];
  color: string | null;
  icon: string | null;
  isSystem: boolean;
  isActive: boolean;
  createdAt: Date;
}

const COLUMNS = 'id, name, description, level, permissions, color, icon, is_system, is_active, created_at';

function toRole({ isSystem, isActive, createdAt, ...row }: RoleRow): AdminRole {
  return { ...row, isSystem: isSystem, isActive: isActive, createdAt: createdAt };
}

/** Highest level first, each with the number of its active assignments, in one statement. */
export async function listRoles(db: Db, includeInactive: boolean): Promise<ListedRole[]> {
  const rows = await db.sql<RoleRow & { userCount: number }>(
    `SELECT ${COLUMNS}, coalesce(held.users, 0)::int AS user_count FROM admin_roles
     LEFT JOIN (SELECT role_id, count(*) AS users FROM user_roles WHERE is_active GROUP BY role_id) held ON held.role_id = id
     WHERE is_active OR $1::boolean ORDER BY level DESC, id`,
    [includeInactive],
  );
  return rows.map(({ userCount, ...row }) => ({ ...toRole(row), userCount: userCount }));
}

export async function findRole(db: Db, id: number): Promise<AdminRole | null> {
  const [row] = await db.sql<RoleRow>(`SELECT ${COLUMNS} FROM admin_roles WHERE id = $1::bigint`, [id]);
  return row ? toRole(row) : null;
}

/** Nobody changes the role until the transaction ends. */
export async function lockRole(db: Db, id: number): Promise<AdminRole | null> {
  const [row] = await db.sql<RoleRow>(`SELECT ${COLUMNS} FROM admin_roles WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ? toRole(row) : null;
}

/** The role stays as it is until the transaction ends; others may hold it so at the same time. */
export async function shareRole(db: Db, id: number): Promise<AdminRole | null> {
  const [row] = await db.sql<RoleRow>(`SELECT ${COLUMNS} FROM admin_roles WHERE id = $1::bigint FOR SHARE`, [id]);
  return row ? toRole(row) : null;
}

export interface RoleInsert {
  name: string;
  description: string | null;
  level: number;
  permissions: readonly string[];
  color: string | null;
  icon: string | null;
  createdBy: number;
  now: Date;
}

/** @returns null when the name is taken */
export async function insertRole(db: Db, role: RoleInsert): Promise<AdminRole | null> {
  const [row] = await db.sql<RoleRow>(
    `INSERT INTO admin_roles (name, description, level, permissions, color, icon, created_by, created_at, updated_at)
     VALUES ($1, $2, $3::int, $4::jsonb, $5, $6, $7::int, $8::timestamptz, $8::timestamptz)
     ON CONFLICT (name) DO NOTHING RETURNING ${COLUMNS}`,
    [role.name, role.description, role.level, JSON.stringify(role.permissions), role.color, role.icon, role.createdBy, role.now],
  );
  return row ? toRole(row) : null;
}

export async function isRoleNameTaken(db: Db, name: string, exceptId: number): Promise<boolean> {
  const rows = await db.sql('SELECT 1 AS taken FROM admin_roles WHERE name = $1 AND id <> $2::int', [name, exceptId]);
  return rows.length > 0;
}

/** Writes every field that can change. The unique name may refuse it: see `isUniqueViolation`. */
export async function updateRole(db: Db, role: AdminRole, now: Date): Promise<void> {
  await db.sql(
    `UPDATE admin_roles SET name = $2, description = $3, level = $4::int, permissions = $5::jsonb, color = $6, icon = $7,
       is_active = $8::boolean, updated_at = $9::timestamptz
     WHERE id = $1::int RETURNING id`,
    [
      role.id,
      role.name,
      role.description,
      role.level,
      JSON.stringify(role.permissions),
      role.color,
      role.icon,
      role.isActive,
      now,
    ],
  );
}

/** Assignments and policies of the role go with it. */
export async function deleteRole(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM admin_roles WHERE id = $1::int RETURNING id', [id]);
}

export async function countAssignments(db: Db, roleId: number): Promise<number> {
  const [row] = await db.sql<{ users: number }>(
    'SELECT count(*)::int AS users FROM user_roles WHERE role_id = $1::int AND is_active',
    [roleId],
  );
  return row!.users;
}
