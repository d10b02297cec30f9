import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract groups `Cabinet Ticket Notifications` and `Cabinet Admin Ticket Notifications` (spec 05 section 2). */

export const TicketNotificationQuery = z.object({
  unread_only: z.boolean().default(false).describe('Whether only unread notifications are listed.'),
  limit: z.int().min(1).max(100).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

export const NotificationPath = z.object({ notification_id: z.int().describe('Id of the notification.') });

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

export const TicketNotificationListResponse = z
  .object({
    items: TicketNotificationResponse.array().describe('A page of notifications about tickets, newest first.'),
    unread_count: z.int().describe('Number of all unread notifications.'),
  })
  .meta({ id: 'TicketNotificationListResponse' });

export const UnreadCountResponse = z
  .object({ unread_count: z.int().describe('Number of all unread notifications.') })
  .meta({ id: 'UnreadCountResponse' });

export const NotificationsMarkedResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    marked_count: z.int().describe('Number of notifications that were marked.'),
  })
  .meta({ id: 'NotificationsMarkedResponse' });
