import type { SqlRunner } from '../../core/db/db.ts';
import { SUPERADMIN_LEVEL } from '../access/permission-catalogue.ts';
import { quote } from './row-format.ts';

/**
 * Who may use the running system stays able to after a restore (spec 06 section 7): its API tokens, roles, and superadmins are kept beside
 * the restored ones. Everything runs in the transaction of the restore; the rows of before wait in temporary tables.
 */

/** What a kept superadmin is known by. */
const PERSON = [
  'messenger_id',
  'email',
  'email_verified',
  'auth_type',
  'username',
  'first_name',
  'last_name',
  'status',
  'language',
  'password_hash',
];

/** Remembers who may use the system now. Before the tables are emptied. */
export async function rememberAccess(sql: SqlRunner): Promise<void> {
  await sql('CREATE TEMP TABLE kept_tokens ON COMMIT DROP AS SELECT * FROM public.web_api_tokens');
  await sql('CREATE TEMP TABLE kept_roles ON COMMIT DROP AS SELECT * FROM public.admin_roles');
  await sql(
    `CREATE TEMP TABLE kept_admins ON COMMIT DROP AS
     SELECT DISTINCT ON (u.id, r.name) ${PERSON.map((name) => `u.${name}`).join(', ')}, u.id AS old_id, r.name AS role, a.expires_at
     FROM public.user_roles a JOIN public.admin_roles r ON r.id = a.role_id JOIN public.users u ON u.id = a.user_id
     WHERE a.is_active AND r.level >= ${SUPERADMIN_LEVEL} AND (u.messenger_id IS NOT NULL OR u.email IS NOT NULL)`,
  );
  // Access tokens of these users are valid for some minutes, and the same ids may be other people afterwards.
  await sql(
    `CREATE TEMP TABLE kept_sessions ON COMMIT DROP AS
     SELECT DISTINCT user_id FROM public.cabinet_refresh_tokens WHERE expires_at > now()`,
  );
}

/**
 * Adds what `rememberAccess` remembered and the archive did not have. With the triggers on, so that counters count it.
 * A person is known by the messenger id or, without one, by the e-mail address.
 */
export async function restoreAccess(sql: SqlRunner, now: Date): Promise<void> {
  await addMissing(sql, { table: 'web_api_tokens', from: 'kept_tokens', by: 'token_hash', skip: ['id'] });
  await addMissing(sql, { table: 'admin_roles', from: 'kept_roles', by: 'name', skip: ['id', 'created_by'] });
  // The address is the only proof of such a person: nobody else who has it in the archive may sign in with it.
  await sql(
    `UPDATE public.users u SET password_hash = k.password_hash, email_verified = k.email_verified, status = k.status
     FROM kept_admins k WHERE k.messenger_id IS NULL AND u.email = k.email RETURNING u.id`,
  );
  const values = PERSON.map((name) =>
    name === 'email'
      ? 'CASE WHEN EXISTS (SELECT 1 FROM public.users t WHERE t.email = m.email) THEN NULL ELSE m.email END'
      : `m.${name}`,
  );
  await sql(
    `WITH missing AS (
       SELECT DISTINCT ON (k.old_id) k.* FROM kept_admins k WHERE NOT EXISTS (SELECT 1 FROM public.users u WHERE ${isPerson('u', 'k')}))
     INSERT INTO public.users (${PERSON.join(', ')}, referral_code, promo_group_id, created_at, updated_at)
     SELECT ${values.join(', ')}, 'kept' || substr(md5(random()::text), 1, 12),
       (SELECT id FROM public.promo_groups WHERE is_default LIMIT 1), $1::timestamptz, $1::timestamptz
     FROM missing m RETURNING id`,
    [now],
  );
  await sql(
    `INSERT INTO public.user_roles (user_id, role_id, assigned_at, expires_at)
     SELECT DISTINCT ON (u.id, r.id) u.id, r.id, $1::timestamptz, k.expires_at
     FROM kept_admins k JOIN public.users u ON ${isPerson('u', 'k')} JOIN public.admin_roles r ON r.name = k.role
     ON CONFLICT (user_id, role_id) DO UPDATE SET is_active = true, expires_at = EXCLUDED.expires_at RETURNING id`,
    [now],
  );
  await sql(
    `UPDATE public.users SET sessions_ended_at = $1::timestamptz WHERE id IN (SELECT user_id FROM kept_sessions) RETURNING id`,
    [now],
  );
}

const isPerson = (user: string, kept: string): string =>
  `CASE WHEN ${kept}.messenger_id IS NULL THEN ${user}.email = ${kept}.email ELSE ${user}.messenger_id = ${kept}.messenger_id END`;

async function addMissing(
  sql: SqlRunner,
  { table, from, by, skip }: { table: string; from: string; by: string; skip: string[] },
): Promise<void> {
  const rows = await sql<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'public.${table}'::regclass AND attnum > 0 AND NOT attisdropped
       AND attgenerated = '' AND attname <> ALL ($1::text[]) ORDER BY attnum`,
    [skip],
  );
  const list = rows.map(({ name }) => quote(name)).join(', ');
  await sql(
    `INSERT INTO public.${quote(table)} (${list}) SELECT ${list} FROM ${from} k
     WHERE NOT EXISTS (SELECT 1 FROM public.${quote(table)} t WHERE t.${by} = k.${by}) RETURNING 1 AS added`,
  );
}
