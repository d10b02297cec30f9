import type { Random } from '../../core/random.ts';
import { newReferralCode } from '../identity/rules.ts';
import { isCutEnd, parkOrphanPairs } from './import-row-rules.ts';
import {
  applyRule,
  type ImportContext,
  type ImportStep,
  literal,
  nextTable,
  sourceTable,
  sqlTime,
  transfer,
} from './import-step.ts';
import { isLiveRow } from './import-subscriptions.ts';

const USERS = sourceTable('users');
const isBlank = (column: string) => `trim(${column}) = ''`;

/** Rules for rows of users (spec 07 sections 4.1 and 7), and their groups. The rows themselves are made when the links to the panel are known. */
export const peopleStep: ImportStep = {
  name: 'people',
  async prepare(context) {
    await repairStates(context);
    await repairIdentities(context);
    await repairReferrals(context);
    await repairGroups(context);
  },
};

async function repairStates(context: ImportContext): Promise<void> {
  const { revision, adminEmails, sql } = context;
  await applyRule(context, {
    ...{ code: 'user_status_unknown', table: 'users', detail: `jsonb_build_object('status', f.status)` },
    find: `SELECT id, status FROM ${USERS} WHERE lower(trim(status)) IN ('active', 'blocked', 'deleted') IS NOT TRUE`,
    set: `status = CASE WHEN s.status IS NULL THEN 'active' ELSE 'blocked' END`,
  });
  for (const column of ['referral_commission_percent', 'promo_offer_discount_percent'])
    await applyRule(context, {
      ...{ code: 'percent_out_of_range', table: 'users', detail: `jsonb_build_object('${column}', f.percent)` },
      find: `SELECT id, ${column} AS percent FROM ${USERS} WHERE ${column} NOT BETWEEN 0 AND 100`,
      set: `${column} = least(greatest(s.${column}, 0), 100)`,
    });
  await applyRule(context, {
    ...{ code: 'promo_offer_expired', table: 'users', set: 'promo_offer_discount_percent = 0' },
    parks: `jsonb_build_object('promo_offer_discount_percent', s.promo_offer_discount_percent)`,
    find: `SELECT id FROM ${USERS} u WHERE promo_offer_discount_percent > 0 AND ${isCutEnd('u', 'users', 'promo_offer_discount_expires_at')}`,
  });
  await applyRule(context, {
    ...{ code: 'password_hash_unknown', table: 'users', set: 'password_hash = NULL' },
    find: `SELECT id FROM ${USERS} WHERE password_hash !~ '^\\$2[aby]\\$\\d\\d\\$[./A-Za-z0-9]{53}$'`,
  });
  await applyRule(context, {
    ...{ code: 'created_at_null', table: 'users' },
    find: `SELECT id FROM ${USERS} WHERE created_at IS NULL`,
    set: `created_at = coalesce(least(s.last_activity, s.email_verified_at, s.cabinet_last_login, s.last_remnawave_sync, s.updated_at), ${sqlTime(context.firstSnapshotAt)})`,
  });
  if (adminEmails.length === 0) return;
  const source = revision >= 79 ? 'email_verification_source' : `'oauth_' || auth_type`;
  const names = adminEmails.map(literal).join(', ');
  await applyRule(
    { sql },
    {
      ...{ code: 'admin_email_untrusted', table: 'users', set: 'email_verified = false' },
      find: `SELECT id FROM ${USERS} WHERE email_verified AND lower(trim(email)) IN (${names}) AND ${source} IN ('oauth_vk', 'oauth_yandex')`,
    },
  );
}

