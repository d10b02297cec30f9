import type { Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { claimInvoices } from '../../payments/check-payments.ts';

/** Queries of the jobs of guest purchases; every condition has an index of its own. */

/** Unpaid purchases created before a given time, oldest first. */
export function listOverdue(
  db: Db,
  createdBefore: Date,
  limit: number,
): Promise<Pick<Rows['GuestPurchase'], 'id' | 'paymentId'>[]> {
  return db.prisma.guestPurchase.findMany({
    where: { status: 'pending', createdAt: { lt: createdBefore } },
    select: { id: true, paymentId: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: limit,
  });
}

/** Expires an unpaid purchase; one that was paid meanwhile stays as it is. @returns whether it did */
export async function markExpired(db: Db, id: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET status = 'expired', updated_at = $2::timestamptz WHERE id = $1::int AND status = 'pending' RETURNING id`,
    [id, now],
  );
  return rows.length > 0;
}

/**
 * Claims invoices of unpaid purchases whose provider should be asked, longest unasked first; instances claim different ones.
 * @returns payment ids
 */
export function claimUnpaid(
  db: Db,
  range: { createdAfter: Date; createdBefore: Date; askedBefore: Date; now: Date; limit: number },
): Promise<number[]> {
  const sql = `SELECT y.id FROM guest_purchases p JOIN payments y ON y.id = p.payment_id
    WHERE p.status = 'pending' AND p.created_at BETWEEN $2::timestamptz AND $3::timestamptz AND y.external_id IS NOT NULL
      AND (y.last_checked_at IS NULL OR y.last_checked_at < $4::timestamptz)
    ORDER BY y.last_checked_at NULLS FIRST, p.created_at, p.id LIMIT $5::int FOR UPDATE OF y SKIP LOCKED`;
  const values = [range.createdAfter, range.createdBefore, range.askedBefore, range.limit];
  return claimInvoices(db, { sql, values }, range.now);
}

/** A purchase that a job has claimed for its next try; `retryCount` includes this one. */
export interface DueTry {
  id: number;
  status: 'paid' | 'pending_activation';
  isGranted: boolean;
  retryCount: number;
}

/**
 * Claims purchases whose next try is due and postpones the one after it, so that no other instance claims them too. Of those that
 * wait for an activation only the requested ones are claimed (spec 03 H6).
 */
export async function claimDue(db: Db, now: Date, limit: number): Promise<DueTry[]> {
  return db.sql<DueTry>(
    `UPDATE guest_purchases SET retry_count = retry_count + 1, updated_at = $1::timestamptz,
       next_attempt_at = $1::timestamptz + least(60, 5 * power(2, least(retry_count + 1, 10))) * interval '1 minute'
     WHERE id = ANY(ARRAY(SELECT id FROM guest_purchases
       WHERE next_attempt_at <= $1::timestamptz
         AND (status = 'paid' OR (status = 'pending_activation' AND activation_requested_at IS NOT NULL))
       ORDER BY next_attempt_at, id LIMIT $2::int FOR UPDATE SKIP LOCKED))
     RETURNING id, status, granted_at IS NOT NULL AS is_granted, retry_count`,
    [now, limit],
  );
}

/** Withdraws a request that may not be carried out: the recipient has to sign in and ask again. */
export async function withdrawRequest(db: Db, id: number): Promise<void> {
  await db.sql(
    `UPDATE guest_purchases SET activation_requested_at = NULL, next_attempt_at = NULL, retry_count = 0
     WHERE id = $1::int AND status = 'pending_activation' AND granted_at IS NULL AND NOT is_activation_signed RETURNING id`,
    [id],
  );
}

/** Records why a try failed. */
export async function recordFailure(db: Db, id: number, reason: string): Promise<void> {
  await db.prisma.guestPurchase.updateMany({ where: { id }, data: { lastError: reason.slice(0, 500) } });
}

/** Stops the job's tries; the panel's answer still delivers. @returns false when they had been stopped before */
export async function stopTrying(db: Db, id: number, reason: string): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET next_attempt_at = NULL, last_error = $2 WHERE id = $1::int AND next_attempt_at IS NOT NULL
       AND status IN ('paid', 'pending_activation') RETURNING id`,
    [id, reason.slice(0, 500)],
  );
  return rows.length > 0;
}

/** Deletes credentials that were not fetched in time (spec 03 section 7.2). @returns the number of purchases */
export async function clearOldCredentials(db: Db, limits: { deliveredBefore: Date; paidBefore: Date }): Promise<number> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET cabinet_password = NULL, auto_login_token = NULL
     WHERE (cabinet_password IS NOT NULL OR auto_login_token IS NOT NULL)
       AND (delivered_at < $1::timestamptz OR (delivered_at IS NULL AND paid_at < $2::timestamptz)) RETURNING id`,
    [limits.deliveredBefore, limits.paidBefore],
  );
  return rows.length;
}
