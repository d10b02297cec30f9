import { columns, plainRow, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

/** Clocks of instances may differ by this much; a job that comes this early counts as due. */
const EARLY = "interval '1 second'";

const CLAIMED = columns('WebhookDelivery', ['webhookId', 'eventType', 'payload', 'status', 'attemptNumber', 'nextRetryAt']);

/** A delivery that only this worker may send until `claimedUntil`. */
export type DeliveryClaim = RowOf<typeof CLAIMED> &
  Pick<Rows['Webhook'], 'url' | 'secret' | 'isActive' | 'hasClientWords'> & {
    deliveryId: number;
    /** Identifies the claim when the result is written. */
    claimedUntil: Date;
  };

interface ClaimRequest {
  deliveryId: number;
  /** A replay by hand: the attempt after this one; null = the scheduled attempt. */
  afterAttempt: number | null;
  now: Date;
  claimedUntil: Date;
}

/**
 * Claims the delivery when it is due and no other worker has a claim. One conditional update: of two workers the second waits for the
 * row, finds the first one's claim and gets null.
 */
export async function claimDelivery(db: Db, request: ClaimRequest): Promise<DeliveryClaim | null> {
  const [row] = await db.sql<DeliveryClaim>(
    `UPDATE webhook_deliveries d SET claimed_until = $4::timestamptz FROM webhooks w
     WHERE d.id = $1::bigint AND w.id = d.webhook_id AND (d.claimed_until IS NULL OR d.claimed_until <= $3::timestamptz)
       AND CASE WHEN $2::int IS NULL
         THEN d.status = 'pending' OR (d.status = 'failed' AND d.next_retry_at <= $3::timestamptz + ${EARLY})
         ELSE d.status <> 'pending' AND d.attempt_number = $2::int END
     RETURNING d.id AS delivery_id, ${CLAIMED.of('d')}, d.claimed_until, w.url, w.secret, w.is_active, w.has_client_words`,
    [request.deliveryId, request.afterAttempt, request.now, request.claimedUntil],
  );
  return row ?? null;
}

export type WaitingDelivery = Pick<Rows['WebhookDelivery'], 'status' | 'attemptNumber' | 'nextRetryAt' | 'claimedUntil'>;

export async function findWaitingDelivery(db: Db, id: number): Promise<WaitingDelivery | null> {
  const select = { status: true, attemptNumber: true, nextRetryAt: true, claimedUntil: true } as const;
  const row = await db.prisma.webhookDelivery.findUnique({ where: { id }, select });
  return row && plainRow('WebhookDelivery', row);
}

/** The webhook of a delivery; null = deleted. */
export async function findWebhookOfDelivery(db: Db, id: number): Promise<number | null> {
  const row = await db.prisma.webhookDelivery.findUnique({ where: { id }, select: { webhookId: true } });
  return row?.webhookId ?? null;
}

/** Locks the webhook before its delivery, as the deletion of a webhook does; new deliveries can still be inserted. */
export async function lockWebhook(db: Db, webhookId: number): Promise<void> {
  await db.sql('SELECT id FROM webhooks WHERE id = $1::int FOR NO KEY UPDATE', [webhookId]);
}

export type DeliveryResult = Pick<
  Rows['WebhookDelivery'],
  'status' | 'responseStatus' | 'responseBody' | 'errorMessage' | 'attemptNumber' | 'deliveredAt' | 'nextRetryAt'
>;

/** Locks the delivery. @returns false when the claim had run out and another worker took over */
export async function lockClaimed(db: Db, claim: DeliveryClaim): Promise<boolean> {
  const rows = await db.sql(
    'SELECT id FROM webhook_deliveries WHERE id = $1::int AND claimed_until = $2::timestamptz FOR UPDATE',
    [claim.deliveryId, claim.claimedUntil],
  );
  return rows.length > 0;
}

/** Writes the result and ends the claim. */
export async function finishDelivery(db: Db, id: number, result: DeliveryResult): Promise<void> {
  await db.prisma.webhookDelivery.update({ where: { id }, data: { ...result, claimedUntil: null }, select: { id: true } });
}

/** Counts one more attempt and ends the claim: a failed replay leaves an earlier success a success. */
export async function countAttemptOnly(db: Db, id: number, attemptNumber: number): Promise<void> {
  await db.prisma.webhookDelivery.update({ where: { id }, data: { attemptNumber, claimedUntil: null }, select: { id: true } });
}

/** Ends the attempts; the result of the last one stays. */
export async function abandonDelivery(db: Db, claim: DeliveryClaim, reason: string): Promise<void> {
  await db.sql(
    `UPDATE webhook_deliveries SET status = 'failed', next_retry_at = NULL, claimed_until = NULL,
       error_message = coalesce(error_message, $3::text)
     WHERE id = $1::int AND claimed_until = $2::timestamptz RETURNING id`,
    [claim.deliveryId, claim.claimedUntil, reason],
  );
}

export type NewAttempt = Omit<Rows['WebhookAttempt'], 'id'>;

export async function insertAttempt(db: Db, attempt: NewAttempt): Promise<void> {
  await db.prisma.webhookAttempt.create({ data: attempt, select: { id: true } });
}

/** Counts a successful attempt; `addSuccess` when it is the delivery's first success. */
export async function countSuccess(db: Db, webhookId: number, addSuccess: boolean, now: Date): Promise<void> {
  await db.sql(
    `UPDATE webhooks SET last_triggered_at = $3::timestamptz, failing_since = NULL, success_count = success_count + $2::int
     WHERE id = $1::int RETURNING id`,
    [webhookId, addSuccess ? 1 : 0, now],
  );
}

interface FailedWebhook {
  wasActive: boolean;
  isActive: boolean;
  name: string;
}

interface FailedAttempt {
  webhookId: number;
  addFailure: boolean;
  /** Disable the webhook at once. */
  isGone: boolean;
  now: Date;
  /** Disable a webhook that has failed without a success since this time or longer. */
  disableBefore: Date;
}

/** Counts a failed attempt and disables the webhook where it is time. @returns whether the webhook was and is active */
export async function countFailure(db: Db, attempt: FailedAttempt): Promise<FailedWebhook> {
  const [row] = await db.sql<FailedWebhook>(
    `WITH before AS (SELECT id, is_active FROM webhooks WHERE id = $1::int)
     UPDATE webhooks w SET last_triggered_at = $4::timestamptz, failure_count = w.failure_count + $2::int,
       failing_since = coalesce(w.failing_since, $4::timestamptz),
       is_active = w.is_active AND NOT $3::boolean AND NOT coalesce(w.failing_since <= $5::timestamptz, false)
     FROM before WHERE w.id = before.id RETURNING before.is_active AS was_active, w.is_active, w.name`,
    [attempt.webhookId, attempt.addFailure ? 1 : 0, attempt.isGone, attempt.now, attempt.disableBefore],
  );
  return row ?? { wasActive: false, isActive: false, name: '' };
}