/** A person has at most one of each identity, and an identity one person (spec 07, I17). */
async function repairIdentities(context: ImportContext): Promise<void> {
  for (const column of ['google_id', 'yandex_id', 'discord_id'])
    await applyRule(context, {
      ...{ code: 'oauth_id_empty', table: 'users', set: `${column} = NULL` },
      find: `SELECT id FROM ${USERS} WHERE ${isBlank(column)}`,
    });
  await applyRule(context, {
    ...{ code: 'email_invalid', table: 'users', set: 'email = NULL', parks: `jsonb_build_object('email', s.email)` },
    find: `SELECT id FROM ${USERS} WHERE trim(email) !~ '^\\S+@\\S+$'`,
  });
  await applyRule(context, {
    ...{ code: 'email_case_duplicate', table: 'users', set: 'email = NULL', parks: `jsonb_build_object('email', s.email)` },
    find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY lower(trim(email)) ORDER BY coalesce(email_verified, false) DESC,
        (password_hash IS NOT NULL) DESC, cabinet_last_login DESC NULLS LAST, id) AS place FROM ${USERS} WHERE email IS NOT NULL) r WHERE place > 1`,
  });
  const isLive = `EXISTS (SELECT 1 FROM ${sourceTable('subscriptions')} l WHERE l.user_id = u.id AND ${isLiveRow('l', context)})`;
  for (const column of ['telegram_id', 'google_id', 'yandex_id', 'discord_id', 'vk_id'])
    await applyRule(context, {
      ...{ code: 'identity_duplicate', table: 'users', set: `${column} = NULL` },
      parks: `jsonb_build_object('${column}', s.${column})`,
      find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY u.${column} ORDER BY ${isLive} DESC, u.balance_kopeks DESC NULLS LAST, u.id) AS place
        FROM ${USERS} u WHERE u.${column} IN (SELECT ${column} FROM ${USERS} GROUP BY 1 HAVING count(*) > 1)) r WHERE place > 1`,
    });
  const hasNone =
    'telegram_id IS NULL AND email IS NULL AND google_id IS NULL AND yandex_id IS NULL AND discord_id IS NULL AND vk_id IS NULL';
  const isPhantom = `coalesce(auth_type, 'telegram') = 'telegram' AND username IS NOT NULL`;
  await applyRule(context, {
    ...{ code: 'user_phantom', table: 'users' },
    find: `SELECT id FROM ${USERS} WHERE ${hasNone} AND ${isPhantom}`,
  });
  await applyRule(context, {
    ...{ code: 'identity_missing', table: 'users' },
    find: `SELECT id FROM ${USERS} WHERE ${hasNone} AND NOT (${isPhantom})`,
  });
}

async function repairReferrals(context: ImportContext): Promise<void> {
  const cut = { table: 'users', set: 'referred_by_id = NULL' };
  await applyRule(context, {
    ...{ ...cut, code: 'referral_self' },
    find: `SELECT id FROM ${USERS} WHERE referred_by_id = id`,
  });
  await applyRule(context, {
    ...{ ...cut, code: 'referral_missing', detail: `jsonb_build_object('referred_by_id', f.referred_by_id)` },
    find: `SELECT id, referred_by_id FROM ${USERS} u WHERE referred_by_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${USERS} r WHERE r.id = u.referred_by_id)`,
  });
  await findRings(context);
  await applyRule(context, { ...{ ...cut, code: 'referral_cycle' }, find: 'SELECT DISTINCT lowest AS id FROM import_ring' });
}

/**
 * Fills `import_ring` with the members of rings of referrers, each with the lowest id of its ring. The pointer of each user jumps twice as far in
 * each round: a chain ends in as many rounds as its length has binary digits, and what a pointer still leads to when it has jumped as often as
 * there are users left is in a ring (spec 07, I18).
 */
