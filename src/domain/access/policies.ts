import { isDeepStrictEqual } from 'node:util';
import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError, type ValidationIssue } from '../../core/errors.ts';
import { forgetPolicies, type Grantor, keepActorRights, readGrantor } from './effective-access.ts';
import { parseRange } from './ip-ranges.ts';
import { TOP_LEVEL } from './permissions.ts';
import { recordLiftedDenials } from './rights-sources.ts';
import {
  type AdminRole,
  deletePolicy as deleteRow,
  insertPolicy,
  listPolicies as listRows,
  lockPolicy,
  lockRoleForShare,
  type NamedPolicy,
  updatePolicy as writePolicy,
} from './role-repo.ts';

export const policyOutOfReach = refusal('policy_out_of_reach', 403, 'Only a superadmin can manage global policies');
export const roleNotFound = refusal('role_not_found', 404, 'Referenced role not found');

export const policyNotFound = refusal('policy_not_found', 404, 'Policy not found');

/** Policies by descending priority, active ones, with `includeInactive` all. @param filter.roleId null = all */
export function listPolicies(app: App, filter: { roleId: number | null; includeInactive: boolean }): Promise<NamedPolicy[]> {
  return listRows(app.db, filter);
}

export interface PolicyDraft {
  name: string;
  description?: string | null | undefined;
  /** Null or absent = for everybody. */
  roleId?: number | null | undefined;
  priority: number;
  effect: 'allow' | 'deny';
  conditions: Record<string, unknown>;
  resource: string;
  actions: readonly string[];
}

/**
 * Creates a policy for a role below the actor's level; a global one needs a superadmin (spec 01 section 13, H6).
 * @throws ValidationError for malformed conditions
 * @throws AppError 403 | 404 'Referenced role not found'
 */
export async function createPolicy(app: App, actor: AdminActor, draft: PolicyDraft): Promise<NamedPolicy> {
  requireConditions(draft.conditions);
  const { roleId = null, description = null } = draft;
  return inTransaction(app, (t) =>
    keepActorRights(t, actor, async () => {
      const role = await requireReach(t, await readGrantor(t, actor), roleId);
      const row = {
        ...draft,
        roleId,
        description,
        actions: [...draft.actions],
        isActive: true,
        createdBy: actor.userId,
        createdAt: t.clock.now(),
      };
      const id = await insertPolicy(t.db, row);
      await forgetPolicies(t);
      const policy = { ...row, id, roleName: role?.name ?? null };
      t.audit?.record({ resourceId: id, before: null, after: policy });
      return policy;
    }),
  );
}

/** Absent fields stay as they are; so do fields that are null, but for the description and the role. */
export interface PolicyChange {
  name?: string | null | undefined;
  description?: string | null | undefined;
  roleId?: number | null | undefined;
  priority?: number | null | undefined;
  effect?: 'allow' | 'deny' | null | undefined;
  conditions?: Record<string, unknown> | null | undefined;
  resource?: string | null | undefined;
  actions?: readonly string[] | null | undefined;
  isActive?: boolean | null | undefined;
}

/**
 * Changes a policy; its old and its new role must both be below the actor's level. Takes effect with the commit.
 * @throws ValidationError | AppError 403 | 404 'Policy not found' | 404 'Referenced role not found'
 */
export async function updatePolicy(app: App, actor: AdminActor, policyId: number, change: PolicyChange): Promise<NamedPolicy> {
  if (change.conditions) requireConditions(change.conditions);
  return inTransaction(app, (t) =>
    keepActorRights(t, actor, async () => {
      const policy = await lockPolicy(t.db, policyId);
      if (!policy) throw policyNotFound();
      const grantor = await readGrantor(t, actor);
      await requireReach(t, grantor, policy.roleId);
      const roleId = change.roleId === undefined ? policy.roleId : change.roleId;
      const role = await requireReach(t, grantor, roleId);
      const next: NamedPolicy = {
        ...policy,
        name: change.name ?? policy.name,
        description: change.description === undefined ? policy.description : change.description,
        roleId,
        roleName: role?.name ?? null,
        priority: change.priority ?? policy.priority,
        effect: change.effect ?? policy.effect,
        conditions: change.conditions ?? policy.conditions,
        resource: change.resource ?? policy.resource,
        actions: change.actions ? [...change.actions] : policy.actions,
        isActive: change.isActive ?? policy.isActive,
      };
      if (!isDeepStrictEqual(denialOf(policy), denialOf(next))) await recordLiftedDenials(t, actor, { policyId });
      await writePolicy(t.db, next);
      await forgetPolicies(t);
      t.audit?.record({ resourceId: policyId, before: policy, after: next });
      return next;
    }),
  );
}

