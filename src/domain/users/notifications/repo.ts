import type { Db } from '../../../core/db/db.ts';

/** `users.notification_settings`; null when the user does not exist. */
export async function findPreferences(db: Db, userId: number): Promise<{ stored: unknown } | null> {
  const [row] = await db.sql<{ stored: unknown }>('SELECT notification_settings AS stored FROM users WHERE id = $1::int', [
    userId,
  ]);
  return row ?? null;
}

/** Merges values into `users.notification_settings` and returns all of it; concurrent changes of different keys are all kept. */
export async function mergePreferences(
  db: Db,
  userId: number,
  changes: Readonly<Record<string, boolean | number>>,
  now: Date,
): Promise<{ stored: unknown } | null> {
  const [row] = await db.sql<{ stored: unknown }>(
    `UPDATE users SET updated_at = $3::timestamptz, notification_settings =
       CASE WHEN jsonb_typeof(notification_settings) = 'object' THEN notification_settings ELSE '{}'::jsonb END || $2::jsonb
     WHERE id = $1::int RETURNING notification_settings AS stored`,
    [userId, JSON.stringify(changes), now],
  );
  return row ?? null;
}
