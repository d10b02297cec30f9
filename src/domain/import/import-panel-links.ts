import { applyRule, cutTime, type ImportContext, type ImportStep, nextTable, sourceTable } from './import-step.ts';
import { isLiveRow } from './import-subscriptions.ts';

const USERS = sourceTable('users');
const SUBSCRIPTIONS = sourceTable('subscriptions');
const LINKS = sourceTable('~panel_links');
const LARGEST_NUMBER = 2 ** 48 - 1;
/** From this revision on the panel knows its users by number (spec 07 section 4.6). */
const NUMBERS_SINCE = 104;

/**
 * Which panel user a person has (spec 07 section 4.6): `import_source."~panel_links"` with `user_id` and `uuid`, a row for each user who has one.
 * After the rules of subscriptions: a user has one at most, the others are kept aside.
 */
export const panelLinkStep: ImportStep = {
  name: 'links to the panel',
  async prepare(context) {
    const { sql } = context;
    for (const table of ['subscriptions', 'users']) await repairHandles(context, table);
    await listSiblings(context);
    await makeLinks(context);
    await dropSharedLinks(context);
    if (context.revision >= NUMBERS_SINCE)
      await applyRule(context, {
        ...{ code: 'panel_id_unresolved', table: 'users' },
        find: `SELECT user_id AS id FROM ${LINKS} WHERE NOT is_number`,
      });
    await applyRule(context, {
      ...{ code: 'subscription_unprovisioned', table: 'subscriptions', detail: `jsonb_build_object('user_id', f.user_id)` },
      find: `SELECT o.id, o.user_id FROM ${SUBSCRIPTIONS} o WHERE ${isLiveRow('o', context)}
        AND NOT EXISTS (SELECT 1 FROM ${LINKS} l WHERE l.user_id = o.user_id)`,
    });
    await sql(`ANALYZE ${LINKS}`);
  },
};

/** The handle of a panel user who is known by number. */
const handleOf = (number: string) => `('00000000-0000-8000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`;

/** A handle that is none cannot be a candidate. */
async function repairHandles(context: ImportContext, table: string): Promise<void> {
  const rows = sourceTable(table);
  await applyRule(context, {
    ...{ code: 'panel_id_invalid', table, set: 'remnawave_id = NULL' },
    parks: `jsonb_build_object('remnawave_id', s.remnawave_id)`,
    find: `SELECT id FROM ${rows} WHERE remnawave_id NOT BETWEEN 1 AND ${LARGEST_NUMBER}`,
  });
  // The panel no longer stores the UUID of a user whom it knows by number.
  await context.sql(`UPDATE ${rows} SET remnawave_uuid = NULL WHERE remnawave_id IS NOT NULL AND remnawave_uuid IS NOT NULL`);
  await applyRule(context, {
    ...{ code: 'panel_uuid_invalid', table, set: 'remnawave_uuid = NULL' },
    parks: `jsonb_build_object('remnawave_uuid', s.remnawave_uuid)`,
    find: `SELECT id FROM ${rows} WHERE remnawave_uuid !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`,
  });
}

/** Panel users of subscriptions that are kept aside, by owner: `is_same` where the kept one names the same panel user by its short UUID, or none. */
async function listSiblings({ sql }: ImportContext): Promise<void> {
  await sql(
    `CREATE TEMP TABLE import_sibling ON COMMIT DROP AS
     SELECT p.user_id, CASE WHEN p.remnawave_id BETWEEN 1 AND ${LARGEST_NUMBER} THEN p.remnawave_id END AS remnawave_id, lower(p.remnawave_uuid) AS remnawave_uuid, p.reason = 'subscription_parked' AS is_live, p.end_date,
       coalesce(k.remnawave_short_uuid, '') IN ('', p.remnawave_short_uuid) AS is_same
     FROM (SELECT (row ->> 'user_id')::bigint AS user_id, (row ->> 'remnawave_id')::bigint AS remnawave_id, row ->> 'remnawave_uuid' AS remnawave_uuid,
         row ->> 'remnawave_short_uuid' AS remnawave_short_uuid, (row ->> 'end_date')::timestamptz AS end_date, reason
       FROM ${nextTable('import_parked')} WHERE source_table = 'subscriptions' AND reason IN ('subscription_parked', 'subscription_second') AND is_whole) p
     JOIN ${SUBSCRIPTIONS} k ON k.user_id = p.user_id`,
  );
  await sql('ANALYZE import_sibling');
}

