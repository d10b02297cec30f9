import { z } from 'zod';
import { withBody } from '../wire.ts';

/** Contract group `webhooks` (spec 06 section 3). */

export const WebhookPath = z.object({ webhook_id: z.int() });

/** The contract has the lengths, although the list of values implies them. */
const EventType = z
  .enum(['user.created', 'payment.completed', 'transaction.created', 'ticket.created', 'ticket.status_changed'])
  .meta({ minLength: 1, maxLength: 50 });

export const WebhookListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  event_type: z.string().nullish(),
  is_active: z.boolean().nullish(),
});

export const WebhookCreateRequest = z
  .object({
    name: z.string().min(1).max(255),
    url: z.string().min(1),
    event_type: EventType,
    secret: z.string().max(128).nullish(),
    description: z.string().nullish(),
  })
  .meta({
    id: 'WebhookCreateRequest',
    example: { name: 'Accounting', url: 'https://example.com/hooks/sales', event_type: 'payment.completed' },
  });

export const WebhookUpdateRequest = z
  .object({
    name: z.string().min(1).max(255).nullish(),
    url: z.string().min(1).nullish(),
    secret: z.string().max(128).nullish(),
    description: z.string().nullish(),
    is_active: z.boolean().nullish(),
  })
  .meta({ id: 'WebhookUpdateRequest', example: { url: 'https://example.com/hooks/sales', is_active: true } });

export const WebhookUpdateInput = withBody(WebhookPath, WebhookUpdateRequest);

export const WebhookResponse = z
  .object({
    id: z.int(),
    name: z.string(),
    url: z.string(),
    event_type: z.string(),
    is_active: z.boolean(),
    description: z.string().nullable(),
    created_at: z.date(),
    updated_at: z.date(),
    last_triggered_at: z.date().nullable(),
    failure_count: z.int(),
    success_count: z.int(),
  })
  .meta({ id: 'WebhookResponse' });

export const WebhookListResponse = z
  .object({ items: WebhookResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'WebhookListResponse' });

export const WebhookStatsResponse = z
  .object({
    total_webhooks: z.int(),
    active_webhooks: z.int(),
    total_deliveries: z.int(),
    successful_deliveries: z.int(),
    failed_deliveries: z.int(),
    success_rate: z.number(),
  })
  .meta({ id: 'WebhookStatsResponse' });

export const WebhookDeliveriesQuery = WebhookPath.extend({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  status: z.string().nullish(),
});

export const WebhookDeliveryResponse = z
  .object({
    id: z.int(),
    webhook_id: z.int(),
    event_type: z.string(),
    payload: z.record(z.string(), z.unknown()),
    response_status: z.int().nullable(),
    response_body: z.string().nullable(),
    status: z.string(),
    error_message: z.string().nullable(),
    attempt_number: z.int(),
    created_at: z.date(),
    delivered_at: z.date().nullable(),
    next_retry_at: z.date().nullable(),
  })
  .meta({ id: 'WebhookDeliveryResponse' });

export const WebhookDeliveryListResponse = z
  .object({ items: WebhookDeliveryResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'WebhookDeliveryListResponse' });
