import { firstCharacters } from '../../core/characters.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { listDistinctNames } from '../../core/db/distinct-names.ts';
import { storableText } from '../../core/db/storable-text.ts';
import type { AuditEntry } from './types.ts';

/** Appends rows in their order, with the present name of the actor; the row of an actor who has been deleted has no id. */
export async function insertAuditEntries(db: Db, entries: readonly AuditEntry[]): Promise<void> {
  const rows = entries.map((entry) => ({
    user_id: entry.userId,
    actor_name: cut(entry.actorName, 255),
    action: cut(entry.action, 100),
    resource_type: cut(entry.resourceType, 50),
    resource_id: cut(entry.resourceId, 100),
    details: entry.details,
    ip_address: cut(entry.ipAddress, 45),
    user_agent: cut(entry.userAgent, 500),
    status: entry.status,
    request_method: cut(entry.requestMethod, 10),
    request_path: cut(entry.requestPath, 500),
    created_at: entry.at,
  }));
  await db.sql(
    `INSERT INTO admin_audit_log (user_id, actor_name, action, resource_type, resource_id, details, ip_address, user_agent, status,
       request_method, request_path, created_at)
     SELECT u.id,
       left(coalesce(e.actor_name, nullif(concat_ws(' ', nullif(u.first_name, ''), nullif(u.last_name, '')), ''), u.username, u.email, 'User' || u.id), 255),
       e.action, e.resource_type, e.resource_id, e.details, e.ip_address, e.user_agent, e.status, e.request_method, e.request_path, e.created_at
     FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS (user_id int, actor_name text, action text, resource_type text, resource_id text, details jsonb,
       ip_address text, user_agent text, status text, request_method text, request_path text, created_at timestamptz))
       WITH ORDINALITY AS e (user_id, actor_name, action, resource_type, resource_id, details, ip_address, user_agent, status, request_method,
         request_path, created_at, position)
     LEFT JOIN users u ON u.id = e.user_id ORDER BY e.position RETURNING id`,
    [JSON.stringify(rows)],
  );
}

/** Cuts a text to the length of its column. */
function cut(text: string | null | undefined, length: number): string | null {
  return text === null || text === undefined ? null : firstCharacters(storableText(text), length);
}

/** What is absent or null does not restrict the list. */
export interface AuditFilter {
  userId?: number | null | undefined;
  /** Part of the action, any case. */
  action?: string | null | undefined;
  resourceType?: string | null | undefined;
  status?: string | null | undefined;
  /** Inclusive, as `dateTo`. */
  dateFrom?: Date | null | undefined;
  dateTo?: Date | null | undefined;
}

const ENTRY = columns('AdminAuditLog', [
  ...([
    'id',
    'userId',
    'actorName',
    'action',
    'resourceType',
    'resourceId',
    'details',
    'ipAddress',
    'userAgent',
    'status',
  ] as const),
  ...(['requestMethod', 'requestPath', 'createdAt'] as const),
]);
const USER = columns('User', ['firstName', 'email']);

/** `userId` null: the user was deleted, or the actor was an API token. */
export type AuditRow = RowOf<typeof ENTRY> & { [Field in keyof RowOf<typeof USER>]: string | null };

/** Position in the list, newest first. */
export interface AuditPosition {
  createdAt: Date;
  id: number;
}

/**
 * Distinct actions: there are some dozens among millions of rows. A search for a part of an action thus becomes
 * a search for a list of actions, which uses the index.
 */
export const listAuditActions = (db: Db): Promise<string[]> => listDistinctNames(db, 'admin_audit_log', 'action');

/** @param actions actions that match `filter.action`; null = all */
function conditions(filter: AuditFilter, actions: readonly string[] | null, values: unknown[]): string[] {
  const parts: string[] = [];
  const add = (text: string, value: unknown) => {
    if (value === null || value === undefined) return;
    values.push(value);
    parts.push(text.replace('?', `$${values.length}`));
  };
  add('l.user_id = ?::bigint', filter.userId);
  add('l.action = ANY(?::text[])', actions);
  add('l.resource_type = ?', filter.resourceType);
  add('l.status = ?', filter.status);
  add('l.created_at >= ?::timestamptz', filter.dateFrom);
  add('l.created_at <= ?::timestamptz', filter.dateTo);
  return parts;
}

const whereOf = (parts: readonly string[]) => (parts.length > 0 ? `WHERE ${parts.join(' AND ')}` : '');

/** Newest first. @param page either an offset, or the row after which the page begins */
export async function listAuditRows(
  db: Db,
  filter: AuditFilter,
  actions: readonly string[] | null,
  page: { limit: number; offset?: number; after?: AuditPosition | null },
): Promise<AuditRow[]> {
  const values: unknown[] = [page.limit, page.offset ?? 0];
  const parts = conditions(filter, actions, values);
  if (page.after) {
    values.push(page.after.createdAt, page.after.id);
    parts.push(`(l.created_at, l.id) < ($${values.length - 1}::timestamptz, $${values.length}::bigint)`);
  }
  // The page is cut first, so that users are looked up for its rows only.
  return db.sql<AuditRow>(
    `WITH page AS (SELECT l.* FROM admin_audit_log l ${whereOf(parts)} ORDER BY l.created_at DESC, l.id DESC LIMIT $1::int OFFSET $2::bigint)
     SELECT ${ENTRY.of('page')}, ${USER.of('u')}
     FROM page LEFT JOIN users u ON u.id = page.user_id ORDER BY page.created_at DESC, page.id DESC`,
    values,
  );
}

/** Counts the rows on one side of an id; the log only grows, so the rows below an old id are counted once. */
export async function countAuditRows(
  db: Db,
  filter: AuditFilter,
  actions: readonly string[] | null,
  range: { above: number } | { upTo: number },
): Promise<number> {
  const values: unknown[] = ['above' in range ? range.above : range.upTo];
  const parts = [`l.id ${'above' in range ? '>' : '<='} $1::bigint`, ...conditions(filter, actions, values)];
  const [row] = await db.sql<{ rows: number }>(`SELECT count(*)::int AS rows FROM admin_audit_log l ${whereOf(parts)}`, values);
  return row!.rows;
}

/** Highest id written before a given time; 0 = none. */
export async function findAuditIdBefore(db: Db, timestamp: Date): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    'SELECT id FROM admin_audit_log WHERE created_at < $1::timestamptz ORDER BY created_at DESC, id DESC LIMIT 1',
    [timestamp],
  );
  return row?.id ?? 0;
}

/** Lets this transaction delete rows; the trigger refuses all others. */
export async function allowAuditDeletion(db: Db): Promise<void> {
  await db.sql("SELECT set_config('service.audit_retention', 'on', true)::text AS allowed");
}

/** @returns rows deleted, at most `limit` */
export async function deleteAuditRowsBefore(db: Db, timestamp: Date, limit: number): Promise<number> {
  const rows = await db.sql(
    `DELETE FROM admin_audit_log WHERE id = ANY(ARRAY(
       SELECT id FROM admin_audit_log WHERE created_at < $1::timestamptz ORDER BY created_at, id LIMIT $2::int)) RETURNING 1 AS gone`,
    [timestamp, limit],
  );
  return rows.length;
}
