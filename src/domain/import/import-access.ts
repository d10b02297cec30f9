import { SUPERADMIN_LEVEL, SYSTEM_ROLES } from '../access/permissions.ts';
import { isCutEnd, joined, wordOf } from './import-row-rules.ts';
import {
  applyRule,
  cutTime,
  type ImportContext,
  type ImportStep,
  literal,
  parkOrphans,
  sourceTable,
  sqlTime,
  transfer,
} from './import-step.ts';

const ROLES = sourceTable('admin_roles');
const ASSIGNMENTS = sourceTable('user_roles');
const POLICIES = sourceTable('access_policies');
const TOKENS = sourceTable('web_api_tokens');
const SESSIONS = sourceTable('cabinet_refresh_tokens');

/** Roles, policies, API tokens and sessions (spec 07 sections 4.5, 6 and 7). Nobody becomes an administrator by the import (I20). */
export const accessStep: ImportStep = {
  name: 'access',
  async prepare(context) {
    await repairRoles(context);
    await repairAssignments(context);
    await repairPolicies(context);
    await makeRoleRows(context);
    await importTokens(context);
    await importSessions(context);
  },
};

/** Our system roles as rows of SQL: name, level, permissions. */
const OURS = `(VALUES ${SYSTEM_ROLES.map(
  ({ name, level, permissions }) => `(${literal(name)}, ${level}, ${literal(JSON.stringify(permissions))}::jsonb)`,
).join(', ')}) AS ours (name, level, permissions)`;
/** Sections of permissions by our names. */
const renamedSection = (column: string) => `regexp_replace(${column}, '^remnawave(:|$)', 'vpnpanel\\1')`;
/** An array of texts with sections by our names; anything else is an empty one. */
const renamedList = (column: string) =>
  `(SELECT coalesce(jsonb_agg(${renamedSection('e.word')} ORDER BY e.place), '[]') FROM jsonb_array_elements_text(
     CASE WHEN jsonb_typeof(${column}::jsonb) = 'array' THEN ${column}::jsonb ELSE '[]' END) WITH ORDINALITY AS e (word, place))`;
/** Whether the permissions of `r` include `p.permission`, by itself, by its section or by all. */
const IS_COVERED = `EXISTS (SELECT 1 FROM jsonb_array_elements_text(r.permissions::jsonb) AS h (permission)
  WHERE h.permission IN (p.permission, split_part(p.permission, ':', 1) || ':*', '*:*'))`;

async function repairRoles(context: ImportContext): Promise<void> {
  const { sql } = context;
  await applyRule(context, {
    ...{ code: 'json_pair_invalid', table: 'admin_roles', set: `permissions = '[]'` },
    parks: `jsonb_build_object('id', s.id, 'permissions', s.permissions)`,
    find: `SELECT id FROM ${ROLES} WHERE jsonb_typeof(permissions::jsonb) = 'array' IS NOT TRUE`,
  });
  await sql(
    `UPDATE ${ROLES} SET permissions = (${renamedList('permissions')})::json, level = coalesce(level, 0), name = trim(coalesce(name, ''))`,
  );
  const isOurs = 'r.is_system AND r.level = ours.level';
  // A start adds what is missing to the roles of our names: to one that is another role that would be a gift.
  await applyRule(context, {
    ...{ code: 'unique_duplicate', table: 'admin_roles', detail: `jsonb_build_object('name', f.name)` },
    find: `SELECT r.id, r.name FROM ${ROLES} r JOIN ${OURS} ON ours.name = r.name WHERE (${isOurs}) IS NOT TRUE
      AND EXISTS (SELECT 1 FROM jsonb_array_elements_text(ours.permissions) AS p (permission) WHERE NOT ${IS_COVERED})`,
    set: `name = left(s.name, 80) || ' (' || s.id || ')'`,
  });
  await sql(
    `UPDATE ${ROLES} s SET is_system = coalesce(r.is_ours, false), permissions = coalesce(r.permissions, s.permissions::jsonb)::json
     FROM (SELECT r.id, ${isOurs} AS is_ours, CASE WHEN ${isOurs} THEN r.permissions::jsonb || (SELECT coalesce(jsonb_agg(p.permission ORDER BY p.place), '[]')
         FROM jsonb_array_elements_text(ours.permissions) WITH ORDINALITY AS p (permission, place) WHERE NOT r.permissions::jsonb ? p.permission) END AS permissions
       FROM ${ROLES} r LEFT JOIN ${OURS} ON ours.name = r.name) r
     WHERE r.id = s.id`,
  );
}

