import { type Changes, givenFields } from '../../core/changes.ts';
import type { Rows } from '../../core/db/columns.ts';
import { columns, plainRow } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { isRowId } from '../../core/row-id.ts';
import type { Webhook, WebhookAttempt, WebhookDelivery, WebhookStats } from './types.ts';

/** Columns that never leave the repository; `WEBHOOK` and `DELIVERY` are the others. */
const OMITTED = { secret: true, failingSince: true } as const;
const OMITTED_OF_DELIVERY = { eventId: true, claimedUntil: true } as const;

const WEBHOOK = columns('Webhook', [
  ...(['id', 'name', 'url', 'eventType', 'isActive', 'description', 'createdAt', 'updatedAt', 'lastTriggeredAt'] as const),
  ...(['failureCount', 'successCount'] as const),
]);
const DELIVERY = columns('WebhookDelivery', [
  ...(['id', 'webhookId', 'eventType', 'payload', 'responseStatus', 'responseBody', 'status', 'errorMessage'] as const),
  ...(['attemptNumber', 'createdAt', 'deliveredAt', 'nextRetryAt'] as const),
]);

export interface Page {
  limit: number;
  offset: number;
}

/** Exact values; null or absent = any. */
export type WebhookFilter = Changes<Pick<Webhook, 'eventType' | 'isActive'>>;

const WEBHOOK_FILTER = '($1::text IS NULL OR event_type = $1::text) AND ($2::boolean IS NULL OR is_active = $2::boolean)';

export function listWebhooks(db: Db, { eventType = null, isActive = null }: WebhookFilter, page: Page): Promise<Webhook[]> {
  return db.sql<Webhook>(
    `SELECT ${WEBHOOK.of()} FROM webhooks WHERE ${WEBHOOK_FILTER} ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [eventType, isActive, page.limit, page.offset],
  );
}

export function countWebhooks(db: Db, filter: WebhookFilter): Promise<number> {
  return db.prisma.webhook.count({ where: givenFields(filter) });
}

export async function findWebhook(db: Db, id: number): Promise<Webhook | null> {
  return isRowId(id) ? db.prisma.webhook.findUnique({ where: { id }, omit: OMITTED }) : null;
}

export type NewWebhook = Pick<Rows['Webhook'], 'name' | 'url' | 'eventType' | 'secret'> & {
  description?: string | null | undefined;
};

export function insertWebhook(db: Db, webhook: NewWebhook, now: Date): Promise<Webhook> {
  const data = { ...webhook, description: webhook.description ?? null, createdAt: now, updatedAt: now };
  return db.prisma.webhook.create({ data, omit: OMITTED });
}

/** Null and absent = unchanged; an empty secret removes it. */
export type WebhookChanges = Changes<Pick<Rows['Webhook'], 'name' | 'url' | 'secret' | 'description' | 'isActive'>>;

/** Switching a webhook on starts the count of its failing days again. @returns null when there is none */
export async function updateWebhook(db: Db, id: number, changes: WebhookChanges, now: Date): Promise<Webhook | null> {
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

/** With its deliveries and attempts. @returns false when there was none */
export async function deleteWebhook(db: Db, id: number): Promise<boolean> {
  return (await db.prisma.webhook.deleteMany({ where: { id } })).count > 0;
}

export async function readStats(db: Db): Promise<Omit<WebhookStats, 'successRate'>> {
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

export function listDeliveries(db: Db, webhookId: number, status: string | null, page: Page): Promise<WebhookDelivery[]> {
  return db.sql<WebhookDelivery>(
    `SELECT ${DELIVERY.of()} FROM webhook_deliveries WHERE ${DELIVERY_FILTER}
     ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [webhookId, status, page.limit, page.offset],
  );
}

export function countDeliveries(db: Db, webhookId: number, status: string | null): Promise<number> {
  return db.prisma.webhookDelivery.count({ where: { webhookId, ...(status !== null && { status }) } });
}

export async function findDelivery(db: Db, id: number): Promise<WebhookDelivery | null> {
  if (!isRowId(id)) return null;
  const row = await db.prisma.webhookDelivery.findUnique({ where: { id }, omit: OMITTED_OF_DELIVERY });
  return row && plainRow('WebhookDelivery', row);
}

/** The first thousand, oldest first. */
export function listAttempts(db: Db, deliveryId: number): Promise<WebhookAttempt[]> {
  const where = { deliveryId };
  return db.prisma.webhookAttempt.findMany({ where, orderBy: { id: 'asc' }, take: 1_000, omit: { deliveryId: true } });
}

/** Deletes up to `limit` deliveries created before `before`, with their attempts. @returns the number */
export async function deleteDeliveriesBefore(db: Db, before: Date, limit: number): Promise<number> {
  const rows = await db.sql(
    `DELETE FROM webhook_deliveries WHERE id IN (
       SELECT id FROM webhook_deliveries WHERE created_at < $1::timestamptz ORDER BY created_at LIMIT $2::int) RETURNING id`,
    [before, limit],
  );
  return rows.length;
}
