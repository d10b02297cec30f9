import { columns } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { HistoryEntry } from './types.ts';

// Documents are read and written as text, because a rollback must restore the same bytes. Prisma Client would parse them.

const ENTRY = columns('MenuLayoutHistory', ['id', 'action', 'changesSummary', 'userInfo', 'createdAt']);

export async function findLayout(db: Db, name: string): Promise<{ document: string; updatedAt: Date } | null> {
  const [row] = await db.sql<{ document: string; updatedAt: Date }>(
    'SELECT document::text AS document, updated_at FROM menu_layouts WHERE name = $1',
    [name],
  );
  return row ?? null;
}

/** Locks the row until the transaction ends; it is created from `initial` when there is none. */
export async function lockLayout(db: Db, name: string, initial: string, now: Date): Promise<string> {
  await db.sql(
    `INSERT INTO menu_layouts (name, document, updated_at) VALUES ($1, $2::json, $3::timestamptz) ON CONFLICT (name) DO NOTHING`,
    [name, initial, now],
  );
  const [row] = await db.sql<{ document: string }>(
    'SELECT document::text AS document FROM menu_layouts WHERE name = $1 FOR UPDATE',
    [name],
  );
  if (!row) throw new Error(`menu layout ${name} was deleted before it was locked`);
  return row.document;
}

export async function storeLayout(db: Db, name: string, document: string, now: Date): Promise<void> {
  await db.sql('UPDATE menu_layouts SET document = $2::json, updated_at = $3::timestamptz WHERE name = $1', [
    name,
    document,
    now,
  ]);
}

export interface NewHistoryEntry extends Pick<HistoryEntry, 'action' | 'changesSummary' | 'userInfo'> {
  layoutName: string;
  document: string;
}

export async function addHistory(db: Db, entry: NewHistoryEntry, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO menu_layout_history (layout_name, document, action, changes_summary, user_info, created_at)
     VALUES ($1, $2::json, $3, $4, $5, $6::timestamptz)`,
    [entry.layoutName, entry.document, entry.action, entry.changesSummary, entry.userInfo, now],
  );
}

/** Deletes all but the newest entries. */
export async function pruneHistory(db: Db, name: string, retained: number): Promise<void> {
  await db.sql(
    `DELETE FROM menu_layout_history WHERE layout_name = $1 AND id <= (
       SELECT id FROM menu_layout_history WHERE layout_name = $1 ORDER BY id DESC OFFSET $2::int LIMIT 1)`,
    [name, retained],
  );
}

/** Newest first; the layout's lock makes ids follow the order of the edits. */
export async function listHistoryRows(
  db: Db,
  layoutName: string,
  page: { limit: number; offset: number },
): Promise<{ items: HistoryEntry[]; total: number }> {
  const [items, total] = await Promise.all([
    db.sql<HistoryEntry>(
      `SELECT ${ENTRY.of()} FROM menu_layout_history WHERE layout_name = $1 ORDER BY id DESC LIMIT $2::int OFFSET $3::bigint`,
      [layoutName, page.limit, page.offset],
    ),
    db.prisma.menuLayoutHistory.count({ where: { layoutName } }),
  ]);
  return { items, total };
}

export async function findHistoryEntry(db: Db, name: string, id: number): Promise<(HistoryEntry & { document: string }) | null> {
  const [row] = await db.sql<HistoryEntry & { document: string }>(
    `SELECT ${ENTRY.of()}, document::text AS document FROM menu_layout_history WHERE layout_name = $1 AND id = $2::bigint`,
    [name, id],
  );
  return row ?? null;
}
