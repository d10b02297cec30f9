import type { Db } from '../../core/db/db.ts';
import type { DeliveryStatus, Webhook, WebhookAttempt, WebhookDelivery, WebhookStats } from './types.ts';

interface WebhookRow {
  id: number;
  name: string;
  url: string;
  eventType: string;
  isActive: boolean;
  description: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastTriggeredAt: Date | null;
  failureCount: number;
  successCount: number;
}

interface DeliveryRow {
  id: number;
  webhookId: number;
  eventType: string;
  payload: Record<string, unknown>;
  responseStatus: number | null;
  responseBody: string | null;
  status: DeliveryStatus;
  errorMessage: string | null;
  attemptNumber: number;
  createdAt: Date;
  deliveredAt: Date | null;
  nextRetryAt: Date | null;
}

const COLUMNS =
  'id, name, url, event_type, is_active, description, created_at, updated_at, last_triggered_at, failure_count, success_count';
const DELIVERY_COLUMNS = [
  'id, webhook_id, event_type, payload, response_status, response_body, status, error_message',
  'attempt_number, created_at, delivered_at, next_retry_at',
].join(', ');

function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    eventType: row.eventType,
    isActive: row.isActive,
    description: row.description,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastTriggeredAt: row.lastTriggeredAt,
    failureCount: row.failureCount,
    successCount: row.successCount,
  };
}

function toDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    webhookId: row.webhookId,
    eventType: row.eventType,
    payload: row.payload,
    responseStatus: row.responseStatus,
    responseBody: row.responseBody,
    status: row.status,
    errorMessage: row.errorMessage,
    attemptNumber: row.attemptNumber,
    createdAt: row.createdAt,
    deliveredAt: row.deliveredAt,
    nextRetryAt: row.nextRetryAt,
  };
}

export interface Page {
  limit: number;
  offset: number;
}

export interface WebhookFilter {
  /** Exact. */
  eventType: string | null;
  isActive: boolean | null;
}

const WEBHOOK_FILTER = '($1::text IS NULL OR event_type = $1::text) AND ($2::boolean IS NULL OR is_active = $2::boolean)';

export async function listWebhooks(db: Db, filter: WebhookFilter, page: Page): Promise<Webhook[]> {
  const rows = await db.sql<WebhookRow>(
    `SELECT ${COLUMNS} FROM webhooks WHERE ${WEBHOOK_FILTER} ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [filter.eventType, filter.isActive, page.limit, page.offset],
  );
  return rows.map(toWebhook);
}

export async function countWebhooks(db: Db, filter: WebhookFilter): Promise<number> {
  const [row] = await db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM webhooks WHERE ${WEBHOOK_FILTER}`, [
    filter.eventType,
    filter.isActive,
  ]);
  return row!.total;
}

export async function findWebhook(db: Db, id: number): Promise<Webhook | null> {
  const [row] = await db.sql<WebhookRow>(`SELECT ${COLUMNS} FROM webhooks WHERE id = $1::bigint`, [id]);
  return row ? toWebhook(row) : null;
}

export interface NewWebhook {
  name: string;
  url: string;
  eventType: string;
  secret: string | null;
  description: string | null;
  now: Date;
}

export async function insertWebhook(db: Db, webhook: NewWebhook): Promise<Webhook> {
  const [row] = await db.sql<WebhookRow>(
    `INSERT INTO webhooks (name, url, event_type, secret, description, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6::timestamptz, $6::timestamptz) RETURNING ${COLUMNS}`,
    [webhook.name, webhook.url, webhook.eventType, webhook.secret, webhook.description, webhook.now],
  );
  return toWebhook(row!);
}

export interface WebhookChange {
  name: string | null;
  url: string | null;
  /** null = unchanged, empty = no secret any more. */
  secret: string | null;
  description: string | null;
  isActive: boolean | null;
  now: Date;
}

