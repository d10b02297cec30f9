/** The live events in the document: `webhooks` and `x-events`, from the definitions of the modules (spec 10 K3). */
import { z } from 'zod';
import { type EventDefinition, STAFF_PERMISSION } from '../core/events/define-event.ts';
import type { JsonSchema, OpenApiDocument } from './openapi-document.ts';

/** Where events of an audience are sent. */
export const EVENT_FEEDS = { feed: '/ws', user: '/cabinet/ws', staff: '/cabinet/ws' } as const;

/** JSON schema of a payload; later releases may add fields. */
export function payloadSchema({ schema }: EventDefinition): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest as JsonSchema;
}

/** Adds `webhooks` and `x-events`. */
export function documentEvents(document: OpenApiDocument, events: readonly EventDefinition[]): void {
  const webhooks = events.filter(({ hasWebhook }) => hasWebhook).map((event) => [event.type, { post: webhookOf(event) }]);
  const described = events.map((event) => {
    const { type, audience, hasWebhook, description, example } = event;
    const permission = audience === 'staff' ? { permission: STAFF_PERMISSION } : {};
    const facts = { feed: EVENT_FEEDS[audience], audience, ...permission, hasWebhook, description };
    return [type, { ...facts, payload: payloadSchema(event), example }];
  });
  Object.assign(document, { webhooks: Object.fromEntries(webhooks), 'x-events': Object.fromEntries(described) });
}

function webhookOf(event: EventDefinition): object {
  return {
    operationId: `webhook_${event.type.replaceAll('.', '_')}`,
    tags: ['webhooks'],
    summary: `Event ${event.type}`,
    description: event.description,
    security: [],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: payloadSchema(event), example: event.example } },
    },
    responses: {
      '200': { description: 'Any status from 200 to 299: the event was received.' },
      '410': { description: 'The receiver wants no further events: the webhook is disabled.' },
    },
  };
}
