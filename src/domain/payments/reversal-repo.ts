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

/** A reversal with what the message to its payer needs; `balanceKopeks` is the balance of now. */
export type ReversalMessage = RowOf<typeof PAYER> & { method: string; debitedKopeks: number; userStatus: string };

/** Claims what follows a reversal. @returns null when it was claimed before; `message` is null when there is nobody to tell */
export async function claimReversal(
  db: Db,
  id: number,
  now: Date,
): Promise<{ paymentId: number; message: ReversalMessage | null } | null> {
  const [row] = await db.sql<Omit<ReversalMessage, 'userStatus'> & { paymentId: number; userStatus: string | null }>(
    `WITH claimed AS (
       UPDATE payment_reversals SET notified_at = $2::timestamptz WHERE id = $1::int AND notified_at IS NULL
       RETURNING method, payment_id, debited_kopeks)
     SELECT c.payment_id, c.method, c.debited_kopeks, ${PAYER.of('u')}, u.status AS user_status
     FROM claimed c JOIN payments p ON p.id = c.payment_id LEFT JOIN users u ON u.id = p.user_id`,
    [id, now],
  );
  if (!row) return null;
  const { paymentId, userStatus, ...rest } = row;
  const message = userStatus === null ? null : { ...rest, userStatus, debitedKopeks: Number(rest.debitedKopeks) };
  return { paymentId, message };
}
