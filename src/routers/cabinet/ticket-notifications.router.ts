import {
  countUnreadNotifications,
  listTicketNotifications,
  readAllNotifications,
  readNotification,
  readTicketNotifications,
} from '../../domain/tickets/notifications.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import {
  NotificationPath,
  NotificationsMarkedResponse,
  TicketNotificationListResponse,
  TicketNotificationQuery,
  UnreadCountResponse,
} from './ticket-notifications.schemas.ts';
import { toNotification } from './ticket-response.ts';
import { TicketPath } from './tickets.schemas.ts';

const tags: [string] = ['Cabinet Ticket Notifications'];
const base = '/cabinet/tickets/notifications' as const;

export const ticketNotificationsRouter = router({
  list: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: base, tags, summary: 'Own ticket notifications, newest first' } })
    .input(TicketNotificationQuery)
    .output(TicketNotificationListResponse)
    .query(async ({ ctx, input }) => {
      const query = { unreadOnly: input.unread_only, limit: input.limit, offset: input.offset };
      const { items, unreadCount } = await listTicketNotifications(ctx.app, ctx.actor, query);
      return { items: items.map(toNotification), unread_count: unreadCount };
    }),

  unreadCount: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: `${base}/unread-count`, tags, summary: 'Unread own notifications' } })
    .output(UnreadCountResponse)
    .query(async ({ ctx }) => ({ unread_count: await countUnreadNotifications(ctx.app, ctx.actor) })),

  read: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: `${base}/{notification_id}/read`, tags, summary: 'Mark one read' } })
    .input(NotificationPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await readNotification(ctx.app, ctx.actor, input.notification_id);
      return { success: true as const };
    }),

  readAll: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: `${base}/read-all`, tags, summary: 'Mark all read' } })
    .output(NotificationsMarkedResponse)
    .mutation(async ({ ctx }) => ({ success: true, marked_count: await readAllNotifications(ctx.app, ctx.actor) })),

  readOfTicket: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: `${base}/ticket/{ticket_id}/read`, tags, summary: 'Mark those of a ticket read' } })
    .input(TicketPath)
    .output(NotificationsMarkedResponse)
    .mutation(async ({ ctx, input }) => ({
      success: true,
      marked_count: await readTicketNotifications(ctx.app, ctx.actor, input.ticket_id),
    })),
});
