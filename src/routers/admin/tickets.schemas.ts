import { z } from 'zod';
import { CabinetTicketsTicketResponse, TicketDetailResponse, TicketListQuery, TicketPath } from '../cabinet/tickets.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `Cabinet Admin Tickets` (spec 05 section 1.4). */

export const AdminStatsResponse = z
  .object({
    total: z.int().describe('Number of all tickets.'),
    open: z.int().describe('Number of open tickets.'),
    pending: z.int().describe('Number of tickets in which the user wrote after an answer.'),
    answered: z.int().describe('Number of answered tickets.'),
    closed: z.int().describe('Number of closed tickets.'),
  })
  .meta({ id: 'AdminStatsResponse' });

export const TicketSettingsResponse = z
  .object({
    sla_enabled: z.boolean().describe('Whether administrators are reminded of tickets that wait.'),
    sla_minutes: z.int().describe('Minutes after which a ticket waits too long.'),
    sla_check_interval_seconds: z.int().describe('Seconds between two checks.'),
    sla_reminder_cooldown_minutes: z.int().describe('Minutes between two reminders of one ticket.'),
    support_system_mode: z.string().describe('How users reach support: `tickets`, `contact` or `both`.'),
    cabinet_user_notifications_enabled: z.boolean().default(true).describe('Whether users get notifications in the cabinet.'),
    cabinet_admin_notifications_enabled: z
      .boolean()
      .default(true)
      .describe('Whether administrators get notifications in the cabinet.'),
  })
  .meta({ id: 'TicketSettingsResponse' });

export const TicketSettingsUpdateRequest = z
  .object({
    sla_enabled: z
      .boolean()
      .nullish()
      .describe('Whether administrators are reminded of tickets that wait. Null in a request leaves it unchanged.'),
    sla_minutes: z
      .int()
      .min(1)
      .max(1440)
      .nullish()
      .describe('Minutes after which a ticket waits too long. Null in a request leaves it unchanged.'),
    sla_check_interval_seconds: z
      .int()
      .min(30)
      .max(600)
      .nullish()
      .describe('Seconds between two checks. Null in a request leaves it unchanged.'),
    sla_reminder_cooldown_minutes: z
      .int()
      .min(1)
      .max(120)
      .nullish()
      .describe('Minutes between two reminders of one ticket. Null in a request leaves it unchanged.'),
    support_system_mode: z.string().nullish().describe('`tickets`, `contact` or `both`. Null in a request leaves it unchanged.'),
    cabinet_user_notifications_enabled: z
      .boolean()
      .nullish()
      .describe('Whether users get notifications in the cabinet. Null in a request leaves it unchanged.'),
    cabinet_admin_notifications_enabled: z
      .boolean()
      .nullish()
      .describe('Whether administrators get notifications in the cabinet. Null in a request leaves it unchanged.'),
  })
  .meta({ id: 'TicketSettingsUpdateRequest', example: { sla_minutes: 5, support_system_mode: 'both' } });

export const AdminTicketListQuery = TicketListQuery.extend({
  priority: z.string().nullish().describe('Only tickets of this priority: `low`, `normal`, `high` or `urgent`.'),
  user_id: z.int().nullish().describe('Only tickets of this user (internal id).'),
});

const AdminTicketUserInfo = z
  .object({
    id: z.int().describe('Internal id of the user who opened the ticket.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    email: z.string().nullish().describe('E-mail address; null when the account has none.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
  })
  .meta({ id: 'AdminTicketUserInfo' });

const AdminTicketResponse = z
  .object({
    ...CabinetTicketsTicketResponse.shape,
    user: AdminTicketUserInfo.nullish().describe('The user; null when the account no longer exists.'),
  })
  .meta({ id: 'AdminTicketResponse' });

export const AdminTicketListResponse = z
  .object({
    items: AdminTicketResponse.array().describe('A page of tickets of all users, last changed first.'),
    total: z.int().describe('Number of tickets of all users that match the filters, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'AdminTicketListResponse' });

export const AdminTicketDetailResponse = z
  .object({
    ...TicketDetailResponse.shape,
    user: AdminTicketUserInfo.nullish().describe('The user; null when the account no longer exists.'),
  })
  .meta({ id: 'AdminTicketDetailResponse' });

const replyExample = {
  message: 'Please update the link in your app.',
  media_type: null,
  media_file_id: null,
  media_caption: null,
};
const AdminReplyRequest = z
  .object({
    message: z.string().trim().min(1).max(4000).describe('Text of the reply. Trimmed.'),
    media_type: z.string().nullish().describe('Kind of the file: `photo`, `video` or `document`; null without a file.'),
    media_file_id: z.string().max(255).nullish().describe('Id of the file, as the upload returned it; null without a file.'),
    media_caption: z.string().max(1000).nullish().describe('Caption of the file; null for none.'),
  })
  .meta({ id: 'AdminReplyRequest', example: replyExample });
export const AdminReplyInput = withBody(TicketPath, AdminReplyRequest);

const AdminStatusUpdateRequest = z
  .object({
    status: z
      .string()
      .meta({ example: 'closed' })
      .describe('New state of the ticket: `open`, `pending`, `answered` or `closed`.'),
  })
  .meta({ id: 'AdminStatusUpdateRequest' });
export const AdminStatusInput = withBody(TicketPath, AdminStatusUpdateRequest);

const AdminPriorityUpdateRequest = z
  .object({ priority: z.string().meta({ example: 'high' }).describe('New priority: `low`, `normal`, `high` or `urgent`.') })
  .meta({ id: 'AdminPriorityUpdateRequest' });
export const AdminPriorityInput = withBody(TicketPath, AdminPriorityUpdateRequest);