async function findRings({ sql }: ImportContext): Promise<void> {
  await sql('CREATE TEMP TABLE import_ring (id bigint, lowest bigint) ON COMMIT DROP');
  await sql('CREATE TEMP TABLE import_jump (id bigint, target bigint, lowest bigint) ON COMMIT DROP');
  await sql(
    `INSERT INTO import_jump SELECT id, referred_by_id, least(id, referred_by_id) FROM ${USERS} WHERE referred_by_id IS NOT NULL`,
  );
  for (let reach = 1; ; reach *= 2) {
    await sql('ANALYZE import_jump');
    const [left] = await sql<{ rows: number }>('SELECT count(*) AS rows FROM import_jump');
    if (left!.rows === 0) return;
    if (reach > left!.rows) break;
    await sql(
      'CREATE TEMP TABLE import_jump_next ON COMMIT DROP AS SELECT j.id, k.target, least(j.lowest, k.lowest) AS lowest FROM import_jump j JOIN import_jump k ON k.id = j.target',
    );
    await sql('DROP TABLE import_jump');
    await sql('ALTER TABLE import_jump_next RENAME TO import_jump');
  }
  await sql('INSERT INTO import_ring SELECT id, lowest FROM import_jump WHERE id IN (SELECT target FROM import_jump)');
}

/** Exactly one group is the default: the marked one with the lowest id, or else the first by priority. */
async function repairDefaultGroup(context: ImportContext): Promise<void> {
  const groups = sourceTable('promo_groups');
  const keeper = `(SELECT id FROM ${groups} ORDER BY (is_default IS TRUE) DESC, CASE WHEN is_default THEN 0 ELSE priority END, id LIMIT 1)`;
  await applyRule(context, {
    ...{ code: 'promo_group_default_count', table: 'promo_groups', set: `is_default = (s.id = ${keeper})` },
    find: `SELECT id FROM ${groups} WHERE coalesce(is_default, false) <> (id = ${keeper})`,
  });
  for (const column of ['server_discount_percent', 'traffic_discount_percent', 'device_discount_percent'])
    await applyRule(context, {
      ...{ code: 'percent_out_of_range', table: 'promo_groups', set: `${column} = least(greatest(s.${column}, 0), 100)` },
      find: `SELECT id FROM ${groups} WHERE ${column} NOT BETWEEN 0 AND 100`,
    });
}

async function repairGroups(context: ImportContext): Promise<void> {
  const { sql } = context;
  await repairDefaultGroup(context);
  const members = sourceTable('user_promo_groups');
  const groups = sourceTable('promo_groups');
  await parkOrphanPairs(context, 'user_promo_groups', 'user_promo_group_orphan', [
    ['user_id', 'users'],
    ['promo_group_id', 'promo_groups'],
  ]);
  // A user without memberships stays in the group that the row names, and becomes its member.
  await applyRule(context, {
    ...{ code: 'promo_group_primary_stale', table: 'users', detail: `jsonb_build_object('promo_group_id', f.given)` },
    find: `SELECT u.id, u.promo_group_id AS given, known.id AS known, h.promo_group_id AS highest FROM ${USERS} u
      LEFT JOIN ${groups} known ON known.id = u.promo_group_id
      LEFT JOIN (SELECT DISTINCT ON (m.user_id) m.user_id, m.promo_group_id FROM ${members} m JOIN ${groups} g ON g.id = m.promo_group_id
        ORDER BY m.user_id, g.priority DESC NULLS LAST, g.id DESC) h ON h.user_id = u.id
      WHERE u.promo_group_id IS DISTINCT FROM coalesce(h.promo_group_id, known.id) OR (u.promo_group_id IS NOT NULL AND h.user_id IS NULL)`,
    set: 'promo_group_id = coalesce(f.highest, f.known)',
  });
  await sql(
    `INSERT INTO ${members} (user_id, promo_group_id, assigned_at, assigned_by)
     SELECT u.id, u.promo_group_id, u.created_at, 'import' FROM ${USERS} u
     WHERE u.promo_group_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${members} m WHERE m.user_id = u.id)`,
  );
}

