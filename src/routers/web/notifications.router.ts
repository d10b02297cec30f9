import { z } from 'zod';
import { readEvents, recordEvent, subscriptionNotFound, transactionNotFound } from '../../domain/activity/record-event.ts';
import { userNotFound } from '../../domain/identity/errors.ts';
import { FreeForm, Timestamp, TimestampInput, utcDate } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `notifications`: the dashboard feed of subscription events. */

const SubscriptionEventListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  /** May be repeated; an event of any of the types matches. */
  event_type: z.array(z.string()).nullish().describe('Only events of this type; may be repeated, any of them matches.'),
  user_id: z.int().nullish().describe('Only events of this user (internal id).'),
});

const SubscriptionEventCreate = z
  .object({
    event_type: z
      .literal([
        'activation',
        'purchase',
        'renewal',
        'balance_topup',
        'promocode_activation',
        'referral_link_visit',
        'promo_group_change',
      ])
      .describe('What happened to the user.'),
    user_id: z.int().min(1).describe('Internal id of the user.'),
    subscription_id: z.int().min(1).nullish().describe('Id of the subscription; null for none.'),
    transaction_id: z.int().min(1).nullish().describe('Movement of money that belongs to the event; null for none.'),
    amount_kopeks: z.int().min(0).nullish().describe('Amount of the event in kopeks; null for none. No money is moved.'),
    currency: z.string().min(1).max(16).nullish().describe('ISO 4217 code of the currency; null when none was recorded.'),
    message: z.string().max(2000).nullish().describe('Note to the event, trimmed; null or empty for none.'),
    occurred_at: TimestampInput.nullish().describe('When it happened (UTC); absent or null in a request for now.'),
    extra: FreeForm.default({}).describe('Further values of the event as free-form object.'),
  })
  .meta({
    id: 'SubscriptionEventCreate',
    example: {
      event_type: 'activation',
      user_id: 1,
      subscription_id: 1,
      amount_kopeks: 49900,
      currency: 'RUB',
      message: 'Paid in the shop',
    },
  });

const SubscriptionEventResponse = z
  .object({
    id: z.int().describe('Id of the event.'),
    event_type: z.string().describe('What happened to the user.'),
    user_id: z.int().describe('Internal id of the user.'),
    user_full_name: z.string().describe('Name of the user for display.'),
    user_username: z.string().nullish().describe('User name in the messenger; null when the user has none.'),
    user_messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    subscription_id: z.int().nullish().describe('Id of the subscription; null for none.'),
    transaction_id: z.int().nullish().describe('Movement of money that belongs to the event; null for none.'),
    amount_kopeks: z.int().nullish().describe('Amount of the event in kopeks; null when none was recorded.'),
    currency: z.string().nullish().describe('ISO 4217 code of the currency; null when none was recorded.'),
    message: z.string().nullish().describe('Note to the event; null when there is none.'),
    occurred_at: Timestamp.describe('When it happened (UTC).'),
    created_at: Timestamp.describe('When the event was recorded (UTC).'),
    extra: FreeForm.default({}).describe('Further values of the event as free-form object.'),
  })
  .meta({ id: 'SubscriptionEventResponse' });

const SubscriptionEventListResponse = z
  .object({
    items: z.array(SubscriptionEventResponse).describe('A page of events in the life of subscriptions, newest first.'),
    total: z.int().describe('Number of events in the life of subscriptions that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'SubscriptionEventListResponse' });

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
