import { columns, nestedRow, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { JobTypes } from '../../core/jobs/job-sender.ts';
import type { PaymentReference } from './ports.ts';
import { PAYMENT } from './repo.ts';
import type { Payment } from './types.ts';

/** `eventKey` identifies the event at the provider. */
export interface NewCallback extends Pick<Rows['ProviderCallback'], 'provider' | 'eventKey' | 'body' | 'subpath' | 'headers'> {
  reference: PaymentReference;
  now: Date;
}

/** Queue of the job that processes a callback; its payload is `{ callbackId }`. */
const QUEUE = 'payments.callback' satisfies keyof JobTypes;

/**
 * The statement that stores an event; tests cut sessions at it. A repeat of one that was processed without a credit, more than a minute ago, is
 * processed again: an administrator may have corrected the settings since, and let the provider send it once more.
 */
export const STORE_CALLBACK = `
  WITH stored AS (
    INSERT INTO provider_callbacks (provider, event_key, external_id, body, headers, received_at, order_id, subpath)
    VALUES ($1, $2, $3, $4, $5::jsonb, $6::timestamptz, $8, $9)
    ON CONFLICT (provider, event_key) DO UPDATE SET processed_at = NULL, attempts = 0
      WHERE provider_callbacks.processed_at < $6::timestamptz - interval '1 minute'
        AND provider_callbacks.result NOT IN ('credited', 'already_credited', 'refunded')
    RETURNING id)
  SELECT send_job($7, jsonb_build_object('callbackId', stored.id) || $10::jsonb) AS sent FROM stored`;

/**
 * Stores an event with its job, in one statement; one that is stored and waits, or was credited, gets no second job.
 * @param trace see `JobSender.trace`
 */
export async function insertCallback(db: Db, callback: NewCallback, trace: Readonly<Record<string, string>>): Promise<void> {
  const { provider, eventKey, reference, body, subpath, headers, now } = callback;
  await db.sql(STORE_CALLBACK, [
    ...[provider, eventKey, reference.externalId, body, JSON.stringify(headers), now, QUEUE],
    ...[reference.orderId, subpath, JSON.stringify(trace)],
  ]);
}

export async function isCallbackStored(db: Db, provider: string, eventKey: string): Promise<boolean> {
  const where = { provider_eventKey: { provider, eventKey } };
  return (await db.prisma.providerCallback.findUnique({ where, select: { id: true } })) !== null;
}

const CALLBACK = columns('ProviderCallback', ['id', 'provider', 'body', 'subpath', 'externalId', 'orderId', 'attempts']);

/** `attempts` counts the current one, too. `payment` is the one with the callback's external id or order id; null = none is known by them. */
export type StoredCallback = RowOf<typeof CALLBACK> & { payment: Payment | null };

/** Counts an attempt. @returns null when the callback is processed or unknown */
export async function startCallback(db: Db, id: number): Promise<StoredCallback | null> {
  const [row] = await db.sql<Omit<StoredCallback, 'payment'> & { payment: object | null }>(
    `WITH started AS (
       UPDATE provider_callbacks SET attempts = attempts + 1 WHERE id = $1::int AND processed_at IS NULL
       RETURNING ${CALLBACK.of()})
     SELECT ${CALLBACK.of('started')}, (SELECT row_to_json(known) FROM (
       SELECT ${PAYMENT.of('p')} FROM payments p WHERE p.method = started.provider AND p.external_id = started.external_id
       UNION ALL
       SELECT ${PAYMENT.of('p')} FROM payments p WHERE p.method = started.provider AND p.order_id = started.order_id
       LIMIT 1) known) AS payment
     FROM started`,
    [id],
  );
  return row ? { ...row, payment: nestedRow('Payment', row.payment) } : null;
}

/** Does not count the attempt that `startCallback` has begun. */
export async function putOffCallback(db: Db, id: number): Promise<void> {
  await db.sql('UPDATE provider_callbacks SET attempts = attempts - 1 WHERE id = $1::int AND processed_at IS NULL RETURNING id', [
    id,
  ]);
}

export async function finishCallback(db: Db, id: number, result: string, now: Date): Promise<void> {
  await db.sql('UPDATE provider_callbacks SET processed_at = $2::timestamptz, result = $3 WHERE id = $1::int RETURNING id', [
    id,
    now,
    result,
  ]);
}

const PAYER = columns('User', ['messengerId', 'language', 'status']);

/** Of one invoice; of further attempts the payer is not notified, so that nobody can make the record grow without end. */
const MAX_ATTEMPTS = 20;

/**
 * Marks a failed attempt to pay an open invoice as reported to its payer, in the transaction that sends the message.
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
