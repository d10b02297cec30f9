import { z } from 'zod';
import { tooManyRequests } from '../../core/rate-limit.ts';
import {
  changeMyPreferences,
  listMyHistory,
  readMyPreferences,
  sendTestNotification,
} from '../../domain/users/notifications/notifications.ts';
import { Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Notifications`. The last two answers are untyped there. */

const NotificationSettingsResponse = z
  .object({
    subscription_expiry_enabled: z.boolean().default(true).describe('Reminders before the end of the subscription.'),
    subscription_expiry_days: z.int().default(3).describe('Days before the end at which the first reminder is sent, 1 to 30.'),
    traffic_warning_enabled: z.boolean().default(true).describe('Warnings when the traffic limit is nearly used.'),
    traffic_warning_percent: z
      .int()
      .default(80)
      .describe('Share of the traffic limit from which on a warning is sent, 50 to 99.'),
    balance_low_enabled: z.boolean().default(true).describe('Warnings of a low balance.'),
    balance_low_threshold: z.int().default(100).describe('Balance below which a warning is sent, kopeks.'),
    news_enabled: z.boolean().default(true).describe('News of the service.'),
    promo_offers_enabled: z.boolean().default(true).describe('Personal offers.'),
  })
  .meta({ id: 'NotificationSettingsResponse' });

const NotificationSettingsUpdate = z
  .object({
    subscription_expiry_enabled: z
      .boolean()
      .nullish()
      .describe('Reminders before the end of the subscription; null leaves it unchanged.'),
    subscription_expiry_days: z
      .int()
      .min(1)
      .max(30)
      .nullish()
      .describe('Days before the end at which the first reminder is sent, 1 to 30; null leaves them unchanged.'),
    traffic_warning_enabled: z
      .boolean()
      .nullish()
      .describe('Warnings when the traffic limit is nearly used; null leaves it unchanged.'),
    traffic_warning_percent: z
      .int()
      .min(50)
      .max(99)
      .nullish()
      .describe('Share of the traffic limit from which on a warning is sent, 50 to 99; null leaves it unchanged.'),
    balance_low_enabled: z.boolean().nullish().describe('Warnings of a low balance; null leaves it unchanged.'),
    balance_low_threshold: z
      .int()
      .min(0)
      .nullish()
      .describe('Balance below which a warning is sent, kopeks; null leaves it unchanged.'),
    news_enabled: z.boolean().nullish().describe('News of the service; null leaves it unchanged.'),
    promo_offers_enabled: z.boolean().nullish().describe('Personal offers; null leaves it unchanged.'),
  })
  .meta({ id: 'NotificationSettingsUpdate' });

const NotificationHistoryQuery = z.object({
  limit: z.int().min(1).max(100).default(20).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

const TestNotificationResponse = z.object({
  success: z.literal(true).describe('Always true: a refusal is answered with an error status.'),
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
});

const NotificationHistoryResponse = z.object({
  notifications: z
    .object({
      id: z.int().describe('Id of the event.'),
      type: z
        .string()
        .describe(
          'What happened: `activation` (of a trial), `purchase`, `renewal`, `balance_topup`, `promocode_activation`, `promo_group_change` or `autopay_failed` (the balance was too low, or no period was for sale).',
        ),
      message: z.string().describe('What happened, as a sentence in the language of the user.'),
      amount_kopeks: z.int().nullable().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
      formatted_amount: z
        .string()
        .nullable()
        .describe('The amount with its currency, for example `500 ₽`; null where none belongs to it.'),
      created_at: Timestamp.describe('When it happened (UTC).'),
    })
    .array()
    .describe('What happened, newest first.'),
  total: z.int().describe('Number of events of my account, listed or not, on all pages.'),
  limit: z.int().describe('Page size that was applied.'),
  offset: z.int().describe('Number of records skipped before this page.'),
});

const tags: [string] = ['Cabinet Notifications'];
const base = '/cabinet/notifications';

export const cabinetNotificationsRouter = router({
  get: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'Get own notification settings' },
      description: 'Returns what the user wants to be notified of; what was never set has its default.',
    })
    .output(toWire(NotificationSettingsResponse))
    .query(({ ctx }) => readMyPreferences(ctx.app, ctx.actor)),

  update: cabinetProcedure
    .meta({
      openapi: { method: 'PATCH', path: base, tags, summary: 'Change own notification settings' },
      description:
        'Changes the settings that are sent, absent or null ones stay, and returns all. Reminders of the end, warnings of the traffic limit and promo offers follow them from the next one on.',
    })
    .input(fromWire(NotificationSettingsUpdate))
    .output(toWire(NotificationSettingsResponse))
    .mutation(({ ctx, input }) => changeMyPreferences(ctx.app, ctx.actor, input)),

  test: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/test`, tags, summary: 'Send oneself a test notification' },
      description:
        'Sends one notification to the user, in the messenger, else to the verified e-mail address. Answers before it is sent; a user without either gets none. Once a minute.',
      refuses: [tooManyRequests],
    })
    .output(toWire(TestNotificationResponse))
    .mutation(async ({ ctx }) => ({ success: true as const, message: await sendTestNotification(ctx.app, ctx.actor) })),

  history: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: `${base}/history`, tags, summary: 'List what happened on the own account' },
      description:
        'Lists purchases, renewals, top-ups and the like on the own account, newest first, with a sentence in the language of the user.',
    })
    .input(fromWire(NotificationHistoryQuery))
    .output(toWire(NotificationHistoryResponse))
    .query(async ({ ctx, input }) => ({ ...input, ...(await listMyHistory(ctx.app, ctx.actor, input)) })),
});
