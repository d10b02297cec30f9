import type { Db } from '../../../core/db/db.ts';
import type { Recipient } from '../../messaging/send-message.ts';

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

/** Kopeks; as `readPreferences` reads them: another type has the default. */
const DEFAULT_THRESHOLD = 100;
const THRESHOLD = `CASE WHEN jsonb_typeof(u.notification_settings -> 'balance_low_threshold') = 'number'
  THEN (u.notification_settings ->> 'balance_low_threshold')::numeric ELSE ${DEFAULT_THRESHOLD} END`;

/** The highest id given to an entry of the ledger; 0 = there is none. */
export async function highestEntryId(db: Db): Promise<number> {
  const [row] = await db.sql<{ id: number }>('SELECT coalesce(max(id), 0)::bigint AS id FROM ledger_entries');
  return row!.id;
}

export interface LowBalance {
  userId: number;
  /** The last debit that took the balance below the threshold. */
  entryId: number;
}

/**
 * Owners whose balance is below their threshold now, and was taken there by an entry with `after < id <= through`, unless they were notified of
 * that entry or of a later one. The balance after an entry is the present one without the later entries of the wallet, whose index
 * gives them.
 */
export function listLowBalances(db: Db, range: { after: number; through: number }): Promise<LowBalance[]> {
  return db.sql<LowBalance>(
    `WITH debits AS MATERIALIZED (
       SELECT u.id AS user_id, e.id AS entry_id, e.account_id, e.kopeks, u.balance_kopeks, ${THRESHOLD} AS threshold
       FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id JOIN users u ON u.id = a.user_id
       WHERE e.id > $1::bigint AND e.id <= $2::bigint AND a.kind = 'user_wallet' AND e.kopeks < 0 AND u.status = 'active'
         AND u.balance_kopeks < ${THRESHOLD}
         AND coalesce(u.notification_settings ->> 'balance_low_enabled' <> 'false', true)
         AND NOT EXISTS (SELECT 1 FROM low_balance_notices n WHERE n.user_id = u.id AND n.entry_id >= e.id))
     SELECT d.user_id, max(d.entry_id)::bigint AS entry_id FROM debits d
       CROSS JOIN LATERAL (SELECT d.balance_kopeks - coalesce(sum(l.kopeks), 0) AS after FROM ledger_entries l
         WHERE l.account_id = d.account_id AND l.id > d.entry_id) w
     WHERE w.after < d.threshold AND w.after - d.kopeks >= d.threshold
     GROUP BY d.user_id ORDER BY d.user_id`,
    [range.after, range.through],
  );
}

/** Records the notice of an entry. @returns the owner and the balance; null = another run has recorded it, or the owner has no account any more */
export async function recordNotice(db: Db, low: LowBalance, now: Date): Promise<(Recipient & { balanceKopeks: number }) | null> {
  const [row] = await db.sql<Recipient & { balanceKopeks: number }>(
    `WITH recorded AS (INSERT INTO low_balance_notices AS n (user_id, entry_id, created_at)
         SELECT id, $2::bigint, $3::timestamptz FROM users WHERE id = $1::int
         ON CONFLICT (user_id) DO UPDATE SET entry_id = EXCLUDED.entry_id, created_at = EXCLUDED.created_at
           WHERE n.entry_id < EXCLUDED.entry_id RETURNING user_id)
     SELECT u.id AS user_id, u.status, u.messenger_id, CASE WHEN u.email_verified THEN u.email END AS verified_email, u.language,
       u.balance_kopeks FROM recorded r JOIN users u ON u.id = r.user_id`,
    [low.userId, low.entryId, now],
  );
  return row ?? null;
}