/** @throws AppError 403 | 404 'Policy not found' */
export async function deletePolicy(app: App, actor: AdminActor, policyId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const policy = await lockPolicy(t.db, policyId);
    if (!policy) throw policyNotFound();
    await requireReach(t, await readGrantor(t, actor), policy.roleId);
    await recordLiftedDenials(t, actor, { policyId });
    await deleteRow(t.db, policyId);
    await forgetPolicies(t);
    t.audit?.record({ resourceId: policyId, before: policy, after: null });
  });
}

/** What decides whom a policy refuses what. */
function denialOf({ roleId, effect, conditions, resource, actions, isActive }: NamedPolicy) {
  return { roleId, effect, conditions, resource, actions, isActive };
}

/** A policy of a role can be managed by those above the role's level, a global one by a superadmin only. */
async function requireReach(t: App, grantor: Grantor, roleId: number | null): Promise<AdminRole | null> {
  if (roleId === null) {
    if (grantor.level < TOP_LEVEL) throw policyOutOfReach();
    return null;
  }
  const role = await lockRoleForShare(t.db, roleId);
  if (!role) throw roleNotFound();
  if (role.level >= grantor.level) {
    throw policyOutOfReach({ detail: 'Cannot manage a policy of a role at or above your own level' });
  }
  return role;
}

function requireConditions(conditions: Record<string, unknown>): void {
  const issues = conditionIssues(conditions);
  if (issues.length > 0) throw new ValidationError(issues);
}

const CLOCK_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const MAX_ADDRESSES = 200;

/**
 * Checks the form of a policy's conditions (spec 01 section 13): `time_range` {start, end} as `HH:MM`, `ip_whitelist` a list
 * of addresses and CIDR ranges, `max_actions_per_hour` a positive integer (stored, without effect). A malformed or
 * unknown condition is refused, because it would never be met and a deny policy with it would have no effect.
 * @returns issues of a 422, empty when the conditions are valid
 */
export function conditionIssues(conditions: Readonly<Record<string, unknown>>): ValidationIssue[] {
  return Object.entries(conditions).flatMap(([name, value]) => {
    const msg = problemOf(name, value);
    return msg === null ? [] : [{ loc: ['body', 'conditions', name], msg, type: 'value_error', input: value }];
  });
}

function problemOf(name: string, value: unknown): string | null {
  switch (name) {
    case 'time_range':
      return isTimeRange(value) ? null : 'time_range needs start and end as HH:MM, and they must differ';
    case 'ip_whitelist':
      return isAddressList(value) ? null : `ip_whitelist needs 1 to ${MAX_ADDRESSES} IP addresses or CIDR ranges`;
    case 'max_actions_per_hour':
      return typeof value === 'number' && Number.isInteger(value) && value > 0
        ? null
        : 'max_actions_per_hour needs a positive whole number';
    default:
      return 'Unknown condition; known are time_range, ip_whitelist and max_actions_per_hour';
  }
}

function isTimeRange(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { start, end } = value as { start?: unknown; end?: unknown };
  return typeof start === 'string' && typeof end === 'string' && CLOCK_TIME.test(start) && CLOCK_TIME.test(end) && start !== end;
}

function isAddressList(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ADDRESSES) return false;
  return value.every((entry) => typeof entry === 'string' && parseRange(entry.trim()) !== null);
}
