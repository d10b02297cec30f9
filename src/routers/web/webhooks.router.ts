import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getDeliveries,
  getWebhook,
  getWebhookStats,
  getWebhooks,
} from '../../domain/webhooks/manage-webhooks.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
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

export const webhooksRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/webhooks', tags, summary: 'List webhooks' } })
    .input(fromWire(WebhookListQuery))
    .output(toWire(WebhookListResponse))
    .query(async ({ ctx, input: { limit, offset, ...filter } }) => {
      const page = { limit, offset };
      return { ...(await getWebhooks(ctx.app, filter, page)), ...page };
    }),

  create: auditedWebProcedure('webhooks:create')
    .meta({ openapi: { method: 'POST', path: '/webhooks', tags, summary: 'Create a webhook' } })
    .input(fromWire(WebhookCreateRequest))
    .output(toWire(WebhookResponse))
    .mutation(({ ctx, input }) => createWebhook(ctx.app, ctx.actor, input)),

  stats: webProcedure
    .meta({ openapi: { method: 'GET', path: '/webhooks/stats', tags, summary: 'Counts of webhooks and deliveries' } })
    .output(toWire(WebhookStatsResponse))
    .query(({ ctx }) => getWebhookStats(ctx.app)),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/webhooks/{webhook_id}', tags, summary: 'Get a webhook' } })
    .input(fromWire(WebhookPath))
    .output(toWire(WebhookResponse))
    .query(({ ctx, input }) => getWebhook(ctx.app, input.webhookId)),

  update: auditedWebProcedure('webhooks:edit')
    .meta({ openapi: { method: 'PATCH', path: '/webhooks/{webhook_id}', tags, summary: 'Change a webhook' } })
    .input(fromWire(WebhookUpdateInput))
    .output(toWire(WebhookResponse))
    .mutation(({ ctx, input: { webhookId, ...changes } }) => changeWebhook(ctx.app, ctx.actor, webhookId, changes)),

  delete: auditedWebProcedure('webhooks:delete')
    .meta({ openapi: { method: 'DELETE', path: '/webhooks/{webhook_id}', tags, summary: 'Delete a webhook and its deliveries' } })
    .input(fromWire(WebhookPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteWebhook(ctx.app, ctx.actor, input.webhookId);
      return { success: true as const };
    }),

  deliveries: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/webhooks/{webhook_id}/deliveries', tags, summary: 'List deliveries of a webhook' },
    })
    .input(fromWire(WebhookDeliveriesQuery))
    .output(toWire(WebhookDeliveryListResponse))
    .query(async ({ ctx, input }) => {
      const page = { limit: input.limit, offset: input.offset };
      return { ...(await getDeliveries(ctx.app, input.webhookId, input.status ?? null, page)), ...page };
    }),
});
