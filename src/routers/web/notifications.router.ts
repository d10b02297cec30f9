import { readEvents, recordEvent, subscriptionNotFound, transactionNotFound } from '../../domain/activity/record-event.ts';
import { userNotFound } from '../../domain/identity/errors.ts';
import { utcDate } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  SubscriptionEventCreate,
  SubscriptionEventListQuery,
  SubscriptionEventListResponse,
  SubscriptionEventResponse,
} from './notifications.schemas.ts';

const tags: [string] = ['notifications'];

export const notificationsRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/notifications/subscriptions', tags, summary: 'List subscription events, newest first' },
      description:
        'Lists events in the life of subscriptions, newest first. The service records purchases, renewals, trials, top-ups, promo codes and changes of groups.',
    })
    .input(fromWire(SubscriptionEventListQuery))
    .output(toWire(SubscriptionEventListResponse))
    .query(async ({ ctx, input }) => ({ ...input, ...(await readEvents(ctx.app, input)) })),

  create: auditedWebProcedure('notifications:create')
    .meta({
      openapi: { method: 'POST', path: '/notifications/subscriptions', tags, summary: 'Record a subscription event' },
      description:
        'Records an event of a user. Subscription and transaction must belong to the user. Nothing is sent and no money is moved. Repeating the call records it again.',
      refuses: [subscriptionNotFound, transactionNotFound, userNotFound],
    })
    .input(fromWire(SubscriptionEventCreate))
    .output(toWire(SubscriptionEventResponse))
    .mutation(({ ctx, input: { occurredAt, ...event } }) =>
      recordEvent(ctx.app, ctx.actor, { ...event, occurredAt: occurredAt ? utcDate(occurredAt) : null }),
    ),
});