/** null = unchanged. Switching on starts the count of failing days anew. */
export async function updateWebhook(db: Db, id: number, change: WebhookChange): Promise<Webhook | null> {
  const [row] = await db.sql<WebhookRow>(
    `UPDATE webhooks SET name = coalesce($2::text, name), url = coalesce($3::text, url),
       secret = CASE WHEN $4::text IS NULL THEN secret ELSE nullif($4::text, '') END,
       description = coalesce($5::text, description), is_active = coalesce($6::boolean, is_active),
       failing_since = CASE WHEN $6::boolean THEN NULL ELSE failing_since END, updated_at = $7::timestamptz
     WHERE id = $1::bigint RETURNING ${COLUMNS}`,
    [id, change.name, change.url, change.secret, change.description, change.isActive, change.now],
  );
  return row ? toWebhook(row) : null;
}

/** Deliveries and attempts go with it. @returns false when there was none */
export async function deleteWebhook(db: Db, id: number): Promise<boolean> {
  return (await db.sql('DELETE FROM webhooks WHERE id = $1::bigint RETURNING id', [id])).length > 0;
}

export async function readStats(db: Db): Promise<Omit<WebhookStats, 'successRate'>> {
  const [row] = await db.sql<Omit<WebhookStats, 'successRate'>>(
    `SELECT w.total AS "totalWebhooks", w.active AS "activeWebhooks", d.total AS "totalDeliveries",
            d.success AS "successfulDeliveries", d.failed AS "failedDeliveries"
     FROM (SELECT count(*)::int AS total, (count(*) FILTER (WHERE is_active))::int AS active FROM webhooks) w,
          (SELECT count(*)::int AS total, (count(*) FILTER (WHERE status = 'success'))::int AS success,
                  (count(*) FILTER (WHERE status = 'failed'))::int AS failed FROM webhook_deliveries) d`,
  );
  return row!;
}

const DELIVERY_FILTER = 'webhook_id = $1::bigint AND ($2::text IS NULL OR status = $2::text)';

export async function listDeliveries(db: Db, webhookId: number, status: string | null, page: Page): Promise<WebhookDelivery[]> {
  const rows = await db.sql<DeliveryRow>(
    `SELECT ${DELIVERY_COLUMNS} FROM webhook_deliveries WHERE ${DELIVERY_FILTER}
     ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [webhookId, status, page.limit, page.offset],
  );
  return rows.map(toDelivery);
}

export async function countDeliveries(db: Db, webhookId: number, status: string | null): Promise<number> {
  const [row] = await db.sql<{ total: number }>(
    `SELECT count(*)::int AS total FROM webhook_deliveries WHERE ${DELIVERY_FILTER}`,
    [webhookId, status],
  );
  return row!.total;
}

export async function findDelivery(db: Db, id: number): Promise<WebhookDelivery | null> {
  const [row] = await db.sql<DeliveryRow>(`SELECT ${DELIVERY_COLUMNS} FROM webhook_deliveries WHERE id = $1::bigint`, [id]);
  return row ? toDelivery(row) : null;
}

export async function listAttempts(db: Db, deliveryId: number): Promise<WebhookAttempt[]> {
  return db.sql<WebhookAttempt>(
    `SELECT id, attempt_number AS "attemptNumber", response_status AS "responseStatus", response_body AS "responseBody",
            error_message AS "errorMessage", duration_ms AS "durationMs", created_at AS "createdAt"
     FROM webhook_attempts WHERE delivery_id = $1::bigint ORDER BY id LIMIT 1000`,
    [deliveryId],
  );
}

/** Deletes up to `limit` deliveries made before `before`, with their attempts. @returns how many */
export async function deleteDeliveriesBefore(db: Db, before: Date, limit: number): Promise<number> {
  const rows = await db.sql(
    `DELETE FROM webhook_deliveries WHERE id IN (
       SELECT id FROM webhook_deliveries WHERE created_at < $1::timestamptz ORDER BY created_at LIMIT $2::int) RETURNING id`,
    [before, limit],
  );
  return rows.length;
}
