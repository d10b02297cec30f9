import { tooManyRequests } from '../../core/rate-limit.ts';
import {
  changeMyPreferences,
  listMyHistory,
  readMyPreferences,
  sendTestNotification,
} from '../../domain/users/notifications/notifications.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  NotificationHistoryQuery,
  NotificationHistoryResponse,
  NotificationSettingsResponse,
  NotificationSettingsUpdate,
  TestNotificationResponse,
} from './notifications.schemas.ts';

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
