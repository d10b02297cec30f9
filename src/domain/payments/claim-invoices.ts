import type { Db } from '../../core/db/db.ts';

/**
 * Marks invoices as asked, so that no other instance asks their providers now.
 * @param chosen a query of payment ids that locks them; its parameters begin at `$2`
 * @returns ids of the marked invoices
 */
export async function claimInvoices(db: Db, chosen: { sql: string; values: readonly unknown[] }, now: Date): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE payments SET last_checked_at = $1::timestamptz WHERE id IN (${chosen.sql}) RETURNING id`,
    [now, ...chosen.values],
  );
  return rows.map((row) => row.id);
}
