import type { Db } from '../../core/db/db.ts';

/** Reads a fact of `service_state` and keeps others from changing it until the transaction ends; null = there is none yet. */
export async function lockState<T>(db: Db, key: string): Promise<T | null> {
  await db.sql("INSERT INTO service_state (key, value) VALUES ($1, '{}'::jsonb) ON CONFLICT (key) DO NOTHING RETURNING key", [
    key,
  ]);
  const [row] = await db.sql<{ value: T }>('SELECT value FROM service_state WHERE key = $1 FOR UPDATE', [key]);
  return row?.value ?? null;
}
