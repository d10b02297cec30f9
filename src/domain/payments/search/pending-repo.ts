import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import { bucketSql } from './buckets.ts';
import { ITEM_COLUMNS, NEWEST_FIRST, type PaymentOfPayer, type Slice } from './list-repo.ts';

/**
 * Payments of a payer that wait, and all Stars top-ups, because the messenger reports nothing before the payment (spec 03 section 4.1), as the
 * user's own list has them. Two ranges of the indexes of buckets.
 */
function listed(since: Date, method: string | null, add: AddValue): string {
  const from = `p.user_id IS NOT NULL AND p.created_at >= ${add(since)}::timestamptz`;
  const chosen = method === null ? '' : ` AND p.method = ${add(method)}`;
  return `SELECT p.id, p.created_at, p.method FROM payments p
      WHERE ${from}${chosen} AND ${bucketSql('p')} = 'pending' AND p.method <> 'messenger_stars' AND p.external_id IS NOT NULL
        AND p.purpose IN ('balance_topup', 'recurrent_topup')
    UNION ALL SELECT p.id, p.created_at, p.method FROM payments p
      WHERE ${from}${chosen} AND p.method = 'messenger_stars' AND p.purpose <> 'wheel_spin'`;
}

export async function listPendingOfAll(
  db: Db,
  since: Date,
  method: string | null,
  slice: Slice,
): Promise<{ payments: PaymentOfPayer[]; total: number }> {
  const { values, add } = statementValues();
  const rows = await db.sql<Partial<PaymentOfPayer> & { total: number }>(
    `WITH found AS MATERIALIZED (${listed(since, method, add)}),
     page AS MATERIALIZED (
       SELECT p.id FROM found p ORDER BY ${NEWEST_FIRST} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${ITEM_COLUMNS}, n.total FROM (SELECT count(*)::int AS total FROM found) n LEFT JOIN page ON true
     LEFT JOIN payments p ON p.id = page.id LEFT JOIN users u ON u.id = p.user_id ORDER BY ${NEWEST_FIRST}`,
    values,
  );
  const payments = rows.filter((row): row is PaymentOfPayer & { total: number } => typeof row.id === 'number');
  return { payments, total: rows[0]!.total };
}

export function countPendingByMethod(db: Db, since: Date): Promise<{ method: string; payments: number }[]> {
  const { values, add } = statementValues();
  return db.sql<{ method: string; payments: number }>(
    `SELECT method, count(*)::int AS payments FROM (${listed(since, null, add)}) found GROUP BY method ORDER BY method`,
    values,
  );
}
