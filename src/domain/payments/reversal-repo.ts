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

/** The payer of a reversal; `balanceKopeks` is the balance of now. */
export type ReversedPayer = RowOf<typeof PAYER> & { userId: number; userStatus: string };

/** A reversal that has taken effect. Amounts are kopeks. */
export interface FollowedReversal {
  paymentId: number;
  method: string;
  amountKopeks: number;
  debitedKopeks: number;
  /** False for money that was credited to nobody: nothing was bought with it. */
  isCredited: boolean;
  /** What the money paid for (`payments.purpose`). */
  purpose: string;
  /** The payment is reversed as a whole. */
  isWhole: boolean;
  /** Null for people without an account. */
  payer: ReversedPayer | null;
}

/** Claims what follows a reversal, in the caller's transaction. @returns null when it was done before */
export async function claimReversal(db: Db, id: number, now: Date): Promise<FollowedReversal | null> {
  const [row] = await db.sql<
    Omit<ReversedPayer, 'userId' | 'userStatus'> & {
      paymentId: number;
      method: string;
      amountKopeks: bigint;
      debitedKopeks: bigint;
      isCredited: boolean;
      purpose: string;
      isWhole: boolean;
      userId: number | null;
      userStatus: string | null;
    }
  >(
    `WITH claimed AS (
       UPDATE payment_reversals SET notified_at = $2::timestamptz WHERE id = $1::int AND notified_at IS NULL AND status = 'done'
       RETURNING method, payment_id, amount_kopeks, debited_kopeks)
     SELECT c.payment_id, c.method, c.amount_kopeks, c.debited_kopeks, p.transaction_id IS NOT NULL AS is_credited,
       p.purpose, p.outcome = 'refunded' AS is_whole, u.id AS user_id, ${PAYER.of('u')}, u.status AS user_status
     FROM claimed c JOIN payments p ON p.id = c.payment_id LEFT JOIN users u ON u.id = p.user_id`,
    [id, now],
  );
  if (!row) return null;
  const { paymentId, method, amountKopeks, debitedKopeks, isCredited, purpose, isWhole, userId, userStatus, ...rest } = row;
  const payer = userId === null || userStatus === null ? null : { ...rest, userId, userStatus };
  const amounts = { amountKopeks: Number(amountKopeks), debitedKopeks: Number(debitedKopeks) };
  return { paymentId, method, ...amounts, isCredited, purpose, isWhole, payer };
}
