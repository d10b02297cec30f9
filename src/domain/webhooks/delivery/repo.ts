import type { Db } from '../../../core/db/db.ts';
import type { DeliveryStatus } from '../types.ts';

/** Clocks of instances may differ by so much; a job that comes this much early counts as due. */
const EARLY = "interval '1 second'";

/** A delivery that this worker alone may send until `claimedUntil`. */
export interface DeliveryClaim {
  deliveryId: number;
  webhookId: number;
  eventType: string;
  payload: Record<string, unknown>;
  status: DeliveryStatus;
  attemptNumber: number;
  nextRetryAt: Date | null;
  url: string;
  secret: string | null;
  isActive: boolean;
  /** Also the mark that the claim is still ours when the result is written. */
  claimedUntil: Date;
}

interface ClaimRequest {
  deliveryId: number;
  /** A replay by hand: the attempt after this one; null = the scheduled attempt. */
  afterAttempt: number | null;
  now: Date;
  claimedUntil: Date;
}

/**
 * Takes the delivery when it is due and nobody else has it. One conditional update: of two workers the second waits for the
 * row, sees the first one's claim and gets null.
 */
export async function claimDelivery(db: Db, request: ClaimRequest): Promise<DeliveryClaim | null> {
  const [row] = await db.sql<DeliveryClaim>(
    `UPDATE webhook_deliveries d SET claimed_until = $4::timestamptz FROM webhooks w
     WHERE d.id = $1::bigint AND w.id = d.webhook_id AND (d.claimed_until IS NULL OR d.claimed_until <= $3::timestamptz)
       AND CASE WHEN $2::int IS NULL
         THEN d.status = 'pending' OR (d.status = 'failed' AND d.next_retry_at <= $3::timestamptz + ${EARLY})
         ELSE d.status <> 'pending' AND d.attempt_number = $2::int END
     RETURNING d.id AS "deliveryId", d.webhook_id AS "webhookId", d.event_type AS "eventType", d.payload, d.status,
       d.attempt_number AS "attemptNumber", d.next_retry_at AS "nextRetryAt", w.url, w.secret, w.is_active AS "isActive",
       d.claimed_until AS "claimedUntil"`,
    [request.deliveryId, request.afterAttempt, request.now, request.claimedUntil],
  );
  return row ?? null;
}

export interface WaitingDelivery {
  status: DeliveryStatus;
  attemptNumber: number;
  nextRetryAt: Date | null;
  claimedUntil: Date | null;
}

export async function findWaitingDelivery(db: Db, deliveryId: number): Promise<WaitingDelivery | null> {
  const [row] = await db.sql<WaitingDelivery>(
    `SELECT status, attempt_number AS "attemptNumber", next_retry_at AS "nextRetryAt", claimed_until AS "claimedUntil"
     FROM webhook_deliveries WHERE id = $1::bigint`,
    [deliveryId],
  );
  return row ?? null;
}

/** Which webhook a delivery is for; null = deleted. */
export async function findWebhookOfDelivery(db: Db, deliveryId: number): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>('SELECT webhook_id AS id FROM webhook_deliveries WHERE id = $1::bigint', [
    deliveryId,
  ]);
  return row?.id ?? null;
}

/** Webhook before delivery, as the deletion of a webhook takes them; the weak lock lets new deliveries in. */
export async function lockWebhook(db: Db, webhookId: number): Promise<void> {
  await db.sql('SELECT id FROM webhooks WHERE id = $1::int FOR NO KEY UPDATE', [webhookId]);
}

export interface DeliveryResult {
  status: DeliveryStatus;
  responseStatus: number | null;
  responseBody: string | null;
  errorMessage: string | null;
  attemptNumber: number;
  deliveredAt: Date | null;
  nextRetryAt: Date | null;
}

/** Locks the delivery. @returns false when the claim had run out and another worker took over */
export async function lockClaimed(db: Db, claim: DeliveryClaim): Promise<boolean> {
  const rows = await db.sql(
    'SELECT id FROM webhook_deliveries WHERE id = $1::int AND claimed_until = $2::timestamptz FOR UPDATE',
    [claim.deliveryId, claim.claimedUntil],
  );
  return rows.length > 0;
}

