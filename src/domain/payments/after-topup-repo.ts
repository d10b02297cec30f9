import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

const TOPUP = columns('Payment', ['id', 'method', 'purpose', 'amountKopeks']);
const PAYER = columns('User', ['balanceKopeks', 'messengerId', 'language']);

/** A credited top-up with what its follow-up steps need. `balanceKopeks` is the payer's balance of now. */
export type CreditedTopup = RowOf<typeof TOPUP> &
  RowOf<typeof PAYER> & {
    userId: number;
    transactionId: number;
    userStatus: string;
    /** Null unless verified. */
    verifiedEmail: string | null;
    /** Names of completed steps. */
    doneSteps: string[];
  };

/** Null for a payment that is not credited. */
export async function findCreditedTopup(db: Db, paymentId: number): Promise<CreditedTopup | null> {
  const [row] = await db.sql<CreditedTopup>(
    `SELECT ${TOPUP.of('p')}, p.user_id, p.transaction_id, ${PAYER.of('u')}, u.status AS user_status,
       CASE WHEN u.email_verified THEN u.email END AS verified_email, coalesce(p.metadata->'done_steps', '[]'::jsonb) AS done_steps
     FROM payments p JOIN users u ON u.id = p.user_id WHERE p.id = $1::int AND p.transaction_id IS NOT NULL`,
    [paymentId],
  );
  return row ?? null;
}

/** Of two transactions that mark the same step, the second waits for the first. @returns false when it was marked before */
export async function markStepDone(db: Db, paymentId: number, step: string): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE payments SET metadata = jsonb_set(metadata, '{done_steps}', coalesce(metadata->'done_steps', '[]'::jsonb) || to_jsonb($2::text))
     WHERE id = $1::int AND NOT coalesce(metadata->'done_steps', '[]'::jsonb) @> to_jsonb($2::text) RETURNING id`,
    [paymentId, step],
  );
  return rows.length > 0;
}
