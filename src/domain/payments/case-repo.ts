import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Language } from '../messaging/texts.ts';
import type { CaseKind, PaymentCase } from './types.ts';

const CASE = columns('PaymentCase', [
  ...(['id', 'kind', 'method', 'reference', 'paymentId', 'userId', 'amountKopeks', 'currency', 'details', 'status'] as const),
  ...(['resolution', 'resolvedBy', 'comment', 'transactionId', 'createdAt', 'resolvedAt'] as const),
]);
type CaseRow = RowOf<typeof CASE>;

export interface CaseDraft
  extends Pick<PaymentCase, 'method' | 'reference' | 'paymentId' | 'userId' | 'amountKopeks' | 'currency'> {
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
