import type { Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

export interface CountMark extends Pick<Rows['TransactionCountMark'], 'throughId' | 'seenId'> {
  /** Whether every id up to `seenId` is settled: committed or rolled back. */
  isSettled: boolean;
}

/** Locks the one row that says up to which id is counted; inserts it where it is missing. */
export async function lockCountMark(db: Db, settleSeconds: number): Promise<CountMark> {
  await db.sql('INSERT INTO transaction_count_mark (id) VALUES (1) ON CONFLICT (id) DO NOTHING RETURNING id');
  const [row] = await db.sql<CountMark>(
    `SELECT through_id, seen_id, seen_at <= clock_timestamp() - $1::int * interval '1 second' AS is_settled
     FROM transaction_count_mark WHERE id = 1 FOR UPDATE`,
    [settleSeconds],
  );
  return row!;
}

/** When the first transaction above an id was made; null = there is none. */
export async function findCreatedAfter(db: Db, id: number): Promise<Date | null> {
  const [row] = await db.sql<{ createdAt: Date }>('SELECT created_at FROM transactions WHERE id > $1::int ORDER BY id LIMIT 1', [
    id,
  ]);
  return row?.createdAt ?? null;
}

/** Adds the rows with `after < id <= through` to the counts, and what they moved in wallets to the mark. */
export async function countRange(db: Db, after: number, through: number): Promise<void> {
  await db.sql(
    `INSERT INTO transaction_day_counts AS c (day, type, payment_method, is_completed, total, amount_kopeks)
     SELECT (created_at AT TIME ZONE 'UTC')::date, type, coalesce(payment_method, ''), is_completed, count(*), sum(abs(amount_kopeks))
     FROM transactions WHERE id > $1::int AND id <= $2::int AND NOT is_internal GROUP BY 1, 2, 3, 4
     ON CONFLICT (day, type, payment_method, is_completed) DO UPDATE SET total = c.total + EXCLUDED.total,
       amount_kopeks = c.amount_kopeks + EXCLUDED.amount_kopeks RETURNING 1 AS done`,
    [after, through],
  );
  await db.sql(
    `UPDATE transaction_count_mark SET through_id = $2::int, wallet_kopeks = wallet_kopeks + coalesce((
       SELECT sum(e.kopeks) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
       WHERE e.transaction_id > $1::int AND e.transaction_id <= $2::int AND a.kind = 'user_wallet'), 0)::bigint
     WHERE id = 1 RETURNING id`,
    [after, through],
  );
}

/** Stores the highest id of now: the next round may count up to it. */
export async function recordHighestId(db: Db): Promise<void> {
  await db.sql(
    `UPDATE transaction_count_mark SET seen_id = greatest(through_id, coalesce((SELECT max(id) FROM transactions), 0)),
       seen_at = clock_timestamp() WHERE id = 1 RETURNING id`,
  );
}
