import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { AccessPolicy } from './permission-rules.ts';

const POLICY = columns('AccessPolicy', [
  ...(['id', 'name', 'description', 'roleId', 'priority', 'effect', 'conditions', 'resource', 'actions', 'isActive'] as const),
  ...(['createdBy', 'createdAt'] as const),
]);

/** `roleId` null: for everybody. `resource` is a pattern of sections, `actions` are patterns of actions. */
export type Policy = RowOf<typeof POLICY>;

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
