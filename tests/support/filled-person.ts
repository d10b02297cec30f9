import type { App } from '../../src/core/app.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { PERSONAL_TABLES } from '../../src/domain/personal-data/person-tables.ts';
import { aUser } from './builders.ts';

/** Stands in every text of the filled person, and in what an archive must leave out. */
export const MARK = 'zqmarkzq';
export const SECRET = 'zqsecretzq';

interface Column {
  tableName: string;
  columnName: string;
  type: string;
  length: number | null;
  isGenerated: boolean;
  refersToUsers: boolean;
  firstChoice: string | null;
}

/** States in which nothing is open, and whose row it is where the reference to a user alone does not say so. */
const VALUES: Record<string, unknown> = {
  'payments.outcome': 'paid',
  'approvals.status': 'approved',
  'withdrawal_requests.status': 'completed',
  'payment_cases.status': 'resolved',
  'payment_reversals.status': 'done',
  'guest_purchases.status': 'delivered',
  'webhook_deliveries.status': 'success',
  'receipts.state': 'created',
  'transactions.type': 'deposit',
  'subscriptions.status': 'expired',
  'data_requests.kind': 'export',
  'data_requests.state': 'ready',
  'tickets.status': 'closed',
  // The file is in a ticket only.
  'broadcast_history.media_file_id': null,
  'pinned_messages.media_file_id': null,
  'import_parked.source_table': 'users',
  'import_issues.source_table': 'users',
  'account_merges.former_emails': JSON.stringify([`${MARK}@example.com`]),
  'media_files.storage_key': `${MARK}0123456789abcdef`,
};

/**
 * A user with a row in every table of personal data: all ids are the user's, so that rows refer to each other, every text is `MARK`, and
 * columns that an archive leaves out are `SECRET`. Constraints of the database are dropped for it: only for a database that is used for nothing else.
 */
export async function fillPerson(
  app: App,
): Promise<{ userId: number; mergedId: number; messengerId: number; panelUuid: string }> {
  // Ids that no sequence of another table reaches.
  await app.db.sql("SELECT setval(pg_get_serial_sequence('users', 'id'), 900000) AS id");
  const { id: userId, messengerId } = await aUser(app);
  const { id: mergedId } = await aUser(app);
  const panelUuid = '7f1c2f8e-6a53-4bb1-9f0e-0c8e6f3d9a11';
  await app.db.sql('UPDATE users SET first_name = $2 WHERE id = $1::int', [mergedId, MARK]);
  await dropChecks(app);
  const columns = await listColumns(app);
  const withheld = new Set(
    PERSONAL_TABLES.flatMap(({ table, withheld: { secret = '', ofOthers = '' } = {} }) =>
      [...secret.split(' '), ...ofOthers.split(' ')].map((column) => `${table}.${column}`),
    ),
  );
  const sampleOf = ({ tableName, columnName, type, length, refersToUsers, firstChoice }: Column): unknown => {
    const name = `${tableName}.${columnName}`;
    if (name in VALUES) return VALUES[name];
    if (name === 'receipts.name') return `VPN (ID ${messengerId}) #3f2b1c0e8a77`;
    if (columnName === 'secondary_user_id') return mergedId;
    if (columnName === 'messenger_id' || columnName === 'actor_messenger_id') return messengerId;
    if (refersToUsers || ['id', 'user_id', 'uploaded_by', 'admin_id'].includes(columnName)) return userId;
    if (columnName === 'panel_uuid' || columnName === 'vpnpanel_uuid') return panelUuid;
    if (columnName === 'actor') return `user:${userId}`;
    if (columnName === 'key' && tableName === 'short_lived_entries') return `user_cart:${userId}`;
    if (['source_id', 'subject'].includes(columnName) && tableName.startsWith('import_')) return String(userId);
    if (columnName === 'recipient' || columnName === 'email') return `${MARK}@example.com`;
    const text = withheld.has(name) ? SECRET : MARK;
    if (/int|numeric|double|real/.test(type)) return columnName.endsWith('_id') ? userId : 1;
    if (type === 'boolean') return false;
    if (/^json/.test(type)) return JSON.stringify({ user_id: userId, userId, email: `${MARK}@example.com`, remark: text });
    if (/timestamp|date/.test(type)) return '2026-01-01T00:00:00Z';
    if (type === 'uuid') return panelUuid;
    if (type === 'bytea') return '\\x00';
    if (firstChoice !== null) return firstChoice;
    return length !== null && length < text.length ? 'x' : text;
  };
  await inTransaction(app, async ({ db }) => {
    await db.sql('SET LOCAL session_replication_role = replica');
    for (const table of new Set(PERSONAL_TABLES.map(({ table: name }) => name))) {
      const columnsOf = columns.filter(({ tableName, isGenerated }) => tableName === table && !isGenerated);
      if (table === 'users') await fillAccount(db.sql, columnsOf, userId, sampleOf);
      else if (columnsOf.length > 0) {
        const names = columnsOf.map(({ columnName }) => columnName).join(', ');
        const values = columnsOf.map(({ type }, at) => `$${at + 1}::text::${type}`).join(', ');
        // Raw SQL: every table, whatever its rules are.
        await db.sql(
          `INSERT INTO ${table} (${names}) VALUES (${values}) ON CONFLICT DO NOTHING`,
          columnsOf.map((column) => asText(sampleOf(column))),
        );
      }
    }
  });
  return { userId, mergedId, messengerId: messengerId!, panelUuid };
}

