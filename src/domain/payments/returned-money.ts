import type { App } from '../../core/app.ts';

/** What went back of the money of a payment. `waiting` = the provider was asked for a refund and has not answered. */
export type ReturnedMoney = 'none' | 'part' | 'whole' | 'waiting';

/**
 * What went back of a payment, with its row locked for share, so that no refund is requested and no reversal applied until the end of the
 * caller's transaction. Lock it before the row of what it paid for (docs/database.md, Locks and their order).
 */
export async function lockReturnedMoney(t: App, paymentId: number): Promise<ReturnedMoney> {
  await t.db.sql('SELECT id FROM payments WHERE id = $1::int FOR SHARE', [paymentId]);
  // A statement of its own: it sees what was committed while the lock was waited for.
  const [row] = await t.db.sql<{ returned: ReturnedMoney }>(
    `SELECT CASE WHEN p.outcome = 'refunded' THEN 'whole' WHEN r.waiting THEN 'waiting' WHEN r.done THEN 'part' ELSE 'none' END AS returned
     FROM payments p CROSS JOIN LATERAL (
       SELECT coalesce(bool_or(v.status = 'requested'), false) AS waiting, coalesce(bool_or(v.status = 'done'), false) AS done
       FROM payment_reversals v WHERE v.payment_id = p.id) r
     WHERE p.id = $1::int`,
    [paymentId],
  );
  return row?.returned ?? 'none';
}
