import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Language } from '../messaging/texts.ts';
import type { NamedMoney } from './classify-report.ts';
import type { CasePayment } from './open-case.ts';
import type { ProviderReversal } from './ports.ts';

/**
 * What was done with a reversal (prisma/sql/reversals.sql, payment-cases.sql). `known` = it was applied before, requested here, or settled a case;
 * `uncredited` = only the state changed, `changed` and `ambiguous` = nothing was done; `unknown` = it is a case.
 */
export type ReversalOutcome = 'reversed' | 'known' | 'uncredited' | 'changed' | 'ambiguous' | 'unknown';

interface PostedReversal {
  outcome: ReversalOutcome;
  debitedKopeks: number;
  remainderKopeks: number;
}

interface ReversalPosting {
  reversal: ProviderReversal;
  titles: Record<Language, string>;
  now: Date;
}

/** Applies one reversal of the money of a payment with everything that belongs to it, in one statement. Amounts are kopeks. */
export async function postReversal(
  db: Db,
  posting: ReversalPosting & { paymentId: number; seenTransactionId: number | null; named: NamedMoney },
): Promise<PostedReversal> {
  const { paymentId, seenTransactionId, named, reversal, titles, now } = posting;
  return posted(
    await db.sql<PostedRow>(
      `SELECT outcome, debited, remainder
       FROM reverse_reported($1::int, $2::int, $3, $4, $5, $6, $7::bigint, $8::jsonb, $9::timestamptz)`,
      [
        ...[paymentId, seenTransactionId, named.externalId, named.chargeId],
        ...[reversal.reversalId, reversal.kind, reversal.amountKopeks, JSON.stringify(titles), now],
      ],
    ),
  );
}

/** Applies one reversal of other money, in one statement. @param chargeId the money; null = it cannot be told which it is */
export async function postOtherReversal(
  db: Db,
  posting: ReversalPosting & { payment: CasePayment; chargeId: string | null; currency: string | null; details: object },
): Promise<PostedReversal> {
  const { payment, chargeId, reversal, currency, details, titles, now } = posting;
  return posted(
    await db.sql<PostedRow>(
      `SELECT outcome, debited, remainder
       FROM return_charge($1, $2, $3::int, $4::int, $5, $6, $7::bigint, $8, $9::jsonb, $10::jsonb, $11::timestamptz)`,
      [
        ...[payment.method, chargeId, payment.id, payment.userId, reversal.reversalId, reversal.kind, reversal.amountKopeks],
        ...[currency, JSON.stringify(details), JSON.stringify(titles), now],
      ],
    ),
  );
}

type PostedRow = { outcome: ReversalOutcome; debited: bigint; remainder: bigint };

const posted = ([row]: readonly PostedRow[]): PostedReversal => ({
  outcome: row!.outcome,
  debitedKopeks: Number(row!.debited),
  remainderKopeks: Number(row!.remainder),
});

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
       RETURNING method, payment_id, charge_id, amount_kopeks, debited_kopeks)
     SELECT c.payment_id, c.method, c.amount_kopeks, c.debited_kopeks, 
       p.transaction_id IS NOT NULL AND coalesce(c.charge_id = p.charge_id, true) AS is_credited,
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
