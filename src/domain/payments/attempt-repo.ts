import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

const PAYER = columns('User', ['messengerId', 'language', 'status']);

/** Of one invoice; further attempts are not told, so that nobody can make the record grow without end. */
const MAX_ATTEMPTS = 20;

/**
 * Marks a failed attempt to pay an open invoice as told to its payer, in the transaction that sends the message.
 * @returns the payer; null when it was marked before, the invoice is credited, or the payer has no account
 */
export async function claimAttempt(db: Db, paymentId: number, attemptId: string): Promise<RowOf<typeof PAYER> | null> {
  const [row] = await db.sql<RowOf<typeof PAYER>>(
    `WITH known AS (
       SELECT id, coalesce(metadata -> 'failedAttempts', '[]'::jsonb) AS attempts FROM payments WHERE id = $1::int FOR UPDATE),
     marked AS (
       UPDATE payments p SET metadata = p.metadata || jsonb_build_object('failedAttempts', k.attempts || to_jsonb($2::text))
       FROM known k WHERE p.id = k.id AND p.transaction_id IS NULL AND NOT k.attempts ? $2 AND jsonb_array_length(k.attempts) < $3::int
       RETURNING p.user_id)
     SELECT ${PAYER.of('u')} FROM marked m JOIN users u ON u.id = m.user_id`,
    [paymentId, attemptId, MAX_ATTEMPTS],
  );
  return row ?? null;
}
