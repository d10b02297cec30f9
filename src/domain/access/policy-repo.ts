import type { Db } from '../../core/db/db.ts';

export interface Policy {
  id: number;
  name: string;
  description: string | null;
  /** Null = for everybody. */
  roleId: number | null;
  priority: number;
  effect: 'allow' | 'deny';
  conditions: Record<string, unknown>;
  /** Pattern of sections. */
  resource: string;
  /** Patterns of actions. */
  actions: string[];
  isActive: boolean;
  createdBy: number | null;
  createdAt: Date;
}

export type NamedPolicy = Policy & { roleName: string | null };

interface PolicyRow {
  id: number;
  name: string;
  description: string | null;
  roleId: number | null;
  roleName: string | null;
  priority: number;
  effect: 'allow' | 'deny';
  conditions: Record<string, unknown> | null;
  resource: string;
  actions: string[];
  isActive: boolean;
  createdBy: number | null;
  createdAt: Date;
}

const SELECT = `SELECT p.id, p.name, p.description, p.role_id, r.name AS role_name, p.priority, p.effect, p.conditions, p.resource,
    p.actions, p.is_active, p.created_by, p.created_at
  FROM access_policies p LEFT JOIN admin_roles r ON r.id = p.role_id`;

function toPolicy({ roleId, roleName, conditions, isActive, createdBy, createdAt, ...row }: PolicyRow): NamedPolicy {
  return {
    ...row,
    roleId: roleId,
    roleName: roleName,
    conditions: conditions ?? {},
    isActive: isActive,
    createdBy: createdBy,
    createdAt: createdAt,
  };
}

/** Highest priority first. @param filter.roleId null = of every role and global */
export async function listPolicies(db: Db, filter: { roleId: number | null; includeInactive: boolean }): Promise<NamedPolicy[]> {
  const rows = await db.sql<PolicyRow>(
    `${SELECT} WHERE ($1::bigint IS NULL OR p.role_id = $1::bigint) AND (p.is_active OR $2::boolean) ORDER BY p.priority DESC, p.id`,
    [filter.roleId, filter.includeInactive],
  );
  return rows.map(toPolicy);
}

export async function lockPolicy(db: Db, id: number): Promise<NamedPolicy | null> {
  const [row] = await db.sql<PolicyRow>(`${SELECT} WHERE p.id = $1::bigint FOR UPDATE OF p`, [id]);
  return row ? toPolicy(row) : null;
}

export async function insertPolicy(db: Db, policy: Omit<Policy, 'id'>): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO access_policies (name, description, role_id, priority, effect, conditions, resource, actions, is_active, created_by, created_at)
     VALUES ($1, $2, $3::int, $4::int, $5, $6::jsonb, $7, $8::jsonb, $9::boolean, $10::int, $11::timestamptz) RETURNING id`,
    [
      policy.name,
      policy.description,
      policy.roleId,
      policy.priority,
      policy.effect,
      JSON.stringify(policy.conditions),
      policy.resource,
      JSON.stringify(policy.actions),
      policy.isActive,
      policy.createdBy,
      policy.createdAt,
    ],
  );
  return row!.id;
}

export async function updatePolicy(db: Db, policy: Policy): Promise<void> {
  await db.sql(
    `UPDATE access_policies SET name = $2, description = $3, role_id = $4::int, priority = $5::int, effect = $6, conditions = $7::jsonb,
       resource = $8, actions = $9::jsonb, is_active = $10::boolean
     WHERE id = $1::int RETURNING id`,
    [
      policy.id,
      policy.name,
      policy.description,
      policy.roleId,
      policy.priority,
      policy.effect,
      JSON.stringify(policy.conditions),
      policy.resource,
      JSON.stringify(policy.actions),
      policy.isActive,
    ],
  );
}

export async function deletePolicy(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM access_policies WHERE id = $1::int RETURNING id', [id]);
}
