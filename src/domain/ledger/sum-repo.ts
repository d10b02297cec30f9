import type { Db } from '../../core/db/db.ts';
import { THROUGH, UNCOUNTED_END } from './repo.ts';
import { type CompletedSum, UNCOUNTED_ROWS } from './types.ts';

/**
 * Sums completed visible transactions by type and method, from a midnight up to `now`. One statement, hence one snapshot, of three parts:
 * days from `transaction_day_counts`; rows that are not counted by day yet (see `countByDay` for the OFFSET 0); and, subtracted from the
 * first part, counted rows of today that are dated later than now, of which there are normally none.
 */
export function sumCompleted(db: Db, from: Date, now: Date): Promise<CompletedSum[]> {
  return db.sql<CompletedSum>(
    `WITH part AS (
       SELECT day, type, payment_method, total, amount_kopeks FROM transaction_day_counts
       WHERE is_completed AND day >= utc_day($1::timestamptz) AND day <= utc_day($2::timestamptz)
       UNION ALL
       SELECT utc_day(created_at), type, coalesce(payment_method, ''), 1, abs(amount_kopeks) FROM (SELECT * FROM transactions
         WHERE id > ${THROUGH} AND id <= ${UNCOUNTED_END} OFFSET 0) AS uncounted
       WHERE is_completed AND NOT is_internal AND created_at >= $1::timestamptz AND created_at <= $2::timestamptz
       UNION ALL
       SELECT utc_day(created_at), type, coalesce(payment_method, ''), -1, -abs(amount_kopeks) FROM transactions
       WHERE id <= ${THROUGH} AND is_completed AND NOT is_internal AND created_at > $2::timestamptz
         AND created_at < (utc_day($2::timestamptz) + 1)::timestamp AT TIME ZONE 'UTC')
     SELECT type, nullif(payment_method, '') AS payment_method, sum(total)::bigint AS count, sum(amount_kopeks)::bigint AS amount_kopeks,
       coalesce(sum(total) FILTER (WHERE day = utc_day($2::timestamptz)), 0)::bigint AS today_count,
       coalesce(sum(amount_kopeks) FILTER (WHERE day = utc_day($2::timestamptz)), 0)::bigint AS today_kopeks,
       coalesce(sum(total) FILTER (WHERE day >= utc_day($2::timestamptz) - 7), 0)::bigint AS week_count,
       coalesce(sum(total) FILTER (WHERE day >= utc_day($2::timestamptz) - 30), 0)::bigint AS month_count
     FROM part GROUP BY 1, 2 HAVING sum(total) <> 0 ORDER BY 1, 2`,
    [from, now],
  );
}

/** When the first transaction was made that no sum has yet, because so many are not counted; null = the sums have all (spec 10 D2). */
export async function findUncountedSince(db: Db): Promise<Date | null> {
  const [row] = await db.sql<{ createdAt: Date }>(
    `SELECT created_at FROM transactions WHERE id > ${THROUGH} + ${UNCOUNTED_ROWS} ORDER BY id LIMIT 1`,
  );
  return row?.createdAt ?? null;
}

/** Kopeks in all wallets: the entries that the mark has counted and those after it, in one snapshot. */
export async function sumWallets(db: Db): Promise<number> {
  const [row] = await db.sql<{ kopeks: number }>(
    `SELECT (coalesce((SELECT wallet_kopeks FROM transaction_count_mark WHERE id = 1), 0) + coalesce((
       SELECT sum(e.kopeks) FROM (SELECT * FROM ledger_entries
         WHERE transaction_id > ${THROUGH} AND transaction_id <= ${UNCOUNTED_END} OFFSET 0) e
       JOIN ledger_accounts a ON a.id = e.account_id WHERE a.kind = 'user_wallet'), 0))::bigint AS kopeks`,
  );
  return row!.kopeks;
}
