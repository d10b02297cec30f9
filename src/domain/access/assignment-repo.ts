import type { Db } from '../../core/db/db.ts';

export interface Assignment {
  id: number;
  userId: number;
  roleId: number;
  roleName: string;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  email: string | null;
  assignedBy: number | null;
  assignedAt: Date;
  expiresAt: Date | null;
  isActive: boolean;
}

interface AssignmentRow {
  id: number;
  userId: number;
  roleId: number;
  roleName: string;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  email: string | null;
  assignedBy: number | null;
  assignedAt: Date;
  expiresAt: Date | null;
  isActive: boolean;
}

const SELECT = `SELECT ur.id, ur.user_id, ur.role_id, r.name AS role_name, u.messenger_id, u.username, u.first_name, u.email,
    ur.assigned_by, ur.assigned_at, ur.expires_at, ur.is_active
  FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id JOIN users u ON u.id = ur.user_id`;

function toAssignment(row: AssignmentRow): Assignment {
  return {
    id: row.id,
    userId: row.userId,
    roleId: row.roleId,
    roleName: row.roleName,
    messengerId: row.messengerId,
    username: row.username,
    firstName: row.firstName,
    email: row.email,
    assignedBy: row.assignedBy,
    assignedAt: row.assignedAt,
    expiresAt: row.expiresAt,
    isActive: row.isActive,
  };
}

/** Active assignments of a role, newest first. */
export async function listAssignmentsOfRole(db: Db, roleId: number): Promise<Assignment[]> {
  const rows = await db.sql<AssignmentRow>(
    `${SELECT} WHERE ur.role_id = $1::bigint AND ur.is_active ORDER BY ur.assigned_at DESC, ur.id DESC`,
    [roleId],
  );
  return rows.map(toAssignment);
}

export async function findAssignment(db: Db, id: number): Promise<Assignment | null> {
  const [row] = await db.sql<AssignmentRow>(`${SELECT} WHERE ur.id = $1::bigint`, [id]);
  return row ? toAssignment(row) : null;
}

export async function findAssignmentOf(db: Db, userId: number, roleId: number): Promise<Assignment | null> {
  const [row] = await db.sql<AssignmentRow>(`${SELECT} WHERE ur.user_id = $1::bigint AND ur.role_id = $2::bigint`, [
    userId,
    roleId,
  ]);
  return row ? toAssignment(row) : null;
}

/** @returns false when there is no such assignment */
export async function lockAssignment(db: Db, id: number): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM user_roles WHERE id = $1::bigint FOR UPDATE', [id]);
  return rows.length > 0;
}

/** The user cannot be deleted until the transaction ends. @returns false when there is none */
export async function holdUser(db: Db, userId: number): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM users WHERE id = $1::bigint FOR KEY SHARE', [userId]);
  return rows.length > 0;
}

/** Gives the role, or gives it again with the new terms. @returns id of the assignment */
export async function upsertAssignment(
  db: Db,
  assignment: { userId: number; roleId: number; assignedBy: number; expiresAt: Date | null; now: Date },
): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO user_roles (user_id, role_id, assigned_by, assigned_at, expires_at, is_active)
     VALUES ($1::int, $2::int, $3::int, $4::timestamptz, $5::timestamptz, true)
     ON CONFLICT (user_id, role_id) DO UPDATE SET assigned_by = EXCLUDED.assigned_by, assigned_at = EXCLUDED.assigned_at,
       expires_at = EXCLUDED.expires_at, is_active = true
     RETURNING id`,
    [assignment.userId, assignment.roleId, assignment.assignedBy, assignment.now, assignment.expiresAt],
  );
  return row!.id;
}

export async function deleteAssignment(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM user_roles WHERE id = $1::int RETURNING id', [id]);
}

export interface AdminUser {
  userId: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  roleNames: string[];
}

/** Users with a role in effect (assignment active and not expired, role active), with the names of those roles. */
export async function listAdminUsers(db: Db, now: Date): Promise<AdminUser[]> {
  const rows = await db.sql<{
    id: number;
    messengerId: number | null;
    username: string | null;
    firstName: string | null;
    lastName: string | null;
    email: string | null;
    roleNames: string[];
  }>(
    `SELECT u.id, u.messenger_id, u.username, u.first_name, u.last_name, u.email,
       jsonb_agg(r.name ORDER BY r.level DESC, r.id) AS role_names
     FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id JOIN users u ON u.id = ur.user_id
     WHERE ur.is_active AND r.is_active AND (ur.expires_at IS NULL OR ur.expires_at > $1::timestamptz)
     GROUP BY u.id ORDER BY u.id`,
    [now],
  );
  return rows.map((row) => ({
    userId: row.id,
    messengerId: row.messengerId,
    username: row.username,
    firstName: row.firstName,
    lastName: row.lastName,
    email: row.email,
    roleNames: row.roleNames,
  }));
}
