import type { Db } from '../../core/db/db.ts';
import type { BlacklistLine } from './rules.ts';

/** By id, else by user name. @param username lower case, without `@` */
export async function isListed(db: Db, messengerId: number, username: string | null): Promise<boolean> {
  const rows = await db.sql(
    `SELECT 1 AS found FROM blacklist_entries WHERE messenger_id = $1::bigint
     UNION ALL SELECT 1 FROM blacklist_entries WHERE username = $2 LIMIT 1`,
    [messengerId, username],
  );
  return rows.length > 0;
}

/** Replaces the whole list; unchanged rows are not written. In a transaction. */
export async function replaceEntries(db: Db, entries: readonly BlacklistLine[], now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO blacklist_entries (messenger_id, username, reason, created_at)
     SELECT "messengerId", username, reason, $2::timestamptz
     FROM jsonb_to_recordset($1::jsonb) AS e ("messengerId" bigint, username text, reason text)
     ON CONFLICT (messenger_id) DO UPDATE SET username = EXCLUDED.username, reason = EXCLUDED.reason
     WHERE blacklist_entries.username IS DISTINCT FROM EXCLUDED.username OR blacklist_entries.reason IS DISTINCT FROM EXCLUDED.reason
     RETURNING 1 AS written`,
    [JSON.stringify(entries), now],
  );
  await db.sql('DELETE FROM blacklist_entries WHERE NOT (messenger_id = ANY($1::bigint[])) RETURNING 1 AS gone', [
    entries.map((entry) => entry.messengerId),
  ]);
}
