import type { Db } from './db/db.ts';

/** Small facts of the installation, shared by all instances (table `service_state`). Values are plain JSON. */
export async function readState<T>(db: Db, key: string): Promise<T | null> {
  const [row] = await db.sql<{ value: T }>('SELECT value FROM service_state WHERE key = $1', [key]);
  return row ? row.value : null;
}

/** Reads an object and locks its row until the transaction ends; empty when there was none. In a transaction. */
export async function lockState<T extends object>(db: Db, key: string): Promise<Partial<T>> {
  await db.sql("INSERT INTO service_state (key, value) VALUES ($1, '{}'::jsonb) ON CONFLICT (key) DO NOTHING RETURNING key", [
    key,
  ]);
  const [row] = await db.sql<{ value: Partial<T> }>('SELECT value FROM service_state WHERE key = $1 FOR UPDATE', [key]);
  return row!.value;
}

export async function writeState(db: Db, key: string, value: unknown): Promise<void> {
  await db.sql(
    `INSERT INTO service_state (key, value, updated_at) VALUES ($1, $2::jsonb, now())
     ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, updated_at = now() RETURNING key`,
    [key, JSON.stringify(value)],
  );
}

/** Writes some fields of an object and leaves its others, so that two who change different ones at once both get theirs. */
export async function mergeState(db: Db, key: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  await db.sql(
    `INSERT INTO service_state (key, value, updated_at) VALUES ($1, $2::jsonb, now())
     ON CONFLICT (key) DO UPDATE SET value = service_state.value || EXCLUDED.value, updated_at = now() RETURNING key`,
    [key, JSON.stringify(fields)],
  );
}

/** Stores `value` unless the key exists, and answers what is stored then: the way to generate a secret once for all instances. */
export async function initState<T>(db: Db, key: string, value: T): Promise<T> {
  await db.sql('INSERT INTO service_state (key, value) VALUES ($1, $2::jsonb) ON CONFLICT (key) DO NOTHING RETURNING key', [
    key,
    JSON.stringify(value),
  ]);
  return (await readState<T>(db, key))!;
}
