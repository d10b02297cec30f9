import type { Actor } from '../../core/actor.ts';
import { actorKey } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { assertAllowedUrl, BlockedAddressError } from '../../core/http/address-guard.ts';
import {
  countDeliveries,
  countWebhooks,
  deleteDeliveriesBefore,
  deleteWebhook as deleteWebhookRow,
  findDelivery,
  findWebhook,
  insertWebhook,
  listAttempts,
  listDeliveries,
  listWebhooks,
  type Page,
  readStats,
  updateWebhook,
  type WebhookChanges,
  type WebhookFilter,
} from './repo.ts';
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
}

/** Webhooks, newest first (spec 06 section 3). A page past the end is empty. */
export async function getWebhooks(app: App, filter: WebhookFilter, page: Page): Promise<{ items: Webhook[]; total: number }> {
  const [items, total] = await Promise.all([listWebhooks(app.db, filter, page), countWebhooks(app.db, filter)]);
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
  const made = await insertWebhook(app.db, { ...request, secret: request.secret || null }, app.clock.now());
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
  if (!(await deleteWebhookRow(app.db, webhookId))) notFound();
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
    listDeliveries(app.db, webhookId, status, page),
    countDeliveries(app.db, webhookId, status),
  ]);
  return { items, total };
}

/** A delivery with every attempt made so far. @throws AppError 404 'Delivery not found' */
export async function getDelivery(app: App, deliveryId: number): Promise<WebhookDelivery & { attempts: WebhookAttempt[] }> {
  const delivery = (await findDelivery(app.db, deliveryId)) ?? deliveryNotFound();
  return { ...delivery, attempts: await listAttempts(app.db, deliveryId) };
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
