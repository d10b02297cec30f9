import { type RecordedEvent, readEvents, recordEvent } from '../../domain/activity/record-event.ts';
import { utcDate } from '../shared.schemas.ts';
import { router, webProcedure } from '../trpc.ts';
import {
  SubscriptionEventCreate,
  SubscriptionEventListQuery,
  SubscriptionEventListResponse,
  SubscriptionEventResponse,
} from './notifications.schemas.ts';

const tags: [string] = ['notifications'];

function toEventResponse(event: RecordedEvent) {
  return {
    id: event.id,
    event_type: event.eventType,
    user_id: event.userId,
    user_full_name: event.userFullName,
    user_username: event.userUsername,
    user_messenger_id: event.userMessengerId,
    subscription_id: event.subscriptionId,
    transaction_id: event.transactionId,
    amount_kopeks: event.amountKopeks,
    currency: event.currency,
    message: event.message,
    occurred_at: event.occurredAt,
    created_at: event.createdAt,
    extra: event.extra,
  };
}

export const notificationsRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/notifications/subscriptions', tags, summary: 'List subscription events, newest first' },
    })
    .input(SubscriptionEventListQuery)
    .output(SubscriptionEventListResponse)
    .query(async ({ ctx, input }) => {
      const { limit, offset } = input;
      const filter = { eventTypes: input.event_type ?? [], userId: input.user_id ?? null, limit, offset };
      const { items, total } = await readEvents(ctx.app, filter);
      return { items: items.map(toEventResponse), total, limit, offset };
    }),

  create: webProcedure
    .meta({ openapi: { method: 'POST', path: '/notifications/subscriptions', tags, summary: 'Record a subscription event' } })
    .input(SubscriptionEventCreate)
    .output(SubscriptionEventResponse)
    .mutation(async ({ ctx, input }) => {
      const event = await recordEvent(ctx.app, ctx.actor, {
        eventType: input.event_type,
        userId: input.user_id,
        subscriptionId: input.subscription_id ?? null,
        transactionId: input.transaction_id ?? null,
        amountKopeks: input.amount_kopeks ?? null,
        currency: input.currency ?? null,
        message: input.message ?? null,
        occurredAt: input.occurred_at ? utcDate(input.occurred_at) : null,
        extra: input.extra,
      });
      return toEventResponse(event);
    }),
});