/** Writes the result and gives the claim back. */
export async function finishDelivery(db: Db, deliveryId: number, result: DeliveryResult): Promise<void> {
  await db.sql(
    `UPDATE webhook_deliveries SET status = $2, response_status = $3::int, response_body = $4::text, error_message = $5::text,
       attempt_number = $6::int, delivered_at = $7::timestamptz, next_retry_at = $8::timestamptz, claimed_until = NULL
     WHERE id = $1::int RETURNING id`,
    [
      deliveryId,
      result.status,
      result.responseStatus,
      result.responseBody,
      result.errorMessage,
      result.attemptNumber,
      result.deliveredAt,
      result.nextRetryAt,
    ],
  );
}

/** Gives the claim back and notes only that there was one more attempt: a replay that failed does not undo a success. */
export async function countAttemptOnly(db: Db, deliveryId: number, attemptNumber: number): Promise<void> {
  await db.sql('UPDATE webhook_deliveries SET attempt_number = $2::int, claimed_until = NULL WHERE id = $1::int RETURNING id', [
    deliveryId,
    attemptNumber,
  ]);
}

/** No further attempt; what the last one brought stays. */
export async function abandonDelivery(db: Db, claim: DeliveryClaim, reason: string): Promise<void> {
  await db.sql(
    `UPDATE webhook_deliveries SET status = 'failed', next_retry_at = NULL, claimed_until = NULL,
       error_message = coalesce(error_message, $3::text)
     WHERE id = $1::int AND claimed_until = $2::timestamptz RETURNING id`,
    [claim.deliveryId, claim.claimedUntil, reason],
  );
}

export interface NewAttempt {
  deliveryId: number;
  attemptNumber: number;
  responseStatus: number | null;
  responseBody: string | null;
  errorMessage: string | null;
  durationMs: number;
  now: Date;
}

export async function insertAttempt(db: Db, attempt: NewAttempt): Promise<void> {
  await db.sql(
    `INSERT INTO webhook_attempts (delivery_id, attempt_number, response_status, response_body, error_message, duration_ms, created_at)
     VALUES ($1::int, $2::int, $3::int, $4::text, $5::text, $6::int, $7::timestamptz) RETURNING id`,
    [
      attempt.deliveryId,
      attempt.attemptNumber,
      attempt.responseStatus,
      attempt.responseBody,
      attempt.errorMessage,
      attempt.durationMs,
      attempt.now,
    ],
  );
}

/** Counts an arrived attempt; `addSuccess` when the delivery had not arrived before. */
export async function noteSuccess(db: Db, webhookId: number, addSuccess: boolean, now: Date): Promise<void> {
  await db.sql(
    `UPDATE webhooks SET last_triggered_at = $3::timestamptz, failing_since = NULL, success_count = success_count + $2::int
     WHERE id = $1::int RETURNING id`,
    [webhookId, addSuccess ? 1 : 0, now],
  );
}

interface FailureNote {
  webhookId: number;
  addFailure: boolean;
  /** Switch off at once. */
  isGone: boolean;
  now: Date;
  /** Switch off a webhook whose unbroken failures began at this moment or before. */
  disableBefore: Date;
}

/** Counts a failed attempt and switches the webhook off where it is time. @returns whether the webhook was on before and is on now */
export async function noteFailure(db: Db, note: FailureNote): Promise<{ wasActive: boolean; isActive: boolean }> {
  const [row] = await db.sql<{ wasActive: boolean; isActive: boolean }>(
    `WITH before AS (SELECT id, is_active FROM webhooks WHERE id = $1::int)
     UPDATE webhooks w SET last_triggered_at = $4::timestamptz, failure_count = w.failure_count + $2::int,
       failing_since = coalesce(w.failing_since, $4::timestamptz),
       is_active = w.is_active AND NOT $3::boolean AND NOT coalesce(w.failing_since <= $5::timestamptz, false)
     FROM before WHERE w.id = before.id RETURNING before.is_active AS "wasActive", w.is_active AS "isActive"`,
    [note.webhookId, note.addFailure ? 1 : 0, note.isGone, note.now, note.disableBefore],
  );
  return row ?? { wasActive: false, isActive: false };
}
