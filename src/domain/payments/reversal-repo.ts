import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Language } from '../messaging/texts.ts';
import type { ProviderReversal } from './ports.ts';

/** What `reverse_payment()` did; `known` = this reversal was applied before or requested here, `uncredited` = only the state changed. */
export type ReversalOutcome = 'reversed' | 'known' | 'uncredited' | 'unknown';

/** Applies one reversal with everything that belongs to it, in one statement (prisma/sql/reversals.sql). Amounts are kopeks. */
export async function postReversal(
  db: Db,
  options: { paymentId: number; reversal: ProviderReversal; titles: Record<Language, string>; now: Date },
): Promise<{ outcome: ReversalOutcome; debitedKopeks: number; remainderKopeks: number }> {
  const { paymentId, reversal, titles, now } = options;
  const [row] = await db.sql<{ outcome: ReversalOutcome; debited: bigint; remainder: bigint }>(
    'SELECT outcome, debited, remainder FROM reverse_payment($1::int, $2, $3, $4::bigint, $5::jsonb, $6::timestamptz)',
    [paymentId, reversal.reversalId, reversal.kind, reversal.amountKopeks, JSON.stringify(titles), now],
  );
  return { outcome: row!.outcome, debitedKopeks: Number(row!.debited), remainderKopeks: Number(row!.remainder) };
}

const PAYER = columns('User', ['balanceKopeks', 'messengerId', 'language']);

/** A reversal that has taken effect, with what follows it; `balanceKopeks` is the balance of now. Amounts are kopeks. */
export type FollowedReversal = RowOf<typeof PAYER> & {
  method: string;
  userId: number;
  amountKopeks: number;
  debitedKopeks: number;
  userStatus: string;
};

/** Claims what follows a reversal, in the caller's transaction. @returns null when it was done before, or the payer has no account */
export async function claimReversal(db: Db, id: number, now: Date): Promise<FollowedReversal | null> {
  const [row] = await db.sql<FollowedReversal>(
    `WITH claimed AS (
       UPDATE payment_reversals SET notified_at = $2::timestamptz WHERE id = $1::int AND notified_at IS NULL AND status = 'done'
       RETURNING method, payment_id, amount_kopeks, debited_kopeks)
     SELECT c.method, p.user_id, c.amount_kopeks, c.debited_kopeks, ${PAYER.of('u')}, u.status AS user_status
     FROM claimed c JOIN payments p ON p.id = c.payment_id JOIN users u ON u.id = p.user_id`,
    [id, now],
  );
  return row ? { ...row, amountKopeks: Number(row.amountKopeks), debitedKopeks: Number(row.debitedKopeks) } : null;
}
