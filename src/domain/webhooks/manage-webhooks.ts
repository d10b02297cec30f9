import { type Actor, actorKey } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { type Changes, givenFields } from '../../core/changes.ts';
import { addMs } from '../../core/clock.ts';
import { columns, plainRow, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { assertAllowedUrl, BlockedAddressError } from '../../core/http/address-guard.ts';
import { isRowId } from '../../core/row-id.ts';
import { KEEP_DELIVERIES_MS } from './rules.ts';
import type { Webhook, WebhookAttempt, WebhookDelivery, WebhookEventType, WebhookStats } from './types.ts';

export const webhookNotFound = refusal('webhook_not_found', 404, 'Webhook not found');
const webhookDeliveryNotFound = refusal('webhook_delivery_not_found', 404, 'Delivery not found');

const PURGE_BATCH = 5_000;

/** A new webhook. The secret is the key of the signatures; null, absent or empty = unsigned. */
export interface WebhookRequest {
  name: string;
  url: string;
  eventType: WebhookEventType;
  secret?: string | null | undefined;
  description?: string | null | undefined;
  /** Whether the request came where the interface has the words of its clients: deliveries have the same words (spec 09 section 3). */
  hasClientWords?: boolean;
}

/** Webhooks, newest first (spec 06 section 3). A page past the end is empty. */
export async function getWebhooks(app: App, filter: WebhookFilter, page: Page): Promise<{ items: Webhook[]; total: number }> {
  const [items, total] = await Promise.all([
    listRows(app.db, filter, page),
    app.db.prisma.webhook.count({ where: givenFields(filter) }),
  ]);
  return { items, total };
}

/** @throws AppError 404 'Webhook not found' */
export async function getWebhook(app: App, webhookId: number): Promise<Webhook> {
  return (await findWebhook(app.db, webhookId)) ?? notFound();
}

/**
 * Creates an active webhook; several may have the same URL. Its address is checked again at every connection.
 * @throws ValidationError 422 for a URL that is not public http or https
 */
export async function createWebhook(app: App, _actor: Actor, request: WebhookRequest): Promise<Webhook> {
  checkUrl(app, request.url);
  const { secret, description = null, ...given } = request;
  const now = app.clock.now();
  const data = { ...given, secret: secret || null, description, createdAt: now, updatedAt: now };
  const made = await app.db.prisma.webhook.create({ data, omit: OMITTED });
  app.audit?.record({ resourceId: made.id, before: null, after: auditFieldsOf(made) });
  return made;
}

/** @throws ValidationError 422 for the URL, AppError 404 'Webhook not found' */
export async function changeWebhook(app: App, _actor: Actor, webhookId: number, changes: WebhookChanges): Promise<Webhook> {
  if (typeof changes.url === 'string') checkUrl(app, changes.url);
  const before = await getWebhook(app, webhookId);
  const after = (await updateWebhook(app.db, webhookId, changes, app.clock.now())) ?? notFound();
  app.audit?.record({ before: auditFieldsOf(before), after: auditFieldsOf(after) });
  return after;
}

/** Deletes the webhook with its deliveries. @throws AppError 404 'Webhook not found' */
export async function deleteWebhook(app: App, _actor: Actor, webhookId: number): Promise<void> {
  const before = await getWebhook(app, webhookId);
  if ((await app.db.prisma.webhook.deleteMany({ where: { id: webhookId } })).count === 0) notFound();
  app.audit?.record({ before: auditFieldsOf(before), after: null });
}

/** Counters of webhooks and of their stored deliveries. */
export async function getWebhookStats(app: App): Promise<WebhookStats> {
  const stats = await readStats(app.db);
  const { totalDeliveries, successfulDeliveries } = stats;
  const successRate = totalDeliveries === 0 ? 0 : Math.round((successfulDeliveries * 10_000) / totalDeliveries) / 100;
  return { ...stats, successRate };
}

/** Deliveries of a webhook, newest first. @throws AppError 404 'Webhook not found' */
export async function getDeliveries(
  app: App,
  webhookId: number,
  status: string | null,
  page: Page,
): Promise<{ items: WebhookDelivery[]; total: number }> {
  await getWebhook(app, webhookId);
  const [items, total] = await Promise.all([
    listDeliveryRows(app.db, webhookId, status, page),
    app.db.prisma.webhookDelivery.count({ where: { webhookId, ...(status !== null && { status }) } }),
  ]);
  return { items, total };
}

/** A delivery with its attempts, the first thousand, oldest first. @throws AppError 404 'Delivery not found' */
export async function getDelivery(app: App, deliveryId: number): Promise<WebhookDelivery & { attempts: WebhookAttempt[] }> {
  const delivery = (await findDelivery(app.db, deliveryId)) ?? deliveryNotFound();
  const attempts = { where: { deliveryId }, orderBy: { id: 'asc' }, take: 1_000, omit: { deliveryId: true } } as const;
  return { ...delivery, attempts: await app.db.prisma.webhookAttempt.findMany(attempts) };
}

/**
 * Sends a stored delivery again, also of a disabled webhook (spec 00, Outside effects). It is sent within a second under the same
 * `webhook-id`; two requests before that send it once. Its failure schedules no further attempt.
 * @returns the delivery before the attempt
 * @throws AppError 404 'Delivery not found'
 */
export async function replayDelivery(app: App, actor: Actor, deliveryId: number): Promise<WebhookDelivery> {
  return inTransaction(app, async (t) => {
    const delivery = (await findDelivery(t.db, deliveryId)) ?? deliveryNotFound();
    // Before the first attempt there is nothing to repeat; the second job is only a safeguard for the first.
    const afterAttempt = delivery.status === 'pending' ? undefined : delivery.attemptNumber;
    await t.jobs.send('webhooks.deliver', { deliveryId, afterAttempt });
    t.log.info({ deliveryId, actor: actorKey(actor) }, 'a webhook delivery is sent again by hand');
    return delivery;
  });
}

/** Deletes deliveries older than 30 days, with their attempts. @returns the number of deliveries */
export async function purgeDeliveries(app: App): Promise<number> {
  const before = addMs(app.clock.now(), -KEEP_DELIVERIES_MS);
  for (let total = 0; ; ) {
    const deleted = await deleteDeliveriesBefore(app.db, before, PURGE_BATCH);
    total += deleted;
    if (deleted < PURGE_BATCH) return total;
  }
}

/** What the audit log records of a webhook. */
const auditFieldsOf = ({ name, url, eventType, isActive, description }: Webhook) => ({
  name,
  url,
  eventType,
  isActive,
  description,
});

function checkUrl(app: App, url: string): void {
  try {
    assertAllowedUrl(url, app.env.webhookAllowedPrivateHosts);
  } catch (error) {
    if (!(error instanceof BlockedAddressError)) throw error;
    const msg = `Value error, ${error.message}`;
    throw new ValidationError([{ loc: ['body', 'url'], type: 'value_error', msg, input: url, ctx: { error: error.message } }]);
  }
}

function notFound(): never {
  throw webhookNotFound();
}

function deliveryNotFound(): never {
  throw webhookDeliveryNotFound();
}

/** Columns that never leave the repository; `WEBHOOK` and `DELIVERY` are the others. */
const OMITTED = { secret: true, failingSince: true, hasClientWords: true } as const;
const OMITTED_OF_DELIVERY = { eventId: true, claimedUntil: true } as const;

const WEBHOOK = columns('Webhook', [
  ...(['id', 'name', 'url', 'eventType', 'isActive', 'description', 'createdAt', 'updatedAt', 'lastTriggeredAt'] as const),
  ...(['failureCount', 'successCount'] as const),
]);
const DELIVERY = columns('WebhookDelivery', [
  ...(['id', 'webhookId', 'eventType', 'payload', 'responseStatus', 'responseBody', 'status', 'errorMessage'] as const),
  ...(['attemptNumber', 'createdAt', 'deliveredAt', 'nextRetryAt'] as const),
]);

interface Page {
  limit: number;
  offset: number;
}

/** Exact values; null or absent = any. */
type WebhookFilter = Changes<Pick<Webhook, 'eventType' | 'isActive'>>;

const WEBHOOK_FILTER = '($1::text IS NULL OR event_type = $1::text) AND ($2::boolean IS NULL OR is_active = $2::boolean)';

function listRows(db: Db, { eventType = null, isActive = null }: WebhookFilter, page: Page): Promise<Webhook[]> {
  return db.sql<Webhook>(
    `SELECT ${WEBHOOK.of()} FROM webhooks WHERE ${WEBHOOK_FILTER} ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [eventType, isActive, page.limit, page.offset],
  );
}

async function findWebhook(db: Db, id: number): Promise<Webhook | null> {
  return isRowId(id) ? db.prisma.webhook.findUnique({ where: { id }, omit: OMITTED }) : null;
}

/** Null and absent = unchanged; an empty secret removes it. */
type WebhookChanges = Changes<Pick<Rows['Webhook'], 'name' | 'url' | 'secret' | 'description' | 'isActive' | 'hasClientWords'>>;

/** Switching a webhook on starts the count of its failing days again. @returns null when there is none */
async function updateWebhook(db: Db, id: number, changes: WebhookChanges, now: Date): Promise<Webhook | null> {
  const { secret, ...given } = givenFields(changes);
  const data = {
    ...given,
    ...(secret !== undefined && { secret: secret || null }),
    ...(given.isActive && { failingSince: null }),
    updatedAt: now,
  };
  const [webhook] = await db.prisma.webhook.updateManyAndReturn({ where: { id }, data, omit: OMITTED });
  return webhook ?? null;
}

async function readStats(db: Db): Promise<Omit<WebhookStats, 'successRate'>> {
  const [row] = await db.sql<Omit<WebhookStats, 'successRate'>>(
    `SELECT w.total AS total_webhooks, w.active AS active_webhooks, d.total AS total_deliveries,
            d.success AS successful_deliveries, d.failed AS failed_deliveries
     FROM (SELECT count(*)::int AS total, (count(*) FILTER (WHERE is_active))::int AS active FROM webhooks) w,
          (SELECT count(*)::int AS total, (count(*) FILTER (WHERE status = 'success'))::int AS success,
                  (count(*) FILTER (WHERE status = 'failed'))::int AS failed FROM webhook_deliveries) d`,
  );
  return row!;
}

const DELIVERY_FILTER = 'webhook_id = $1::bigint AND ($2::text IS NULL OR status = $2::text)';

function listDeliveryRows(db: Db, webhookId: number, status: string | null, page: Page): Promise<WebhookDelivery[]> {
  return db.sql<WebhookDelivery>(
    `SELECT ${DELIVERY.of()} FROM webhook_deliveries WHERE ${DELIVERY_FILTER}
     ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [webhookId, status, page.limit, page.offset],
  );
}

async function findDelivery(db: Db, id: number): Promise<WebhookDelivery | null> {
  if (!isRowId(id)) return null;
  const row = await db.prisma.webhookDelivery.findUnique({ where: { id }, omit: OMITTED_OF_DELIVERY });
  return row && plainRow('WebhookDelivery', row);
}

/** Deletes up to `limit` deliveries created before `before`, with their attempts. @returns the number */
async function deleteDeliveriesBefore(db: Db, before: Date, limit: number): Promise<number> {
  const rows = await db.sql(
    `DELETE FROM webhook_deliveries WHERE id IN (
       SELECT id FROM webhook_deliveries WHERE created_at < $1::timestamptz ORDER BY created_at LIMIT $2::int) RETURNING id`,
    [before, limit],
  );
  return rows.length;
}
