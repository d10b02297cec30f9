import type { App } from '../../../core/app.ts';
import { csvLine } from '../../../core/csv.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { rublesOf } from '../../../core/money.ts';
import { listPayouts, type Payout } from './payouts-repo.ts';
import type { PayoutFilter } from './types.ts';

const PAGE = 500;

const COLUMNS = [
  ...['request_id', 'status', 'amount_kopeks', 'amount_rubles', 'payment_details', 'user_id', 'messenger_id', 'username'],
  ...['first_name', 'last_name', 'email', 'risk_score', 'created_at', 'processed_at', 'first_approved_by', 'processed_by'],
  ...['admin_comment', 'transaction_id', 'payout_transaction_id'],
];

/**
 * Writes approved and completed requests as CSV (spec 03 section 6), page by page, of one snapshot of the database: a request that is
 * completed meanwhile is neither missing nor written twice.
 * @param write gets the header first, then pages of lines
 * @returns number and sum of the payouts
 */
export function exportPayouts(
  app: App,
  filter: PayoutFilter,
  write: (csv: string) => Promise<void> | void,
): Promise<{ payouts: number; amountKopeks: number }> {
  return inTransaction(app, async (t) => {
    await t.db.sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await write(csvLine(COLUMNS));
    let [payouts, amountKopeks] = [0, 0];
    let last: Payout | null = null;
    do {
      const page: Payout[] = await listPayouts(t.db, filter, last, PAGE);
      if (page.length > 0) await write(page.map(lineOf).join(''));
      payouts += page.length;
      amountKopeks = page.reduce((sum, payout) => sum + payout.amountKopeks, amountKopeks);
      last = page.length < PAGE ? null : page.at(-1)!;
    } while (last !== null);
    return { payouts, amountKopeks };
  });
}

function lineOf(payout: Payout): string {
  return csvLine([
    ...[payout.id, payout.status, payout.amountKopeks, rublesOf(payout.amountKopeks).toFixed(2), payout.paymentDetails],
    ...[payout.userId, payout.messengerId, payout.username, payout.firstName, payout.lastName, payout.email],
    ...[payout.riskScore, payout.createdAt.toISOString(), payout.processedAt.toISOString()],
    ...[payout.firstApprovedBy, payout.processedBy, payout.adminComment, payout.transactionId, payout.payoutTransactionId],
  ]);
}
