import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getDeliveries,
  getWebhook,
  getWebhookStats,
  getWebhooks,
  webhookNotFound,
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
    .meta({
      openapi: { method: 'GET', path: '/webhooks', tags, summary: 'List webhooks' },
      description: 'Lists webhooks, newest first.',
    })
    .input(fromWire(WebhookListQuery))
    .output(toWire(WebhookListResponse))
    .query(async ({ ctx, input: { limit, offset, ...filter } }) => {
      const page = { limit, offset };
      return { ...(await getWebhooks(ctx.app, filter, page)), ...page };
    }),

  create: auditedWebProcedure('webhooks:create')
    .meta({
      openapi: { method: 'POST', path: '/webhooks', tags, summary: 'Create a webhook' },
      description:
        'Creates an active webhook for one type of event. The secret is stored and never returned. Deliveries begin with the next event.',
    })
    .input(fromWire(WebhookCreateRequest))
    .output(toWire(WebhookResponse))
    .mutation(({ ctx, input }) => createWebhook(ctx.app, ctx.actor, input)),

  stats: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/webhooks/stats', tags, summary: 'Counts of webhooks and deliveries' },
      description: 'Counts webhooks and stored deliveries and gives the rate of success.',
    })
    .output(toWire(WebhookStatsResponse))
    .query(({ ctx }) => getWebhookStats(ctx.app)),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/webhooks/{webhook_id}', tags, summary: 'Get a webhook' },
      description: 'Returns a webhook without its secret.',
      refuses: [webhookNotFound],
    })
    .input(fromWire(WebhookPath))
    .output(toWire(WebhookResponse))
    .query(({ ctx, input }) => getWebhook(ctx.app, input.webhookId)),

  update: auditedWebProcedure('webhooks:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/webhooks/{webhook_id}', tags, summary: 'Change a webhook' },
      description:
        'Changes a webhook; absent or null fields are not changed. The type of event cannot be changed. Switching it on again begins with the next event.',
      refuses: [webhookNotFound],
    })
    .input(fromWire(WebhookUpdateInput))
    .output(toWire(WebhookResponse))
    .mutation(({ ctx, input: { webhookId, ...changes } }) => changeWebhook(ctx.app, ctx.actor, webhookId, changes)),

  delete: auditedWebProcedure('webhooks:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/webhooks/{webhook_id}', tags, summary: 'Delete a webhook and its deliveries' },
      description: 'Deletes a webhook with its stored deliveries. Deliveries in progress are dropped.',
      refuses: [webhookNotFound],
    })
    .input(fromWire(WebhookPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteWebhook(ctx.app, ctx.actor, input.webhookId);
      return { success: true as const };
    }),

  deliveries: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/webhooks/{webhook_id}/deliveries', tags, summary: 'List deliveries of a webhook' },
      description: 'Lists deliveries of a webhook, newest first, with the answers of the receiver.',
      refuses: [webhookNotFound],
    })
    .input(fromWire(WebhookDeliveriesQuery))
    .output(toWire(WebhookDeliveryListResponse))
    .query(async ({ ctx, input }) => {
      const page = { limit: input.limit, offset: input.offset };
      return { ...(await getDeliveries(ctx.app, input.webhookId, input.status ?? null, page)), ...page };
    }),
});
