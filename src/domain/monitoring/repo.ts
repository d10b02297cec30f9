import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { listDistinctNames } from '../../core/db/distinct-names.ts';

const ENTRY = columns('MonitoringLog', ['id', 'eventType', 'message', 'data', 'isSuccess', 'createdAt']);

export type MonitoringEntry = RowOf<typeof ENTRY>;

export async function insertEntry(db: Db, entry: Omit<MonitoringEntry, 'id'>): Promise<void> {
  await db.sql(
    `INSERT INTO monitoring_logs (event_type, message, data, is_success, created_at)
     VALUES ($1, $2, $3::jsonb, $4, $5::timestamptz) RETURNING id`,
    [entry.eventType, entry.message, JSON.stringify(entry.data), entry.isSuccess, entry.createdAt],
  );
}

/** Newest first. @param eventType null = every type */
export function listEntries(
  db: Db,
  eventType: string | null,
  page: { limit: number; offset: number },
): Promise<MonitoringEntry[]> {
  return db.sql<MonitoringEntry>(
    `SELECT ${ENTRY.of('l')} FROM monitoring_logs l ${eventType === null ? '' : 'WHERE l.event_type = $3'}
     ORDER BY l.created_at DESC, l.id DESC LIMIT $1::int OFFSET $2::bigint`,
    [page.limit, page.offset, ...(eventType === null ? [] : [eventType])],
  );
}

/** The table keeps some weeks of at most some rows a minute, so that its rows can be counted. */
export async function countEntries(db: Db, eventType: string | null): Promise<number> {
  const [row] = await db.sql<{ total: number }>(
    `SELECT count(*)::int AS total FROM monitoring_logs ${eventType === null ? '' : 'WHERE event_type = $1'}`,
    eventType === null ? [] : [eventType],
  );
  return row!.total;
}

/** Ascending. */
export const listTypes = (db: Db): Promise<string[]> => listDistinctNames(db, 'monitoring_logs', 'event_type');

/** @returns rows deleted, at most `limit` */
export async function deleteEntriesBefore(db: Db, timestamp: Date, limit: number): Promise<number> {
  const rows = await db.sql(
    `DELETE FROM monitoring_logs WHERE id = ANY(ARRAY(
       SELECT id FROM monitoring_logs WHERE created_at < $1::timestamptz ORDER BY created_at, id LIMIT $2::int)) RETURNING 1 AS gone`,
    [timestamp, limit],
  );
  return rows.length;
}
