import type { Db } from '../../../core/db/db.ts';

/** What the jobs of guest purchases look for; every condition has an index of its own. */

/** Unpaid purchases past their time, oldest first. */
export async function listOverdue(
  db: Db,
  createdBefore: Date,
  limit: number,
): Promise<{ id: number; paymentId: number | null }[]> {
  return db.sql(
    `SELECT id, payment_id AS "paymentId" FROM guest_purchases WHERE status = 'pending' AND created_at < $1::timestamptz
     ORDER BY created_at, id LIMIT $2::int`,
    [createdBefore, limit],
  );
}

/** Ends an unpaid purchase; one that was paid meanwhile stays as it is. @returns whether it was ended */
export async function markExpired(db: Db, id: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET status = 'expired', updated_at = $2::timestamptz WHERE id = $1::int AND status = 'pending' RETURNING id`,
    [id, now],
  );
  return rows.length > 0;
}

/**
 * Takes unpaid purchases whose provider should be asked, longest unasked first, and marks their invoices as asked: instances share
 * the work. @returns payment ids
 */
export async function claimUnpaid(
  db: Db,
  range: { createdAfter: Date; createdBefore: Date; askedBefore: Date; now: Date; limit: number },
): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE payments SET last_checked_at = $4::timestamptz WHERE id IN (
       SELECT y.id FROM guest_purchases p JOIN payments y ON y.id = p.payment_id
       WHERE p.status = 'pending' AND p.created_at BETWEEN $1::timestamptz AND $2::timestamptz AND y.external_id IS NOT NULL
         AND (y.last_checked_at IS NULL OR y.last_checked_at < $3::timestamptz)
       ORDER BY y.last_checked_at NULLS FIRST, p.created_at, p.id LIMIT $5::int FOR UPDATE OF y SKIP LOCKED)
     RETURNING id`,
    [range.createdAfter, range.createdBefore, range.askedBefore, range.now, range.limit],
  );
  return rows.map((row) => row.id);
}

/** A purchase that a job has taken for its next try; `retryCount` counts this one. */
export interface DueTry {
  id: number;
  status: 'paid' | 'pending_activation';
  isGranted: boolean;
  retryCount: number;
}

/**
 * Takes purchases whose next try is due and puts the one after it off, so that no other instance takes them too. Of those that wait
 * for an activation only the ones somebody asked for (spec 03 H6).
 */
export async function claimDue(db: Db, now: Date, limit: number): Promise<DueTry[]> {
  return db.sql<DueTry>(
    `UPDATE guest_purchases SET retry_count = retry_count + 1, updated_at = $1::timestamptz,
       next_attempt_at = $1::timestamptz + least(60, 5 * power(2, least(retry_count + 1, 10))) * interval '1 minute'
     WHERE id IN (SELECT id FROM guest_purchases
       WHERE next_attempt_at <= $1::timestamptz
         AND (status = 'paid' OR (status = 'pending_activation' AND activation_requested_at IS NOT NULL))
       ORDER BY next_attempt_at, id LIMIT $2::int FOR UPDATE SKIP LOCKED)
     RETURNING id, status, granted_at IS NOT NULL AS "isGranted", retry_count AS "retryCount"`,
    [now, limit],
  );
}

/** The recipient has to ask again, signed in: a wish that nobody may carry out is none. */
export async function withdrawRequest(db: Db, id: number): Promise<void> {
  await db.sql(
    `UPDATE guest_purchases SET activation_requested_at = NULL, next_attempt_at = NULL, retry_count = 0
     WHERE id = $1::int AND status = 'pending_activation' AND granted_at IS NULL AND NOT is_activation_signed RETURNING id`,
    [id],
  );
}

/** Keeps why a try failed, for a person. */
export async function noteTrouble(db: Db, id: number, trouble: string): Promise<void> {
  await db.sql('UPDATE guest_purchases SET last_error = $2 WHERE id = $1::int RETURNING id', [id, trouble.slice(0, 500)]);
}

/** No job tries any more; the panel's answer still delivers. @returns whether it was tried until now */
export async function stopTrying(db: Db, id: number, trouble: string): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET next_attempt_at = NULL, last_error = $2 WHERE id = $1::int AND next_attempt_at IS NOT NULL
       AND status IN ('paid', 'pending_activation') RETURNING id`,
    [id, trouble.slice(0, 500)],
  );
  return rows.length > 0;
}

/** Clears credentials that were not fetched in time (spec 03 section 7.2). */
export async function clearOldCredentials(db: Db, limits: { deliveredBefore: Date; paidBefore: Date }): Promise<number> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET cabinet_password = NULL, auto_login_token = NULL
     WHERE (cabinet_password IS NOT NULL OR auto_login_token IS NOT NULL)
       AND (delivered_at < $1::timestamptz OR (delivered_at IS NULL AND paid_at < $2::timestamptz)) RETURNING id`,
    [limits.deliveredBefore, limits.paidBefore],
  );
  return rows.length;
}
