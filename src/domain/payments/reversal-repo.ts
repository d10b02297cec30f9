import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Language } from '../messaging/texts.ts';
import type { NamedMoney } from './classify-report.ts';
import type { CasePayment } from './open-case.ts';
import type { ProviderReversal } from './ports.ts';
import type { CaseKind, PaymentCase } from './types.ts';

/**
 * What was done with a reversal (prisma/sql/reversals.sql, payment-cases.sql). `known` = it was applied before, requested here, or settled a case;
 * `uncredited` = only the state changed, `changed` and `ambiguous` = nothing was done; `unknown` = it is a case.
 */
type ReversalOutcome = 'reversed' | 'known' | 'uncredited' | 'changed' | 'ambiguous' | 'unknown';

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

/** Applies one reversal of other money, in one statement. @param chargeId the money; null = it cannot be determined which it is */
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

const CASE = columns('PaymentCase', [
  ...(['id', 'kind', 'method', 'reference', 'paymentId', 'userId', 'amountKopeks', 'currency', 'details', 'status'] as const),
  ...(['resolution', 'resolvedBy', 'comment', 'transactionId', 'createdAt', 'resolvedAt'] as const),
]);
type CaseRow = RowOf<typeof CASE>;

interface CaseDraft extends Pick<PaymentCase, 'method' | 'reference' | 'paymentId' | 'userId' | 'amountKopeks' | 'currency'> {
  chargeId: string | null;
  kind: CaseKind;
  details: Readonly<Record<string, unknown>>;
  now: Date;
}

/** Opens a case with the job that tells the administrators, in one statement. @returns its id; null when it is known */
export async function insertCase(db: Db, draft: CaseDraft): Promise<number | null> {
  const [row] = await db.sql<{ id: number | null }>(
    'SELECT open_payment_case($1, $2, $3, $4::int, $5::int, $6::bigint, $7, $8::jsonb, $9::timestamptz, $10) AS id',
    [
      ...[draft.kind, draft.method, draft.reference, draft.paymentId, draft.userId, draft.amountKopeks, draft.currency],
      ...[JSON.stringify(draft.details), draft.now, draft.chargeId],
    ],
  );
  return row!.id;
}

export async function findCase(db: Db, id: number): Promise<PaymentCase | null> {
  const [row] = await db.sql<CaseRow>(`SELECT ${CASE.of()} FROM payment_cases WHERE id = $1::int`, [id]);
  return row ?? null;
}

/** Claims the notice about a case. @returns false when it was sent before, or the case is resolved */
export async function claimNotice(db: Db, id: number, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE payment_cases SET notified_at = $2::timestamptz WHERE id = $1::int AND notified_at IS NULL AND status = 'open' RETURNING id`,
    [id, now],
  );
  return rows.length > 0;
}

/** `status` null = any. Open cases are listed oldest first, others newest first. */
export async function listCaseRows(
  db: Db,
  status: PaymentCase['status'] | null,
  limit: number,
  offset: number,
): Promise<{ cases: PaymentCase[]; total: number }> {
  const order = status === 'open' ? 'created_at, id' : 'created_at DESC, id DESC';
  const [cases, [count]] = await Promise.all([
    db.sql<CaseRow>(
      `SELECT ${CASE.of()} FROM payment_cases WHERE $1::text IS NULL OR status = $1::text ORDER BY ${order} LIMIT $2::int OFFSET $3::bigint`,
      [status, limit, offset],
    ),
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM payment_cases WHERE $1::text IS NULL OR status = $1::text', [
      status,
    ]),
  ]);
  return { cases, total: count!.total };
}

/** Open cases: how many, and since when the oldest waits. */
export async function countOpenCases(db: Db): Promise<{ open: number; oldest: Date | null }> {
  const [row] = await db.sql<{ open: number; oldest: Date | null }>(
    "SELECT count(*)::int AS open, min(created_at) AS oldest FROM payment_cases WHERE status = 'open'",
  );
  return row!;
}

/** What a decision did. Only `done` has written anything. */
export type DecisionOutcome = 'done' | 'no_user' | 'unknown' | 'resolved' | 'credited' | 'reversed' | 'refunding';

interface Decision {
  caseId: number;
  resolvedBy: string;
  comment: string | null;
  now: Date;
}

/** Credits the money of a case to a user, in one statement (prisma/sql/payment-cases.sql). */
export async function creditCase(
  db: Db,
  { caseId, resolvedBy, comment, now }: Decision,
  credit: {
    userId: number;
    kopeks: number;
    titles: Record<Language, string>;
    reversalTitles: Record<Language, string>;
    methodName: string;
  },
): Promise<{ outcome: DecisionOutcome; transactionId: number | null }> {
  const [row] = await db.sql<{ outcome: DecisionOutcome; transactionId: number | null }>(
    'SELECT outcome, transaction_id FROM credit_payment_case($1::int, $2::int, $3::bigint, $4::jsonb, $5, $6, $7, $8::timestamptz, $9::jsonb)',
    [
      ...[caseId, credit.userId, credit.kopeks, JSON.stringify(credit.titles), credit.methodName, resolvedBy, comment, now],
      JSON.stringify(credit.reversalTitles),
    ],
  );
  return row!;
}

export async function closeCase(
  db: Db,
  resolution: 'refund' | 'ignore',
  { caseId, resolvedBy, comment, now }: Decision,
): Promise<DecisionOutcome> {
  const [row] = await db.sql<{ outcome: DecisionOutcome }>(
    'SELECT close_payment_case($1::int, $2, $3, $4, $5::timestamptz) AS outcome',
    [caseId, resolution, resolvedBy, comment, now],
  );
  return row!.outcome;
}
