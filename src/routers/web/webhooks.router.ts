import { z } from 'zod';
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
import { WEBHOOK_EVENT_TYPES } from '../../domain/webhooks/types.ts';
import { SuccessResponse, Timestamp } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `webhooks`. */

const WebhookPath = z.object({ webhook_id: z.int().describe('Id of the webhook.') });

/** The contract has the lengths, although the list of values implies them. */
const EventType = z.enum(WEBHOOK_EVENT_TYPES).meta({ minLength: 1, maxLength: 50 });

const WebhookListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  event_type: z.string().nullish().describe('Only events of this type.'),
  is_active: z.boolean().nullish().describe('Only active records, or only inactive ones.'),
});

export const WebhookCreateRequest = z
  .object({
    name: z.string().min(1).max(255).describe('Name of the webhook, 1 to 255 characters, for administrators.'),
    url: z
      .string()
      .min(1)
      .describe(
        'Address that events are sent to by POST, http or https. Private and loopback addresses are refused at delivery.',
      ),
    event_type: EventType.describe('Event that is delivered. One webhook receives one type.'),
    secret: z
      .string()
      .max(128)
      .nullish()
      .describe(
        'Key of the signature of deliveries; never returned. Null for unsigned deliveries; in an update null leaves it unchanged.',
      ),
    description: z.string().nullish().describe('What the webhook is for; null for nothing.'),
  })
  .meta({
    id: 'WebhookCreateRequest',
    example: { name: 'Accounting', url: 'https://example.com/hooks/sales', event_type: 'payment.completed' },
  });

const WebhookUpdateRequest = z
  .object({
    name: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe('New name of the webhook, 1 to 255 characters; null leaves it unchanged.'),
    url: z.string().min(1).nullish().describe('New address (URL) of the receiver; null leaves it unchanged.'),
    secret: z
      .string()
      .max(128)
      .nullish()
      .describe(
        'Key of the signature of deliveries; never returned. Null for unsigned deliveries; in an update null leaves it unchanged.',
      ),
    description: z.string().nullish().describe('New text about the webhook; null leaves it unchanged.'),
    is_active: z
      .boolean()
      .nullish()
      .describe('Whether events are delivered; null leaves it unchanged. True starts the count of failing days again.'),
  })
  .meta({ id: 'WebhookUpdateRequest', example: { url: 'https://example.com/hooks/sales', is_active: true } });

const WebhookUpdateInput = withBody(WebhookPath, WebhookUpdateRequest);

const WebhookResponse = z
  .object({
    id: z.int().describe('Id of the webhook.'),
    name: z.string().describe('Name of the webhook, for administrators.'),
    url: z.string().describe('Address (URL).'),
    event_type: z.string().describe('Event that is delivered.'),
    is_active: z
      .boolean()
      .describe('Whether events are delivered. It becomes false when the receiver answers 410 or has failed for too long.'),
    description: z.string().nullable().describe('What the webhook is for; null for nothing.'),
    created_at: Timestamp.describe('When the webhook was created (UTC).'),
    updated_at: Timestamp.describe('When the settings of the webhook were last changed (UTC); deliveries do not count.'),
    last_triggered_at: Timestamp.nullable().describe('When the last attempt was made (UTC); null when there was none.'),
    failure_count: z.int().describe('Number of failed deliveries.'),
    success_count: z.int().describe('Number of successful deliveries.'),
  })
  .meta({ id: 'WebhookResponse' });

const WebhookListResponse = z
  .object({
    items: WebhookResponse.array().describe('A page of webhooks, newest first.'),
    total: z.int().describe('Number of webhooks that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'WebhookListResponse' });

const WebhookStatsResponse = z
  .object({
    total_webhooks: z.int().describe('Number of webhooks.'),
    active_webhooks: z.int().describe('Number of active webhooks.'),
    total_deliveries: z.int().describe('Number of stored deliveries.'),
    successful_deliveries: z.int().describe('Number of successful deliveries.'),
    failed_deliveries: z.int().describe('Number of failed deliveries.'),
    success_rate: z.number().describe('Successful deliveries in percent of all, two decimals; 0 when there are none.'),
  })
  .meta({ id: 'WebhookStatsResponse' });

const WebhookDeliveriesQuery = WebhookPath.extend({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  status: z.string().nullish().describe('Only deliveries in this state: `pending`, `success` or `failed`; null for all.'),
});

const WebhookDeliveryResponse = z
  .object({
    id: z.int().describe('Id of the delivery.'),
    webhook_id: z.int().describe('Webhook of the delivery.'),
    event_type: z.string().describe('Type of the delivered event.'),
    payload: z.record(z.string(), z.unknown()).describe('Body that was sent: the data of the event.'),
    response_status: z.int().nullable().describe('HTTP status of the answer; null when there was none.'),
    response_body: z.string().nullable().describe('Answer of the receiver, cut to 1,000 characters; null when there was none.'),
    status: z
      .string()
      .describe(
        'State of the delivery: `pending` (an attempt is due), `success` (the receiver accepted it) or `failed` (given up).',
      ),
    error_message: z.string().nullable().describe('Why the attempt failed; null after a success.'),
    attempt_number: z.int().describe('Number of the attempt, from 1.'),
    created_at: Timestamp.describe('When the delivery was created (UTC).'),
    delivered_at: Timestamp.nullable().describe('When the receiver accepted it (UTC); null while it has not.'),
    next_retry_at: Timestamp.nullable().describe('When the next attempt is due (UTC); null when there is none.'),
  })
  .meta({ id: 'WebhookDeliveryResponse' });

const WebhookDeliveryListResponse = z
  .object({
    items: WebhookDeliveryResponse.array().describe('A page of deliveries of the webhook, newest first.'),
    total: z.int().describe('Number of deliveries of the webhook that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'WebhookDeliveryListResponse' });

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
    .mutation(({ ctx, input }) => createWebhook(ctx.app, ctx.actor, { ...input, hasClientWords: ctx.hasClientWords })),

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
    .mutation(({ ctx, input: { webhookId, ...changes } }) =>
      changeWebhook(ctx.app, ctx.actor, webhookId, { ...changes, hasClientWords: ctx.hasClientWords }),
    ),

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
