import { z } from 'zod';
import { CabinetTicketsTicketResponse, TicketDetailResponse, TicketListQuery, TicketPath } from '../cabinet/tickets.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `Cabinet Admin Tickets` (spec 05 section 1.4). */

export const AdminStatsResponse = z
  .object({ total: z.int(), open: z.int(), pending: z.int(), answered: z.int(), closed: z.int() })
  .meta({ id: 'AdminStatsResponse' });

export const TicketSettingsResponse = z
  .object({
    sla_enabled: z.boolean(),
    sla_minutes: z.int(),
    sla_check_interval_seconds: z.int(),
    sla_reminder_cooldown_minutes: z.int(),
    support_system_mode: z.string(),
    cabinet_user_notifications_enabled: z.boolean().default(true),
    cabinet_admin_notifications_enabled: z.boolean().default(true),
  })
  .meta({ id: 'TicketSettingsResponse' });

export const TicketSettingsUpdateRequest = z
  .object({
    sla_enabled: z.boolean().nullish(),
    sla_minutes: z.int().min(1).max(1440).nullish(),
    sla_check_interval_seconds: z.int().min(30).max(600).nullish(),
    sla_reminder_cooldown_minutes: z.int().min(1).max(120).nullish(),
    support_system_mode: z.string().nullish(),
    cabinet_user_notifications_enabled: z.boolean().nullish(),
    cabinet_admin_notifications_enabled: z.boolean().nullish(),
  })
  .meta({ id: 'TicketSettingsUpdateRequest', example: { sla_minutes: 5, support_system_mode: 'both' } });

export const AdminTicketListQuery = TicketListQuery.extend({ priority: z.string().nullish(), user_id: z.int().nullish() });

export const AdminTicketUserInfo = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    email: z.string().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
  })
  .meta({ id: 'AdminTicketUserInfo' });

export const AdminTicketResponse = z
  .object({ ...CabinetTicketsTicketResponse.shape, user: AdminTicketUserInfo.nullish() })
  .meta({ id: 'AdminTicketResponse' });

export const AdminTicketListResponse = z
  .object({ items: AdminTicketResponse.array(), total: z.int(), page: z.int(), per_page: z.int(), pages: z.int() })
  .meta({ id: 'AdminTicketListResponse' });

export const AdminTicketDetailResponse = z
  .object({ ...TicketDetailResponse.shape, user: AdminTicketUserInfo.nullish() })
  .meta({ id: 'AdminTicketDetailResponse' });

const replyExample = {
  message: 'Please update the link in your app.',
  media_type: null,
  media_file_id: null,
  media_caption: null,
};
export const AdminReplyRequest = z
  .object({
    message: z.string().trim().min(1).max(4000),
    media_type: z.string().nullish(),
    media_file_id: z.string().max(255).nullish(),
    media_caption: z.string().max(1000).nullish(),
  })
  .meta({ id: 'AdminReplyRequest', example: replyExample });
export const AdminReplyInput = withBody(TicketPath, AdminReplyRequest);

export const AdminStatusUpdateRequest = z
  .object({ status: z.string().meta({ example: 'closed' }) })
  .meta({ id: 'AdminStatusUpdateRequest' });
export const AdminStatusInput = withBody(TicketPath, AdminStatusUpdateRequest);

export const AdminPriorityUpdateRequest = z
  .object({ priority: z.string().meta({ example: 'high' }) })
  .meta({ id: 'AdminPriorityUpdateRequest' });
export const AdminPriorityInput = withBody(TicketPath, AdminPriorityUpdateRequest);
