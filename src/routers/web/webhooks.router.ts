import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getDeliveries,
  getWebhook,
  getWebhookStats,
  getWebhooks,
} from '../../domain/webhooks/manage-webhooks.ts';
import type { Webhook, WebhookDelivery } from '../../domain/webhooks/types.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import {
  WebhookCreateRequest,
  WebhookDeliveriesQuery,
  WebhookDeliveryListResponse,
  WebhookListQuery,
  WebhookListResponse,
  WebhookPath,
  WebhookResponse,
  WebhookStatsResponse,
  WebhookUpdateInput,
} from './webhooks.schemas.ts';

const tags: [string] = ['webhooks'];

function toWebhookResponse(webhook: Webhook) {
  return {
    id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    event_type: webhook.eventType,
    is_active: webhook.isActive,
    description: webhook.description,
    created_at: webhook.createdAt,
    updated_at: webhook.updatedAt,
    last_triggered_at: webhook.lastTriggeredAt,
    failure_count: webhook.failureCount,
    success_count: webhook.successCount,
  };
}

function toDeliveryResponse(delivery: WebhookDelivery) {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_type: delivery.eventType,
    payload: delivery.payload,
    response_status: delivery.responseStatus,
    response_body: delivery.responseBody,
    status: delivery.status,
    error_message: delivery.errorMessage,
    attempt_number: delivery.attemptNumber,
    created_at: delivery.createdAt,
    delivered_at: delivery.deliveredAt,
    next_retry_at: delivery.nextRetryAt,
  };
}

export const webhooksRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/webhooks', tags, summary: 'List webhooks' } })
    .input(WebhookListQuery)
    .output(WebhookListResponse)
    .query(async ({ ctx, input: { limit, offset, ...filter } }) => {
      const page = { limit, offset };
      const found = await getWebhooks(
        ctx.app,
        { eventType: filter.event_type ?? null, isActive: filter.is_active ?? null },
        page,
      );
      return { items: found.items.map(toWebhookResponse), total: found.total, ...page };
    }),

  create: auditedWebProcedure('webhooks:create')
    .meta({ openapi: { method: 'POST', path: '/webhooks', tags, summary: 'Create a webhook' } })
    .input(WebhookCreateRequest)
    .output(WebhookResponse)
    .mutation(async ({ ctx, input }) => {
      const made = await createWebhook(ctx.app, ctx.actor, {
        name: input.name,
        url: input.url,
        eventType: input.event_type,
        secret: input.secret ?? null,
        description: input.description ?? null,
      });
      return toWebhookResponse(made);
    }),

  stats: webProcedure
    .meta({ openapi: { method: 'GET', path: '/webhooks/stats', tags, summary: 'Counts of webhooks and deliveries' } })
    .output(WebhookStatsResponse)
    .query(async ({ ctx }) => {
      const stats = await getWebhookStats(ctx.app);
      return {
        total_webhooks: stats.totalWebhooks,
        active_webhooks: stats.activeWebhooks,
        total_deliveries: stats.totalDeliveries,
        successful_deliveries: stats.successfulDeliveries,
        failed_deliveries: stats.failedDeliveries,
        success_rate: stats.successRate,
      };
    }),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/webhooks/{webhook_id}', tags, summary: 'Get a webhook' } })
    .input(WebhookPath)
    .output(WebhookResponse)
    .query(async ({ ctx, input }) => toWebhookResponse(await getWebhook(ctx.app, input.webhook_id))),

  update: auditedWebProcedure('webhooks:edit')
    .meta({ openapi: { method: 'PATCH', path: '/webhooks/{webhook_id}', tags, summary: 'Change a webhook' } })
    .input(WebhookUpdateInput)
    .output(WebhookResponse)
    .mutation(async ({ ctx, input }) => {
      const changed = await changeWebhook(ctx.app, ctx.actor, input.webhook_id, {
        name: input.name ?? null,
        url: input.url ?? null,
        secret: input.secret ?? null,
        description: input.description ?? null,
        isActive: input.is_active ?? null,
      });
      return toWebhookResponse(changed);
    }),

  delete: auditedWebProcedure('webhooks:delete')
    .meta({ openapi: { method: 'DELETE', path: '/webhooks/{webhook_id}', tags, summary: 'Delete a webhook and its deliveries' } })
    .input(WebhookPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteWebhook(ctx.app, ctx.actor, input.webhook_id);
      return { success: true as const };
    }),

  deliveries: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/webhooks/{webhook_id}/deliveries', tags, summary: 'List deliveries of a webhook' },
    })
    .input(WebhookDeliveriesQuery)
    .output(WebhookDeliveryListResponse)
    .query(async ({ ctx, input }) => {
      const page = { limit: input.limit, offset: input.offset };
      const found = await getDeliveries(ctx.app, input.webhook_id, input.status ?? null, page);
      return { items: found.items.map(toDeliveryResponse), total: found.total, ...page };
    }),
});
