import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

const ASSIGNMENT = columns('UserRole', ['id', 'userId', 'roleId', 'assignedBy', 'assignedAt', 'expiresAt', 'isActive']);
const USER = columns('User', ['messengerId', 'username', 'firstName', 'email']);

/** A role of a user, with the names of both. */
export type Assignment = RowOf<typeof ASSIGNMENT> & RowOf<typeof USER> & { roleName: string };

const SELECT = `SELECT ${ASSIGNMENT.of('ur')}, r.name AS role_name, ${USER.of('u')}
  FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id JOIN users u ON u.id = ur.user_id`;

/** Active assignments of a role, newest first. */
export function listAssignmentsOfRole(db: Db, roleId: number): Promise<Assignment[]> {
  return db.sql<Assignment>(`${SELECT} WHERE ur.role_id = $1::bigint AND ur.is_active ORDER BY ur.assigned_at DESC, ur.id DESC`, [
    roleId,
  ]);
}

export async function findAssignment(db: Db, id: number): Promise<Assignment | null> {
  const [row] = await db.sql<Assignment>(`${SELECT} WHERE ur.id = $1::bigint`, [id]);
  return row ?? null;
}

export async function findAssignmentOf(db: Db, userId: number, roleId: number): Promise<Assignment | null> {
  const [row] = await db.sql<Assignment>(`${SELECT} WHERE ur.user_id = $1::bigint AND ur.role_id = $2::bigint`, [userId, roleId]);
  return row ?? null;
}

/** @returns false when there is no such assignment */
export async function lockAssignment(db: Db, id: number): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM user_roles WHERE id = $1::bigint FOR UPDATE', [id]);
  return rows.length > 0;
}

/** Locks the user against deletion until the transaction ends. @returns false when there is none */
export async function lockUserAgainstDeletion(db: Db, userId: number): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM users WHERE id = $1::bigint FOR KEY SHARE', [userId]);
  return rows.length > 0;
}

/** Assigns the role, or updates the assignment and activates it. @returns id of the assignment */
export async function upsertAssignment(
  db: Db,
  assignment: {
    userId: number;
    roleId: number;
    assignedBy: number;
    grantedThrough: readonly number[];
    expiresAt: Date | null;
    now: Date;
  },
): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO user_roles (user_id, role_id, assigned_by, granted_through, assigned_at, expires_at, is_active)
     VALUES ($1::int, $2::int, $3::int, (SELECT coalesce(jsonb_agg(DISTINCT i), '[]') FROM unnest($3::int || $4::int[]) i), $5::timestamptz,
       $6::timestamptz, true)
     ON CONFLICT (user_id, role_id) DO UPDATE SET assigned_by = EXCLUDED.assigned_by, granted_through = EXCLUDED.granted_through,
       assigned_at = EXCLUDED.assigned_at, expires_at = EXCLUDED.expires_at, is_active = true
     RETURNING id`,
    [
      ...[assignment.userId, assignment.roleId, assignment.assignedBy, assignment.grantedThrough],
      ...[assignment.now, assignment.expiresAt],
    ],
  );
  return row!.id;
}

export async function deleteAssignment(db: Db, id: number): Promise<void> {
  await db.prisma.userRole.delete({ where: { id }, select: { id: true } });
}

const ADMIN = columns('User', ['messengerId', 'username', 'firstName', 'lastName', 'email']);

export type AdminUser = RowOf<typeof ADMIN> & { userId: number; roleNames: string[] };

/** Users with a role in effect (assignment active and not expired, role active), with the names of those roles. */
export function listAdminUsers(db: Db, now: Date): Promise<AdminUser[]> {
  return db.sql<AdminUser>(
    `SELECT u.id AS user_id, ${ADMIN.of('u')}, jsonb_agg(r.name ORDER BY r.level DESC, r.id) AS role_names
     FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id JOIN users u ON u.id = ur.user_id
     WHERE ur.is_active AND r.is_active AND (ur.expires_at IS NULL OR ur.expires_at > $1::timestamptz)
     GROUP BY u.id ORDER BY u.id`,
    [now],
  );
}