/** The first of the candidates of each user, without those of the user's row that another subscription of theirs has. */
async function makeLinks(context: ImportContext): Promise<void> {
  // A sibling of the same short UUID says that the handle is right, whatever others say.
  const ofSiblings = (column: string) =>
    `(SELECT user_id, ${column} FROM import_sibling WHERE ${column} IS NOT NULL GROUP BY 1, 2 HAVING NOT bool_or(is_same))`;
  await context.sql(
    `CREATE UNLOGGED TABLE ${LINKS} AS
     SELECT user_id, number IS NOT NULL AS is_number, is_live, end_date,
       CASE WHEN number IS NOT NULL THEN ${handleOf('number')} ELSE uuid::uuid END AS uuid
     FROM (SELECT u.id AS user_id, ${isLiveRow('k', context)} AS is_live, k.end_date,
         coalesce(k.remnawave_id, CASE WHEN n.user_id IS NULL THEN u.remnawave_id END) AS number,
         coalesce(k.remnawave_uuid, CASE WHEN h.user_id IS NULL THEN u.remnawave_uuid END) AS uuid
       FROM ${USERS} u LEFT JOIN ${SUBSCRIPTIONS} k ON k.user_id = u.id
       LEFT JOIN ${ofSiblings('remnawave_id')} n ON n.user_id = u.id AND n.remnawave_id = u.remnawave_id
       LEFT JOIN ${ofSiblings('remnawave_uuid')} h ON h.user_id = u.id AND h.remnawave_uuid = lower(u.remnawave_uuid)) c
     WHERE number IS NOT NULL OR uuid IS NOT NULL`,
  );
  await context.sql(`ANALYZE ${LINKS}`);
  await applyRule(context, {
    ...{ code: 'panel_link_of_sibling', table: 'users' },
    find: `SELECT u.id FROM ${USERS} u WHERE (u.remnawave_id IS NOT NULL OR u.remnawave_uuid IS NOT NULL) AND u.id IN (SELECT user_id FROM import_sibling)
      AND NOT EXISTS (SELECT 1 FROM ${LINKS} l WHERE l.user_id = u.id)`,
  });
}

/** A panel user is one person's; a live subscription that is kept aside claims its panel user for its owner, too. */
async function dropSharedLinks(context: ImportContext): Promise<void> {
  const parked = `CASE WHEN remnawave_id IS NOT NULL THEN ${handleOf('remnawave_id')}::text ELSE remnawave_uuid END`;
  const claims = `SELECT user_id, uuid::text AS handle, is_live, end_date FROM ${LINKS}
    UNION ALL SELECT user_id, ${parked}, true, end_date FROM import_sibling WHERE is_live AND (remnawave_id IS NOT NULL OR remnawave_uuid IS NOT NULL)`;
  const shared = `SELECT user_id, handle FROM (SELECT user_id, handle, row_number() OVER (PARTITION BY handle
      ORDER BY bool_or(is_live) DESC, max(${cutTime('end_date')}) DESC NULLS LAST, user_id) AS place
    FROM (${claims}) c GROUP BY handle, user_id) r WHERE place > 1`;
  await applyRule(context, {
    ...{ code: 'panel_uuid_case_duplicate', table: 'users' },
    parks: `jsonb_build_object('vpnpanel_uuid', f.uuid)`,
    find: `SELECT l.user_id AS id, l.uuid FROM ${LINKS} l JOIN (${shared}) d ON d.user_id = l.user_id AND d.handle = l.uuid::text`,
  });
  await context.sql(
    `DELETE FROM ${LINKS} WHERE user_id IN (SELECT subject::bigint FROM ${nextTable('import_issues')} WHERE code = 'panel_uuid_case_duplicate' AND source_table = 'users')`,
  );
}