/** Only ADMIN_IDS and ADMIN_EMAILS make a superadmin: the rows stay, and the next start takes up those of them that it finds there. */
async function repairAssignments(context: ImportContext): Promise<void> {
  await parkOrphans(context, 'user_roles', 'user_id', 'users', 'user_role_orphan');
  await parkOrphans(context, 'user_roles', 'role_id', 'admin_roles', 'user_role_orphan');
  await applyRule(context, {
    ...{ code: 'role_not_granted', table: 'user_roles', set: 'is_active = false' },
    detail: `jsonb_build_object('user_id', f.user_id, 'role', f.name, 'reason', f.reason)`,
    find: `SELECT * FROM (SELECT a.id, a.user_id, r.name, CASE WHEN r.level >= ${SUPERADMIN_LEVEL} THEN 'superadmin' WHEN ${wordOf('u.status')} = 'deleted' THEN 'deleted user'
        WHEN ${isCutEnd('a', 'user_roles', 'expires_at')} THEN 'expired' END AS reason
      FROM ${ASSIGNMENTS} a JOIN ${ROLES} r ON r.id = a.role_id JOIN ${sourceTable('users')} u ON u.id = a.user_id WHERE coalesce(a.is_active, true)) f
      WHERE reason IS NOT NULL`,
  });
}

async function repairPolicies(context: ImportContext): Promise<void> {
  // A policy without a role is one for everybody: it must not become that by a role that is gone.
  await applyRule(context, {
    ...{ code: 'access_policy_orphan', table: 'access_policies', isParked: true },
    find: `SELECT id FROM ${POLICIES} a WHERE role_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${ROLES} r WHERE r.id = a.role_id)`,
  });
  await applyRule(context, {
    ...{ code: 'access_policy_invalid', table: 'access_policies', isParked: true },
    detail: `jsonb_build_object('effect', f.effect)`,
    find: `SELECT id, effect FROM ${POLICIES} WHERE ${wordOf('effect')} IN ('allow', 'deny') IS NOT TRUE
      OR jsonb_typeof(coalesce(conditions::jsonb, '{}')) <> 'object' OR jsonb_typeof(actions::jsonb) = 'array' IS NOT TRUE OR resource IS NULL`,
  });
}

async function makeRoleRows(context: ImportContext): Promise<void> {
  const now = sqlTime(context.firstSnapshotAt);
  await transfer(context, {
    table: 'admin_roles',
    rest: joined('users', 'u', 'created_by'),
    columns: { created_by: 'u.id' },
  });
  await transfer(context, {
    table: 'user_roles',
    rest: joined('users', 'u', 'assigned_by'),
    columns: { assigned_by: 'u.id', assigned_at: cutTime(`coalesce(s.assigned_at, ${now})`) },
  });
  await transfer(context, {
    table: 'access_policies',
    rest: joined('users', 'u', 'created_by'),
    columns: {
      ...{ name: "coalesce(s.name, '')", created_by: 'u.id', effect: wordOf('s.effect'), priority: 'coalesce(s.priority, 0)' },
      ...{ resource: renamedSection('s.resource'), actions: renamedList('s.actions') },
    },
  });
}

async function importTokens(context: ImportContext): Promise<void> {
  await applyRule(context, {
    ...{ code: 'token_expired', table: 'web_api_tokens', set: 'is_active = false' },
    find: `SELECT id FROM ${TOKENS} t WHERE coalesce(is_active, true) AND ${isCutEnd('t', 'web_api_tokens', 'expires_at')}`,
  });
  await applyRule(context, {
    ...{ code: 'token_unusable', table: 'web_api_tokens', isParked: true },
    find: `SELECT id FROM ${TOKENS} WHERE coalesce(trim(token_hash), '') = ''`,
  });
  await transfer(context, {
    table: 'web_api_tokens',
    columns: { name: "coalesce(s.name, '')", token_prefix: "coalesce(s.token_prefix, '')" },
  });
}

/** What may go on is a session that the source would still accept; the others are left behind, and counted as dropped. */
async function importSessions(context: ImportContext): Promise<void> {
  const { sql, snapshotAt, firstSnapshotAt } = context;
  const users = sourceTable('users');
  await parkOrphans(context, 'cabinet_refresh_tokens', 'user_id', 'users', 'cabinet_refresh_token_orphan');
  await applyRule(context, {
    ...{ code: 'session_invalid', table: 'cabinet_refresh_tokens', isParked: true },
    find: `SELECT id FROM ${SESSIONS} WHERE expires_at IS NULL OR expires_at <= created_at OR token_hash ~* '^[0-9a-f]{64}$' IS NOT TRUE`,
  });
  const isOver = `s.revoked_at IS NOT NULL OR s.expires_at <= ${sqlTime(snapshotAt)}
    OR NOT EXISTS (SELECT 1 FROM ${users} u WHERE u.id = s.user_id AND ${wordOf("coalesce(u.status, 'active')")} = 'active')`;
  await sql(`CREATE UNLOGGED TABLE ${sourceTable('~dropped')} (source_table text, rows bigint)`);
  await sql(
    `WITH gone AS (DELETE FROM ${SESSIONS} s WHERE ${isOver} RETURNING 1)
     INSERT INTO ${sourceTable('~dropped')} (source_table, rows) SELECT 'cabinet_refresh_tokens', count(*) FROM gone`,
  );
  await transfer(context, {
    table: 'cabinet_refresh_tokens',
    columns: {
      token_hash: 'lower(s.token_hash)',
      // The same in every pass.
      family_id: `md5('imported session ' || s.id)::uuid`,
      created_at: cutTime(`coalesce(s.created_at, ${sqlTime(firstSnapshotAt)})`),
    },
  });
}
