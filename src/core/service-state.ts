import type { Db } from './db/db.ts';

/**
 * Values of the installation that all instances share (table `service_state`, which only this file writes). Values are plain JSON.
 */

/** The value of a key; null = there is none. */
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

/** Stores a value, in place of an earlier one. */
export async function writeState(db: Db, key: string, value: unknown): Promise<void> {
  await db.sql(
    `INSERT INTO service_state (key, value, updated_at) VALUES ($1, $2::jsonb, now())
     ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, updated_at = now() RETURNING key`,
    [key, JSON.stringify(value)],
  );
}

/** Writes some fields of an object and leaves its other fields, so that two callers who change different fields at once both succeed. */
export async function mergeState(db: Db, key: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  await db.sql(
    `INSERT INTO service_state (key, value, updated_at) VALUES ($1, $2::jsonb, now())
     ON CONFLICT (key) DO UPDATE SET value = service_state.value || EXCLUDED.value, updated_at = now() RETURNING key`,
    [key, JSON.stringify(fields)],
  );
}

/** Stores `value` unless the key exists. @returns what is stored then; generates a secret once for all instances */
export async function initState<T>(db: Db, key: string, value: T): Promise<T> {
  await db.sql('INSERT INTO service_state (key, value) VALUES ($1, $2::jsonb) ON CONFLICT (key) DO NOTHING RETURNING key', [
    key,
    JSON.stringify(value),
  ]);
  return (await readState<T>(db, key))!;
}

/** Stores a value unless the same value is stored. @returns whether it was stored; of several callers with one value, one gets true */
export async function writeStateIfChanged(db: Db, key: string, value: unknown): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO service_state (key, value, updated_at) VALUES ($1, $2::jsonb, now())
     ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, updated_at = now() WHERE service_state.value <> EXCLUDED.value
     RETURNING key`,
    [key, JSON.stringify(value)],
  );
  return rows.length > 0;
}

/** Renews a row that was renewed within the last `ms`, by the database's clock. @returns false when there is none */
export async function keepState(db: Db, key: string, ms: number): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE service_state SET updated_at = now() WHERE key = $1 AND updated_at >= now() - $2::int * interval '1 millisecond' RETURNING key`,
    [key, ms],
  );
  return rows.length > 0;
}

/** Renews a row, or makes it, and locks it. In a transaction. @returns milliseconds since it was last renewed; null when there was none */
export async function touchState(db: Db, key: string): Promise<number | null> {
  const [made] = await db.sql(
    "INSERT INTO service_state (key, value) VALUES ($1, '{}'::jsonb) ON CONFLICT (key) DO NOTHING RETURNING key",
    [key],
  );
  const [row] = await db.sql<{ ms: number }>(
    'SELECT (extract(epoch FROM clock_timestamp() - updated_at) * 1000)::float8 AS ms FROM service_state WHERE key = $1 FOR UPDATE',
    [key],
  );
  await db.sql('UPDATE service_state SET updated_at = clock_timestamp() WHERE key = $1 RETURNING key', [key]);
  return made ? null : row!.ms;
}

/** What the holder of a lease publishes with it; `instance` names the holder. */
export interface LeaseState {
  instance: string;
}

/**
 * Acquires or renews a lease, by the database's clock: it is free when nobody renewed it for `leaseMs` milliseconds.
 * @returns false when another instance has it
 */
export async function claimStateLease(db: Db, key: string, value: LeaseState, leaseMs: number): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO service_state (key, value, updated_at) VALUES ($1, $2::jsonb, now())
     ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, updated_at = now()
     WHERE service_state.value->>'instance' = $3 OR service_state.updated_at < now() - $4::int * interval '1 millisecond'
     RETURNING key`,
    [key, JSON.stringify(value), value.instance, leaseMs],
  );
  return rows.length > 0;
}

/** Ends the lease of an instance; a lease of another instance stays. */
export async function releaseStateLease(db: Db, key: string, instance: string): Promise<void> {
  await db.sql("DELETE FROM service_state WHERE key = $1 AND value->>'instance' = $2 RETURNING key", [key, instance]);
}

/** Deletes the values of keys that begin with `prefix` and were last written before the given time. @returns how many */
export async function deleteStates(db: Db, prefix: string, before: Date): Promise<number> {
  const rows = await db.sql(
    'DELETE FROM service_state WHERE starts_with(key, $1) AND updated_at < $2::timestamptz RETURNING 1 AS gone',
    [prefix, before],
  );
  return rows.length;
}

/** SQL that adds to a number of a stored object, for a statement that changes other rows with it. Accepts the texts of its parameters. */
export function addToStateSql(key: string, field: string, step: string): string {
  return `INSERT INTO service_state (key, value) VALUES (${key}, jsonb_build_object('${field}', ${step}))
    ON CONFLICT (key) DO UPDATE SET updated_at = now(),
      value = jsonb_build_object('${field}', (service_state.value->>'${field}')::bigint + ${step})`;
}
