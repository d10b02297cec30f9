import { z } from 'zod';
import { withBody } from '../wire.ts';

/** Contract group `webhooks` (spec 06 section 3). */

export const WebhookPath = z.object({ webhook_id: z.int().describe('Id of the webhook.') });

/** The contract has the lengths, although the list of values implies them. */
const EventType = z
  .enum(['user.created', 'payment.completed', 'transaction.created', 'ticket.created', 'ticket.status_changed'])
  .meta({ minLength: 1, maxLength: 50 });

export const WebhookListQuery = z.object({
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
    url: z.string().min(1).nullish().describe('Address (URL).'),
    secret: z
      .string()
      .max(128)
      .nullish()
      .describe(
        'Key of the signature of deliveries; never returned. Null for unsigned deliveries; in an update null leaves it unchanged.',
      ),
    description: z.string().nullish().describe('New text about the webhook.'),
    is_active: z.boolean().nullish().describe('Whether it is active; an inactive record remains stored but has no effect.'),
  })
  .meta({ id: 'WebhookUpdateRequest', example: { url: 'https://example.com/hooks/sales', is_active: true } });

export const WebhookUpdateInput = withBody(WebhookPath, WebhookUpdateRequest);

export const WebhookResponse = z
  .object({
    id: z.int().describe('Id of the webhook.'),
    name: z.string().describe('Name of the webhook, for administrators.'),
    url: z.string().describe('Address (URL).'),
    event_type: z.string().describe('Event that is delivered.'),
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    description: z.string().nullable().describe('What the webhook is for; null for nothing.'),
    created_at: z.date().describe('When the webhook was created (UTC).'),
    updated_at: z.date().describe('When the record was last changed (UTC).'),
    last_triggered_at: z.date().nullable().describe('When the last attempt was made (UTC); null when there was none.'),
    failure_count: z.int().describe('Number of failed deliveries.'),
    success_count: z.int().describe('Number of successful deliveries.'),
  })
  .meta({ id: 'WebhookResponse' });

export const WebhookListResponse = z
  .object({
    items: WebhookResponse.array().describe('A page of webhooks, newest first.'),
    total: z.int().describe('Number of webhooks that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'WebhookListResponse' });

export const WebhookStatsResponse = z
  .object({
    total_webhooks: z.int().describe('Number of webhooks.'),
    active_webhooks: z.int().describe('Number of active webhooks.'),
    total_deliveries: z.int().describe('Number of stored deliveries.'),
    successful_deliveries: z.int().describe('Number of successful deliveries.'),
    failed_deliveries: z.int().describe('Number of failed deliveries.'),
    success_rate: z.number().describe('Successful deliveries in percent of all, two decimals; 0 when there are none.'),
  })
  .meta({ id: 'WebhookStatsResponse' });

export const WebhookDeliveriesQuery = WebhookPath.extend({
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
    created_at: z.date().describe('When the delivery was created (UTC).'),
    delivered_at: z.date().nullable().describe('When the receiver accepted it (UTC); null while it has not.'),
    next_retry_at: z.date().nullable().describe('When the next attempt is due (UTC); null when there is none.'),
  })
  .meta({ id: 'WebhookDeliveryResponse' });

export const WebhookDeliveryListResponse = z
  .object({
    items: WebhookDeliveryResponse.array().describe('A page of deliveries of the webhook, newest first.'),
    total: z.int().describe('Number of deliveries of the webhook that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'WebhookDeliveryListResponse' });
