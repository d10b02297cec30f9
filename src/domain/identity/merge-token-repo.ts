import type { Db } from '../../core/db/db.ts';

/** @returns false when the entry is gone or was restored often enough */
export async function renewEntry(db: Db, key: string, renewal: { maxRestores: number; now: Date }): Promise<boolean> {
  const rows = await db.sql<{ key: string }>(
    `UPDATE short_lived_entries SET
       value = jsonb_set(value, '{restore_count}', to_jsonb((value->>'restore_count')::int + 1)),
       expires_at = greatest(expires_at, $3::timestamptz + interval '1 second')
     WHERE key = $1 AND (value->>'restore_count')::int < $2::int RETURNING key`,
    [key, renewal.maxRestores, renewal.now],
  );
  return rows.length > 0;
}

export async function dropEntry(db: Db, key: string): Promise<void> {
  await db.sql('DELETE FROM short_lived_entries WHERE key = $1 RETURNING key', [key]);
}
