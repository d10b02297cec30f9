import type { Db } from '../../../core/db/db.ts';
import type { HistoryEntry, LayoutAction } from './types.ts';

/** Documents travel as the text they are stored as: a rollback must give back the same bytes. */
export interface LayoutRow {
  document: string;
  updatedAt: Date;
}

export async function findLayout(db: Db, name: string): Promise<LayoutRow | null> {
  const [row] = await db.sql<LayoutRow>('SELECT document::text AS document, updated_at FROM menu_layouts WHERE name = $1', [
    name,
  ]);
  return row ?? null;
}

/** The row, locked until the transaction ends; made from `initial` when there is none. */
export async function lockLayout(db: Db, name: string, initial: string, now: Date): Promise<string> {
  await db.sql(
    `INSERT INTO menu_layouts (name, document, updated_at) VALUES ($1, $2::json, $3::timestamptz) ON CONFLICT (name) DO NOTHING`,
    [name, initial, now],
  );
  const [row] = await db.sql<{ document: string }>(
    'SELECT document::text AS document FROM menu_layouts WHERE name = $1 FOR UPDATE',
    [name],
  );
  if (!row) throw new Error(`menu layout ${name} vanished while it was locked`);
  return row.document;
}

export async function storeLayout(db: Db, name: string, document: string, now: Date): Promise<void> {
  await db.sql('UPDATE menu_layouts SET document = $2::json, updated_at = $3::timestamptz WHERE name = $1', [
    name,
    document,
    now,
  ]);
}

export interface NewHistoryEntry {
  name: string;
  document: string;
  action: LayoutAction;
  summary: string;
  userInfo: string | null;
}

export async function addHistory(db: Db, entry: NewHistoryEntry, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO menu_layout_history (layout_name, document, action, changes_summary, user_info, created_at)
     VALUES ($1, $2::json, $3, $4, $5, $6::timestamptz)`,
    [entry.name, entry.document, entry.action, entry.summary, entry.userInfo, now],
  );
}

/** Deletes all but the newest entries. */
export async function pruneHistory(db: Db, name: string, kept: number): Promise<void> {
  await db.sql(
    `DELETE FROM menu_layout_history WHERE layout_name = $1 AND id <= (
       SELECT id FROM menu_layout_history WHERE layout_name = $1 ORDER BY id DESC OFFSET $2::int LIMIT 1)`,
    [name, kept],
  );
}

interface HistoryRow {
  id: number;
  action: LayoutAction;
  changesSummary: string;
  userInfo: string | null;
  createdAt: Date;
}

const toEntry = (row: HistoryRow): HistoryEntry => ({
  id: row.id,
  action: row.action,
  changesSummary: row.changesSummary,
  userInfo: row.userInfo,
  createdAt: row.createdAt,
});

/** Newest first; the row's lock makes ids and times follow the order of the edits. */
export async function listHistoryRows(
  db: Db,
  name: string,
  page: { limit: number; offset: number },
): Promise<{ items: HistoryEntry[]; total: number }> {
  const rows = await db.sql<HistoryRow>(
    `SELECT id, action, changes_summary, user_info, created_at FROM menu_layout_history
     WHERE layout_name = $1 ORDER BY id DESC LIMIT $2::int OFFSET $3::bigint`,
    [name, page.limit, page.offset],
  );
  const [count] = await db.sql<{ total: number }>(
    'SELECT count(*)::int AS total FROM menu_layout_history WHERE layout_name = $1',
    [name],
  );
  return { items: rows.map(toEntry), total: count?.total ?? 0 };
}

export async function findHistoryEntry(db: Db, name: string, id: number): Promise<(HistoryEntry & { document: string }) | null> {
  const [row] = await db.sql<HistoryRow & { document: string }>(
    `SELECT id, action, changes_summary, user_info, created_at, document::text AS document
     FROM menu_layout_history WHERE layout_name = $1 AND id = $2::bigint`,
    [name, id],
  );
  return row ? { ...toEntry(row), document: row.document } : null;
}
