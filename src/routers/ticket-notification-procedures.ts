import { z } from 'zod';
import type { AdminActor, UserActor } from '../core/actor.ts';
import {
  countUnreadNotifications,
  listTicketNotifications,
  notAnAdminNotification,
  notificationNotFound,
  readAllNotifications,
  readNotification,
  readTicketNotifications,
} from '../domain/tickets/notices.ts';
import { TicketPath } from './cabinet/tickets.schemas.ts';
import { SuccessResponse, Timestamp } from './shared.schemas.ts';
import type { ProcedureFor, ReaderFor } from './trpc.ts';
import { fromWire, toWire } from './wire.ts';

/** Contract groups `Cabinet Ticket Notifications` and `Cabinet Admin Ticket Notifications`. */

const TicketNotificationQuery = z.object({
  unread_only: z.boolean().default(false).describe('Whether only unread notifications are listed.'),
  limit: z.int().min(1).max(100).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

const NotificationPath = z.object({ notification_id: z.int().describe('Id of the notification.') });

const TicketNotificationResponse = z
  .object({
    id: z.int().describe('Id of the notification.'),
    ticket_id: z.int().describe('Id of the ticket.'),
    notification_type: z.string().describe('`new_ticket`, `admin_reply` or `user_reply`.'),
    message: z.string().nullish().describe('Text of the notification.'),
    is_read: z.boolean().describe('Whether the notification was read.'),
    created_at: Timestamp.describe('When the notification was created (UTC).'),
    read_at: Timestamp.nullish().describe('When it was first marked as read (UTC); null while it was not.'),
  })
  .meta({ id: 'TicketNotificationResponse' });

const TicketNotificationListResponse = z
  .object({
    items: TicketNotificationResponse.array().describe('A page of notifications about tickets, newest first.'),
    unread_count: z.int().describe('Number of all unread notifications.'),
  })
  .meta({ id: 'TicketNotificationListResponse' });

const UnreadCountResponse = z
  .object({ unread_count: z.int().describe('Number of all unread notifications.') })
  .meta({ id: 'UnreadCountResponse' });

const NotificationsMarkedResponse = z
  .object({
    success: z.boolean().describe('Always true, also when there was nothing to mark.'),
    marked_count: z.int().describe('Number of notifications that were marked.'),
  })
  .meta({ id: 'NotificationsMarkedResponse' });

interface Group {
  /** Base procedure of what only reads, and of what marks rows read. */
  reading: ReaderFor<UserActor | AdminActor>;
  marking: ProcedureFor<UserActor | AdminActor>;
  base: `/${string}`;
  tag: string;
  /** Whose notifications these are, for the texts. */
  owner: 'own notifications' | 'notifications of all administrators';
}

/** The notifications of tickets, which users have for themselves and administrators share. */
export function ticketNotificationProcedures({ reading, marking, base, tag, owner }: Group) {
  const tags: [string] = [tag];
  const isOfUser = owner === 'own notifications';
  return {
    list: reading
      .meta({
        openapi: { method: 'GET', path: base, tags, summary: `List ${owner}, newest first` },
        description: isOfUser
          ? 'Lists own notifications about tickets, newest first.'
          : 'Lists notifications about tickets, newest first. All administrators share them.',
      })
      .input(fromWire(TicketNotificationQuery))
      .output(toWire(TicketNotificationListResponse))
      .query(({ ctx, input }) => listTicketNotifications(ctx.app, ctx.actor, input)),

    unreadCount: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/unread-count`, tags, summary: `Count unread ${owner}` },
        description: isOfUser ? 'Counts own unread notifications.' : 'Counts unread notifications of administrators.',
      })
      .output(toWire(UnreadCountResponse))
      .query(async ({ ctx }) => ({ unreadCount: await countUnreadNotifications(ctx.app, ctx.actor) })),

    read: marking
      .meta({
        openapi: { method: 'POST', path: `${base}/{notification_id}/read`, tags, summary: 'Mark a notification read' },
        description: isOfUser
          ? 'Marks an own notification as read. Repeating the call changes nothing.'
          : 'Marks a notification as read, for all administrators. Repeating the call changes nothing.',
        refuses: isOfUser ? [notificationNotFound] : [notificationNotFound, notAnAdminNotification],
      })
      .input(fromWire(NotificationPath))
      .output(SuccessResponse)
      .mutation(async ({ ctx, input }) => {
        await readNotification(ctx.app, ctx.actor, input.notificationId);
        return { success: true as const };
      }),

    readAll: marking
      .meta({
        openapi: { method: 'POST', path: `${base}/read-all`, tags, summary: `Mark ${owner} read` },
        description: isOfUser
          ? 'Marks all own notifications as read.'
          : 'Marks all notifications as read, for all administrators.',
      })
      .output(toWire(NotificationsMarkedResponse))
      .mutation(async ({ ctx }) => ({ success: true, markedCount: await readAllNotifications(ctx.app, ctx.actor) })),

    readOfTicket: marking
      .meta({
        openapi: {
          method: 'POST',
          path: `${base}/ticket/{ticket_id}/read`,
          tags,
          summary: 'Mark the notifications of a ticket read',
        },
        description: isOfUser
          ? 'Marks own notifications about one ticket as read.'
          : 'Marks the notifications about one ticket as read, for all administrators.',
      })
      .input(fromWire(TicketPath))
      .output(toWire(NotificationsMarkedResponse))
      .mutation(async ({ ctx, input }) => ({
        success: true,
        markedCount: await readTicketNotifications(ctx.app, ctx.actor, input.ticketId),
      })),
  };
}