const asText = (value: unknown) => (value === null ? null : String(value));
const FIXED =
  /^(id|messenger_id|balance_kopeks|referral_code|status|referred_by_id|promo_group_id|vk_id|created_at|partner_status|auth_type)$/;

async function fillAccount(
  sql: App['db']['sql'],
  columns: Column[],
  userId: number,
  sampleOf: (column: Column) => unknown,
): Promise<void> {
  const filled = columns.filter(({ columnName, type }) => !FIXED.test(columnName) && !/int|numeric|bool/.test(type));
  const set = filled.map(({ columnName, type }, at) => `${columnName} = $${at + 2}::text::${type}`).join(', ');
  await sql(`UPDATE users SET ${set} WHERE id = $1::int`, [userId, ...filled.map((column) => asText(sampleOf(column)))]);
}

/** And references to tables of the operator, which have no rows here. */
async function dropChecks(app: App): Promise<void> {
  const checks = await app.db.sql<{ tableName: string; name: string }>(
    `SELECT conrelid::regclass::text AS table_name, quote_ident(conname) AS name FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace AND conparentid = 0 AND conrelid <> 0 AND conrelid <> 'users'::regclass
       AND (contype = 'c' OR (contype = 'f' AND NOT confrelid::regclass::text = ANY($1::text[])))`,
    [PERSONAL_TABLES.map(({ table }) => table)],
  );
  for (const { tableName, name } of checks) await app.db.sql(`ALTER TABLE ${tableName} DROP CONSTRAINT ${name}`);
}

function listColumns(app: App): Promise<Column[]> {
  return app.db.sql<Column>(
    `SELECT c.table_name, c.column_name, format_type(a.atttypid, a.atttypmod) AS type, c.character_maximum_length AS length,
       c.is_generated = 'ALWAYS' AS is_generated, substring(c.column_default FROM '^''([a-z_]+)''::') AS first_choice,
       EXISTS (SELECT 1 FROM pg_constraint k WHERE k.contype = 'f' AND k.conrelid = a.attrelid AND a.attnum = ANY(k.conkey)
         AND k.confrelid = 'users'::regclass) AS refers_to_users
     FROM information_schema.columns c JOIN pg_attribute a ON a.attrelid = format('public.%I', c.table_name)::regclass AND a.attname = c.column_name
     WHERE c.table_schema = 'public' AND c.table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = 'public') ORDER BY 1, c.ordinal_position`,
  );
}

/** Columns of all tables in which a text stands, as `table.column`. */
export async function findText(app: App, text: string): Promise<string[]> {
  const columns = await listColumns(app);
  const tables = new Map<string, string[]>();
  for (const { tableName, columnName, type } of columns)
    if (type !== 'bytea') tables.set(tableName, [...(tables.get(tableName) ?? []), columnName]);
  const found: string[] = [];
  for (const [table, names] of tables) {
    const counts = names.map((name) => `count(*) FILTER (WHERE strpos(${name}::text, $1) > 0)::int AS "${name}"`).join(', ');
    const [row] = await app.db.sql<Record<string, number>>(
      `SELECT to_jsonb(x) AS found FROM (SELECT ${counts} FROM ${table}) x`,
      [text],
    );
    const numbers = row!.found as unknown as Record<string, number>;
    found.push(...names.filter((name) => numbers[name]! > 0).map((name) => `${table}.${name}`));
  }
  return found.sort();
}
