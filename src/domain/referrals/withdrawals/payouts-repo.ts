import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { PayoutFilter } from './types.ts';

const PAYOUT = columns('WithdrawalRequest', [
  ...(['id', 'userId', 'amountKopeks', 'status', 'paymentDetails', 'riskScore', 'firstApprovedBy', 'processedBy'] as const),
  ...(['createdAt', 'adminComment', 'transactionId', 'payoutTransactionId'] as const),
]);
const USER = columns('User', ['messengerId', 'username', 'firstName', 'lastName', 'email']);

/** A request that is to be paid out, or was. */
export type Payout = RowOf<typeof PAYOUT> & RowOf<typeof USER> & { processedAt: Date };

/** The payouts after a known one, in the order of their dates. The conditions are those of the partial index. */
export function listPayouts(
  db: Db,
  { from, to, status }: PayoutFilter,
  after: { processedAt: Date; id: number } | null,
  limit: number,
): Promise<Payout[]> {
  return db.sql<Payout>(
    `SELECT ${PAYOUT.of('w')}, w.processed_at, ${USER.of('u')}
     FROM withdrawal_requests w JOIN users u ON u.id = w.user_id
     WHERE w.status IN ('approved', 'completed') AND ($3::text IS NULL OR w.status = $3::text)
       AND (w.processed_at, w.id) > ($4::timestamptz, $5::int) AND w.processed_at >= $1::timestamptz AND w.processed_at < $2::timestamptz
     ORDER BY w.processed_at, w.id LIMIT $6::int`,
    [from, to, status, after?.processedAt ?? from, after?.id ?? 0, limit],
  );
}
