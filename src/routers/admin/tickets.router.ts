import { z } from 'zod';
import type { App } from '../../core/app.ts';
import { ticketNotFound } from '../../domain/tickets/rules.ts';
import { badSupportMode, changeTicketSettings, readTicketSettings } from '../../domain/tickets/ticket-settings.ts';
import {
  badTicketPriority,
  badTicketStatus,
  changeTicketPriority,
  changeTicketStatus,
  listAllTickets,
  readTicket,
  readTicketStats,
} from '../../domain/tickets/tickets.ts';
import type { TicketDetail } from '../../domain/tickets/types.ts';
import { answerTicket } from '../../domain/tickets/write-ticket.ts';
import { withFiles } from '../cabinet/signed-files.ts';
import { ticketPage, withTitle } from '../cabinet/ticket-response.ts';
import {
  CabinetTicketsTicketMessageResponse,
  CabinetTicketsTicketResponse,
  TicketDetailResponse,
  TicketListQuery,
  TicketPath,
} from '../cabinet/tickets.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Cabinet Admin Tickets`. */

const AdminStatsResponse = z
  .object({
    total: z.int().describe('Number of all tickets.'),
    open: z.int().describe('Number of open tickets.'),
    pending: z.int().describe('Number of tickets in which the user wrote after an answer.'),
    answered: z.int().describe('Number of answered tickets.'),
    closed: z.int().describe('Number of closed tickets.'),
  })
  .meta({ id: 'AdminStatsResponse' });

const TicketSettingsResponse = z
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

const TicketSettingsUpdateRequest = z
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

const AdminTicketListQuery = TicketListQuery.extend({
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

const AdminTicketListResponse = z
  .object({
    items: AdminTicketResponse.array().describe('A page of tickets of all users, last changed first.'),
    total: z.int().describe('Number of tickets of all users that match the filters, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'AdminTicketListResponse' });

const AdminTicketDetailResponse = z
  .object({
    ...TicketDetailResponse.shape,
    updated_at: TicketDetailResponse.shape.updated_at.describe(
      'When the ticket last got a message, a state, a priority or a reply block (UTC).',
    ),
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
const AdminReplyInput = withBody(TicketPath, AdminReplyRequest);

const AdminStatusUpdateRequest = z
  .object({
    status: z
      .string()
      .meta({ example: 'closed' })
      .describe('New state of the ticket: `open`, `pending`, `answered` or `closed`.'),
  })
  .meta({ id: 'AdminStatusUpdateRequest' });
const AdminStatusInput = withBody(TicketPath, AdminStatusUpdateRequest);

const AdminPriorityUpdateRequest = z
  .object({ priority: z.string().meta({ example: 'high' }).describe('New priority: `low`, `normal`, `high` or `urgent`.') })
  .meta({ id: 'AdminPriorityUpdateRequest' });
const AdminPriorityInput = withBody(TicketPath, AdminPriorityUpdateRequest);

const tags: [string] = ['Cabinet Admin Tickets'];
const base = '/cabinet/admin/tickets' as const;

const toDetail = (app: App, ticket: TicketDetail) => withFiles(app, { ...withTitle(ticket), user: ticket.owner });

export const adminTicketsRouter = router({
  stats: adminProcedure('tickets:read')
    .meta({
      openapi: { method: 'GET', path: `${base}/stats`, tags, summary: 'Number of tickets by status' },
      description: 'Counts tickets by state.',
    })
    .output(toWire(AdminStatsResponse))
    .query(({ ctx }) => readTicketStats(ctx.app)),

  settings: adminProcedure('tickets:settings')
    .meta({
      openapi: { method: 'GET', path: `${base}/settings`, tags, summary: 'Settings of support' },
      description: 'Returns the settings of support.',
    })
    .output(toWire(TicketSettingsResponse))
    .query(({ ctx }) => readTicketSettings(ctx.app)),

  updateSettings: adminProcedure('tickets:settings')
    .meta({
      openapi: { method: 'PATCH', path: `${base}/settings`, tags, summary: 'Change settings of support' },
      description:
        'Changes settings of support; absent or null fields are not changed. The change applies immediately on every instance.',
      refuses: [badSupportMode],
    })
    .input(fromWire(TicketSettingsUpdateRequest))
    .output(toWire(TicketSettingsResponse))
    .mutation(({ ctx, input }) => changeTicketSettings(ctx.app, ctx.actor, input)),

  list: adminProcedure('tickets:read')
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'All tickets, last changed first' },
      description: 'Lists all tickets with their users and newest messages, last changed first.',
    })
    .input(fromWire(AdminTicketListQuery))
    .output(toWire(AdminTicketListResponse))
    .query(async ({ ctx, input }) => withFiles(ctx.app, ticketPage(await listAllTickets(ctx.app, input, input), input))),

  get: adminProcedure('tickets:read')
    .meta({
      openapi: { method: 'GET', path: `${base}/{ticket_id}`, tags, summary: 'A ticket with its messages and its user' },
      description: 'Returns a ticket with its messages, oldest first, and its user.',
      refuses: [ticketNotFound],
    })
    .input(fromWire(TicketPath))
    .output(toWire(AdminTicketDetailResponse))
    .query(async ({ ctx, input }) => toDetail(ctx.app, await readTicket(ctx.app, input.ticketId))),

  reply: adminProcedure('tickets:reply')
    .meta({
      openapi: { method: 'POST', path: `${base}/{ticket_id}/reply`, tags, summary: 'Answer a ticket' },
      description:
        'Adds a reply of support; the state becomes `answered`. The user is notified through the messenger, else by e-mail, and in the cabinet. Emits `ticket.message_added`.',
      refuses: [ticketNotFound],
    })
    .input(fromWire(AdminReplyInput))
    .output(toWire(CabinetTicketsTicketMessageResponse))
    .mutation(async ({ ctx, input: { ticketId, ...input } }) =>
      withFiles(ctx.app, await answerTicket(ctx.app, ctx.actor, ticketId, { ...input, text: input.message })),
    ),

  setStatus: adminProcedure('tickets:close')
    .meta({
      openapi: { method: 'POST', path: `${base}/{ticket_id}/status`, tags, summary: 'Set the status' },
      description:
        'Sets the state of a ticket; every state can follow every other. Emits `ticket.status_changed` where the state changes.',
      refuses: [badTicketStatus, ticketNotFound],
    })
    .input(fromWire(AdminStatusInput))
    .output(toWire(AdminTicketDetailResponse))
    .mutation(async ({ ctx, input }) => {
      await changeTicketStatus(ctx.app, ctx.actor, input.ticketId, input.status);
      return toDetail(ctx.app, await readTicket(ctx.app, input.ticketId));
    }),

  setPriority: adminProcedure('tickets:close')
    .meta({
      openapi: { method: 'POST', path: `${base}/{ticket_id}/priority`, tags, summary: 'Set the priority' },
      description: 'Sets the priority of a ticket.',
      refuses: [badTicketPriority, ticketNotFound],
    })
    .input(fromWire(AdminPriorityInput))
    .output(toWire(AdminTicketDetailResponse))
    .mutation(async ({ ctx, input }) => {
      await changeTicketPriority(ctx.app, ctx.actor, input.ticketId, input.priority);
      return toDetail(ctx.app, await readTicket(ctx.app, input.ticketId));
    }),
});
