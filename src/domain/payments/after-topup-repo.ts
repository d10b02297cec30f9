import type { Db } from '../../core/db/db.ts';

/** A credited top-up as its follow-up steps see it. */
export interface CreditedTopup {
  paymentId: number;
  userId: number;
  method: string;
  purpose: string;
  amountKopeks: number;
  transactionId: number;
  /** The payer's balance now. */
  balanceKopeks: number;
  userStatus: string;
  messengerId: number | null;
  /** Null unless verified. */
  verifiedEmail: string | null;
  language: string;
  /** Names of steps that are done. */
  doneSteps: string[];
}

/** Null for a payment that is not credited. */
export async function findCreditedTopup(db: Db, paymentId: number): Promise<CreditedTopup | null> {
  const [row] = await db.sql<{
    id: number;
    userId: number;
    method: string;
    purpose: string;
    amountKopeks: number;
    transactionId: number;
    balanceKopeks: number;
    userStatus: string;
    messengerId: number | null;
    verifiedEmail: string | null;
    language: string;
    doneSteps: string[] | null;
  }>(
    `SELECT p.id, p.user_id, p.method, p.purpose, p.amount_kopeks, p.transaction_id, u.balance_kopeks, u.status AS user_status,
       u.messenger_id, CASE WHEN u.email_verified THEN u.email END AS verified_email, u.language, p.metadata->'done_steps' AS done_steps
     FROM payments p JOIN users u ON u.id = p.user_id WHERE p.id = $1::int AND p.transaction_id IS NOT NULL`,
    [paymentId],
  );
  if (!row) return null;
  return {
    paymentId: row.id,
    userId: row.userId,
    method: row.method,
    purpose: row.purpose,
    amountKopeks: row.amountKopeks,
    transactionId: row.transactionId,
    balanceKopeks: row.balanceKopeks,
    userStatus: row.userStatus,
    messengerId: row.messengerId,
    verifiedEmail: row.verifiedEmail,
    language: row.language,
    doneSteps: row.doneSteps ?? [],
  };
}

/** Of two transactions that mark the same step at once, the second waits for the first. @returns false when it was marked before */
export async function markStepDone(db: Db, paymentId: number, step: string): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE payments SET metadata = jsonb_set(metadata, '{done_steps}', coalesce(metadata->'done_steps', '[]'::jsonb) || to_jsonb($2::text))
     WHERE id = $1::int AND NOT coalesce(metadata->'done_steps', '[]'::jsonb) @> to_jsonb($2::text) RETURNING id`,
    [paymentId, step],
  );
  return rows.length > 0;
}
