import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract groups `Cabinet Ticket Notifications` and `Cabinet Admin Ticket Notifications` (spec 05 section 2). */

export const TicketNotificationQuery = z.object({
  unread_only: z.boolean().default(false),
  limit: z.int().min(1).max(100).default(50),
  offset: z.int().min(0).default(0),
});

export const NotificationPath = z.object({ notification_id: z.int() });

export const TicketNotificationResponse = z
  .object({
    id: z.int(),
    ticket_id: z.int(),
    notification_type: z.string(),
    message: z.string().nullish(),
    is_read: z.boolean(),
    created_at: Moment,
    read_at: Moment.nullish(),
  })
  .meta({ id: 'TicketNotificationResponse' });

export const TicketNotificationListResponse = z
  .object({ items: TicketNotificationResponse.array(), unread_count: z.int() })
  .meta({ id: 'TicketNotificationListResponse' });

export const UnreadCountResponse = z.object({ unread_count: z.int() }).meta({ id: 'UnreadCountResponse' });

export const NotificationsMarkedResponse = z
  .object({ success: z.boolean(), marked_count: z.int() })
  .meta({ id: 'NotificationsMarkedResponse' });