/** New codes for users without one or with that of another user; the lowest id keeps a code (spec 07 section 7). */
export const referralCodeStep = (random: Random): ImportStep => ({
  name: 'referral codes',
  async prepare(context) {
    const { sql } = context;
    const isMissing = `coalesce(trim(referral_code), '') = ''`;
    await applyRule(context, {
      ...{ code: 'referral_code_duplicate', table: 'users', set: 'referral_code = NULL' },
      detail: `jsonb_build_object('referral_code', f.referral_code)`,
      find: `SELECT id, referral_code FROM (SELECT id, referral_code, row_number() OVER (PARTITION BY referral_code ORDER BY id) AS place FROM ${USERS}
        WHERE NOT (${isMissing})) r WHERE place > 1`,
    });
    const listed = (code: string) => `SELECT subject::bigint FROM ${nextTable('import_issues')} WHERE code = '${code}'`;
    await applyRule(context, {
      ...{ code: 'referral_code_missing', table: 'users', set: 'referral_code = NULL' },
      find: `SELECT id FROM ${USERS} WHERE ${isMissing} AND id NOT IN (${listed('referral_code_duplicate')})`,
    });
    // Drawn by an earlier pass: that user has it already.
    await sql(
      `UPDATE ${USERS} u SET referral_code = p.referral_code FROM public.users p WHERE p.id = u.id AND u.referral_code IS NULL
       AND NOT EXISTS (SELECT 1 FROM ${USERS} o WHERE o.referral_code = p.referral_code)`,
    );
    const missing = await sql<{ id: number }>(`SELECT id FROM ${USERS} WHERE referral_code IS NULL ORDER BY id`);
    for (const { id } of missing) {
      const code = newReferralCode(random);
      const [set] = await sql<{ id: number }>(
        `UPDATE ${USERS} SET referral_code = $2 WHERE id = $1::bigint AND NOT EXISTS (SELECT 1 FROM ${USERS} WHERE referral_code = $2) RETURNING id`,
        [id, code],
      );
      if (!set) throw new Error(`The new referral code of user ${id} is taken`);
    }
  },
});

/** Users as they will be here; after the rules of people, of money and of links to the panel. */
export const userRowsStep: ImportStep = {
  name: 'users',
  async prepare(context) {
    const now = sqlTime(context.snapshotAt);
    const hashed = (token: string, expires: string) =>
      `CASE WHEN s.${expires} > ${now} AND s.${token} <> '' THEN encode(sha256(convert_to(s.${token}, 'UTF8')), 'hex') END`;
    await transfer(context, {
      table: 'users',
      rest: `LEFT JOIN ${sourceTable('~panel_links')} link ON link.user_id = s.id`,
      columns: {
        auth_type: `CASE coalesce(nullif(lower(trim(s.auth_type)), ''), 'telegram') WHEN 'telegram' THEN 'messenger' ELSE lower(trim(s.auth_type)) END`,
        status: 'lower(trim(s.status))',
        language: `coalesce(nullif(left(lower(trim(s.language)), 5), ''), 'ru')`,
        balance_kopeks: 'greatest(s.balance_kopeks, 0)',
        email: 'lower(trim(s.email))',
        password_hash: `'bcrypt:' || s.password_hash`,
        email_verification_token_hash: hashed('email_verification_token', 'email_verification_expires'),
        password_reset_token_hash: hashed('password_reset_token', 'password_reset_expires'),
        ...{ email_change_new: null, email_change_code_hash: null, email_change_expires: null, email_change_attempts: null },
        vpnpanel_uuid: 'link.uuid',
        lifetime_used_traffic_bytes: 'greatest(coalesce(s.lifetime_used_traffic_bytes, 0), 0)',
        auto_promo_group_threshold_kopeks: 'greatest(coalesce(s.auto_promo_group_threshold_kopeks, 0), 0)',
        used_promocodes: 'greatest(coalesce(s.used_promocodes, 0), 0)',
        partner_status: `CASE WHEN lower(trim(s.partner_status)) IN ('none', 'pending', 'approved', 'rejected') THEN lower(trim(s.partner_status)) ELSE 'none' END`,
      },
    });
    await transfer(context, { table: 'promo_groups' });
    await transfer(context, { table: 'user_promo_groups' });
  },
};
