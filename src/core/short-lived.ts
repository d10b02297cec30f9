import type { App } from './app.ts';
import { addMs, SECOND_MS } from './clock.ts';
import { primaryOf } from './db/db.ts';

/**
 * A key-value store with expiry that all instances share. Keys have at most 200 characters, values survive
 * JSON. Every function joins the caller's transaction.
 */

/** Stores a value, in place of an earlier one. */
export async function put(app: App, key: string, value: object, ttlSeconds: number): Promise<void> {
  await primaryOf(app.db).sql(
    `INSERT INTO short_lived_entries (key, value, expires_at) VALUES ($1, $2::jsonb, $3::timestamptz)
     ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, expires_at = EXCLUDED.expires_at RETURNING key`,
    [key, JSON.stringify(value), addMs(app.clock.now(), ttlSeconds * SECOND_MS)],
  );
}

/** Stores a value unless the key has one that has not expired. @returns whether it was stored; of two at once, one wins */
export async function putIfAbsent(app: App, key: string, value: object, ttlSeconds: number): Promise<boolean> {
  const now = app.clock.now();
  const rows = await primaryOf(app.db).sql<{ key: string }>(
    `INSERT INTO short_lived_entries (key, value, expires_at) VALUES ($1, $2::jsonb, $3::timestamptz)
     ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, expires_at = EXCLUDED.expires_at
     WHERE short_lived_entries.expires_at <= $4::timestamptz RETURNING key`,
    [key, JSON.stringify(value), addMs(now, ttlSeconds * SECOND_MS), now],
  );
  return rows.length > 0;
}

/** Reads and deletes in one step: of two callers at once, one gets the value. Null = absent or expired. */
export async function take<T extends object>(app: App, key: string): Promise<T | null> {
  const [row] = await primaryOf(app.db).sql<{ value: T; expiresAt: Date }>(
    'DELETE FROM short_lived_entries WHERE key = $1 RETURNING value, expires_at',
    [key],
  );
  return row && row.expiresAt > app.clock.now() ? row.value : null;
}

/** Deletes an entry if it still has this value. @returns false when it is gone or was replaced meanwhile; a replaced one stays */
export async function dropIfSame(app: App, key: string, value: object): Promise<boolean> {
  const rows = await primaryOf(app.db).sql<{ key: string }>(
    'DELETE FROM short_lived_entries WHERE key = $1 AND value = $2::jsonb RETURNING key',
    [key, JSON.stringify(value)],
  );
  return rows.length > 0;
}

/** Deletes an entry; does nothing when there is none. */
export async function drop(app: Pick<App, 'db'>, key: string): Promise<void> {
  await primaryOf(app.db).sql('DELETE FROM short_lived_entries WHERE key = $1 RETURNING key', [key]);
}

/**
 * Moves an entry to another key, unless an entry has that key, or the entry's value names another number in `field` than `expected`. What
 * is not moved is deleted.
 */
export async function moveOrDrop(
  app: Pick<App, 'db'>,
  keys: { from: string; to: string },
  { field, expected }: { field: string; expected: number | null },
): Promise<void> {
  await primaryOf(app.db).sql(
    `UPDATE short_lived_entries c SET key = $2 WHERE c.key = $1
       AND NOT EXISTS (SELECT 1 FROM short_lived_entries o WHERE o.key = $2)
       AND (c.value->>$4::text IS NULL OR (c.value->>$4::text)::int = $3::int) RETURNING key`,
    [keys.from, keys.to, expected, field],
  );
  await drop(app, keys.from);
}

/**
 * Adds one to a number of a stored value, if it is below the limit; the entry then lives for another second at least.
 * @returns false when there is no entry, or the number has reached the limit
 */
export async function incrementBelow(app: App, key: string, field: string, limit: number): Promise<boolean> {
  const rows = await primaryOf(app.db).sql<{ key: string }>(
    `UPDATE short_lived_entries SET
       value = jsonb_set(value, ARRAY[$2::text], to_jsonb((value->>$2::text)::int + 1)),
       expires_at = greatest(expires_at, $4::timestamptz)
     WHERE key = $1 AND (value->>$2::text)::int < $3::int RETURNING key`,
    [key, field, limit, addMs(app.clock.now(), SECOND_MS)],
  );
  return rows.length > 0;
}

/** Reads without deleting. Null = absent or expired. */
export async function peek<T extends object>(app: App, key: string): Promise<T | null> {
  const [row] = await primaryOf(app.db).sql<{ value: T }>(
    'SELECT value FROM short_lived_entries WHERE key = $1 AND expires_at > $2::timestamptz',
    [key, app.clock.now()],
  );
  return row?.value ?? null;
}
