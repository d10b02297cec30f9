import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { CaseKind, PaymentCase } from './types.ts';

const CASE = columns('PaymentCase', [
  ...(['id', 'kind', 'method', 'reference', 'paymentId', 'userId', 'amountKopeks', 'currency', 'details', 'status'] as const),
  ...(['resolution', 'resolvedBy', 'comment', 'transactionId', 'createdAt', 'resolvedAt'] as const),
]);
type CaseRow = RowOf<typeof CASE>;

export interface CaseDraft
  extends Pick<PaymentCase, 'method' | 'reference' | 'paymentId' | 'userId' | 'amountKopeks' | 'currency'> {
  kind: CaseKind;
  details: Readonly<Record<string, unknown>>;
  now: Date;
}

/** Opens a case with the job that tells the administrators, in one statement. @returns its id; null when it is known */
export async function insertCase(db: Db, draft: CaseDraft): Promise<number | null> {
  const [row] = await db.sql<{ id: number | null }>(
    'SELECT open_payment_case($1, $2, $3, $4::int, $5::int, $6::bigint, $7, $8::jsonb, $9::timestamptz) AS id',
    [
      ...[draft.kind, draft.method, draft.reference, draft.paymentId, draft.userId, draft.amountKopeks, draft.currency],
      ...[JSON.stringify(draft.details), draft.now],
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
