import type { Changes } from '../../../core/changes.ts';
import { columns, type Rows } from '../../../core/db/columns.ts';
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

/**
 * A click. `userId` is the id of a user in this service or, when there is none with it, in the messenger; an unknown one is stored as
 * null.
 */
export type NewClick = Pick<Rows['ButtonClickLog'], 'buttonId'> &
  Changes<Pick<Rows['ButtonClickLog'], 'userId' | 'callbackData' | 'buttonType' | 'buttonText'>>;

export async function insertClick(db: Db, click: NewClick, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO button_click_logs (button_id, user_id, callback_data, button_type, button_text, clicked_at)
     VALUES ($1, COALESCE((SELECT id FROM users WHERE id = $2::bigint), (SELECT id FROM users WHERE messenger_id = $2::bigint)),
       $3, $4, $5, $6::timestamptz)`,
    [click.buttonId, click.userId ?? null, click.callbackData ?? null, click.buttonType ?? null, click.buttonText ?? null, now],
  );
}

export interface ButtonClicks {
  buttonId: string;
  clicksTotal: number;
  clicksToday: number;
  clicksWeek: number;
  clicksMonth: number;
  lastClickAt: Date | null;
  uniqueUsers: number;
}

export interface ClickTimestamps {
  today: Date;
  week: Date;
  month: Date;
}

/** Counters of each button with clicks, most clicks first. @param buttonId null = all buttons */
export function countByButton(db: Db, since: ClickTimestamps, buttonId: string | null): Promise<ButtonClicks[]> {
  return db.sql<ButtonClicks>(
    `SELECT button_id, count(*)::int AS clicks_total,
       count(*) FILTER (WHERE clicked_at >= $1::timestamptz)::int AS clicks_today,
       count(*) FILTER (WHERE clicked_at >= $2::timestamptz)::int AS clicks_week,
       count(*) FILTER (WHERE clicked_at >= $3::timestamptz)::int AS clicks_month,
       max(clicked_at) AS last_click_at, count(DISTINCT user_id)::int AS unique_users
     FROM button_click_logs WHERE $4::text IS NULL OR button_id = $4::text
     GROUP BY button_id ORDER BY count(*) DESC, button_id`,
    [since.today, since.week, since.month, buttonId],
  );
}

/** Days (UTC) with clicks on the button, oldest first. */
export function countByDay(db: Db, buttonId: string, since: Date): Promise<{ date: string; count: number }[]> {
  return db.sql(
    `SELECT to_char(clicked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date, count(*)::int AS count
     FROM button_click_logs WHERE button_id = $1 AND clicked_at >= $2::timestamptz GROUP BY 1 ORDER BY 1`,
    [buttonId, since],
  );
}

/** Clicks by type of button, most clicks first; those without a type are not counted. */
export function countByType(db: Db, since: Date): Promise<{ buttonType: string; clicksTotal: number; uniqueUsers: number }[]> {
  return db.sql(
    `SELECT button_type, count(*)::int AS clicks_total, count(DISTINCT user_id)::int AS unique_users
     FROM button_click_logs WHERE button_type IS NOT NULL AND clicked_at >= $1::timestamptz
     GROUP BY button_type ORDER BY count(*) DESC, button_type`,
    [since],
  );
}

/** Clicks by hour of the day (0..23) or by day of the week (0 = Monday), UTC; parts without clicks are left out. */
export function countByPart(
  db: Db,
  part: 'hour' | 'isodow',
  since: Date,
  buttonId: string | null,
): Promise<{ part: number; count: number }[]> {
  return db.sql(
    `SELECT extract(${part} FROM clicked_at AT TIME ZONE 'UTC')::int AS part, count(*)::int AS count
     FROM button_click_logs WHERE clicked_at >= $1::timestamptz AND ($2::text IS NULL OR button_id = $2::text) GROUP BY 1`,
    [since, buttonId],
  );
}

export function countByUser(
  db: Db,
  since: Date,
  buttonId: string | null,
  limit: number,
): Promise<{ userId: number; clicksCount: number; lastClickAt: Date | null }[]> {
  return db.sql(
    `SELECT user_id, count(*)::int AS clicks_count, max(clicked_at) AS last_click_at
     FROM button_click_logs
     WHERE user_id IS NOT NULL AND clicked_at >= $1::timestamptz AND ($2::text IS NULL OR button_id = $2::text)
     GROUP BY user_id ORDER BY count(*) DESC, user_id LIMIT $3::int`,
    [since, buttonId, limit],
  );
}

/** @param until not included; null = up to now */
export async function countBetween(db: Db, since: Date, until: Date | null, buttonId: string | null): Promise<number> {
  const [row] = await db.sql<{ clicks: number }>(
    `SELECT count(*)::int AS clicks FROM button_click_logs
     WHERE clicked_at >= $1::timestamptz AND ($2::timestamptz IS NULL OR clicked_at < $2::timestamptz)
       AND ($3::text IS NULL OR button_id = $3::text)`,
    [since, until, buttonId],
  );
  return row?.clicks ?? 0;
}

/** Newest first. */
export function listClicksOfUser(
  db: Db,
  userId: number,
  limit: number,
): Promise<{ buttonId: string; buttonText: string | null; clickedAt: Date }[]> {
  return db.sql(
    `SELECT button_id, button_text, clicked_at FROM button_click_logs
     WHERE user_id = $1::bigint ORDER BY clicked_at DESC, id DESC LIMIT $2::int`,
    [userId, limit],
  );
}
