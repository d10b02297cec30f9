import type { Db } from '../../core/db/db.ts';
import { conditionsOf, equalities, type TransactionFilter } from './repo.ts';

/** SQL: the id up to which `transaction_day_counts` is counted. */
export const THROUGH = 'coalesce((SELECT through_id FROM transaction_count_mark WHERE id = 1), 0)';

/** Counts row by row. */
export async function countDirectly(db: Db, filter: TransactionFilter): Promise<number> {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, values);
  const [row] = await db.sql<{ total: number }>(`SELECT count(*) AS total FROM transactions WHERE ${conditions}`, values);
  return row!.total;
}

/** UTC midnights around the whole days of a filter; null = that side is open. */
export interface WholeDays {
  from: Date | null;
  to: Date | null;
}

/**
 * Counts whole days from `transaction_day_counts`, and row by row only the rest: the cut days at both ends and what is not counted by
 * day yet. One statement, hence one snapshot: the parts never overlap and never leave a gap.
 *
 * The uncounted rows are fenced off (OFFSET 0) with both bounds of their ids, because a prepared plan cannot know that they are few
 * and would otherwise walk a filter's index through the whole history.
 * @param filter without a user, without an empty payment method
 */
export async function countByDay(db: Db, filter: TransactionFilter, days: WholeDays): Promise<number> {
  const values: unknown[] = [];
  const at = (moment: Date): string => `$${values.push(moment)}::timestamptz`;
  const dayOf = (moment: Date): string => `(${at(moment)} AT TIME ZONE 'UTC')::date`;
  const { from, to } = filter;
  const equal = ['true', ...equalities(filter, values)].join(' AND ');
  const inDays: string[] = [];
  const cut: string[] = [];
  const inRange: string[] = [];
  if (from && days.from) {
    inDays.push(`AND day >= ${dayOf(days.from)}`);
    inRange.push(`AND created_at >= ${at(from)}`);
    cut.push(`created_at >= ${at(from)} AND created_at < ${at(days.from)}`);
  }
  if (to && days.to) {
    inDays.push(`AND day < ${dayOf(days.to)}`);
    inRange.push(`AND created_at <= ${at(to)}`);
    cut.push(`created_at >= ${at(days.to)} AND created_at <= ${at(to)}`);
  }
  const parts = [
    `(SELECT coalesce(sum(total), 0) FROM transaction_day_counts WHERE ${equal} ${inDays.join(' ')})`,
    `(SELECT count(*) FROM (SELECT * FROM transactions
        WHERE id > ${THROUGH} AND id <= (SELECT max(id) FROM transactions) OFFSET 0) AS uncounted
      WHERE NOT is_internal AND ${equal} ${inRange.join(' ')})`,
    ...cut.map(
      (range) => `(SELECT count(*) FROM transactions WHERE id <= ${THROUGH} AND NOT is_internal AND ${range} AND ${equal})`,
    ),
  ];
  const [row] = await db.sql<{ total: number }>(`SELECT (${parts.join(' + ')})::bigint AS total`, values);
  return row!.total;
}

export interface CountMark {
  throughId: number;
  seenId: number;
  /** Whether every id up to `seenId` is settled: committed or rolled back. */
  isSettled: boolean;
}

/** Locks the one row that says how far is counted, making it first where there is none. */
export async function lockCountMark(db: Db, settleSeconds: number): Promise<CountMark> {
  await db.sql('INSERT INTO transaction_count_mark (id) VALUES (1) ON CONFLICT (id) DO NOTHING RETURNING id');
  const [row] = await db.sql<{ throughId: number; seenId: number; isSettled: boolean }>(
    `SELECT through_id, seen_id, seen_at <= clock_timestamp() - $1::int * interval '1 second' AS is_settled
     FROM transaction_count_mark WHERE id = 1 FOR UPDATE`,
    [settleSeconds],
  );
  return { throughId: row!.throughId, seenId: row!.seenId, isSettled: row!.isSettled };
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

/** Notes the highest id there is now: the next round may count up to it. */
export async function noteHighestId(db: Db): Promise<void> {
  await db.sql(
    `UPDATE transaction_count_mark SET seen_id = greatest(through_id, coalesce((SELECT max(id) FROM transactions), 0)),
       seen_at = clock_timestamp() WHERE id = 1 RETURNING id`,
  );
}
