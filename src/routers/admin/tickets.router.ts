import { pageCount } from '../../core/paging.ts';
import { changeTicketPriority, changeTicketStatus } from '../../domain/tickets/change-ticket.ts';
import { listAllTickets, readTicket, readTicketStats } from '../../domain/tickets/read-tickets.ts';
import { changeTicketSettings, readTicketSettings } from '../../domain/tickets/ticket-settings.ts';
import type { TicketDetail, TicketOwner, TicketSettings } from '../../domain/tickets/types.ts';
import { answerTicket } from '../../domain/tickets/write-ticket.ts';
import { attachmentInput, toMessage, toTicketFields } from '../cabinet/ticket-response.ts';
import { CabinetTicketsTicketMessageResponse, TicketPath } from '../cabinet/tickets.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import {
  AdminPriorityInput,
  AdminReplyInput,
  AdminStatsResponse,
  AdminStatusInput,
  AdminTicketDetailResponse,
  AdminTicketListQuery,
  AdminTicketListResponse,
  TicketSettingsResponse,
  TicketSettingsUpdateRequest,
} from './tickets.schemas.ts';

const tags: [string] = ['Cabinet Admin Tickets'];
const base = '/cabinet/admin/tickets' as const;

function toOwner(owner: TicketOwner) {
  return {
    id: owner.id,
    messenger_id: owner.messengerId,
    email: owner.email,
    username: owner.username,
    first_name: owner.firstName,
    last_name: owner.lastName,
  };
}

function toDetail(ticket: TicketDetail) {
  return {
    ...toTicketFields(ticket),
    is_reply_blocked: ticket.isReplyBlocked,
    user: toOwner(ticket.owner),
    messages: ticket.messages.map(toMessage),
  };
}

function toSettings(settings: TicketSettings) {
  return {
    sla_enabled: settings.slaEnabled,
    sla_minutes: settings.slaMinutes,
    sla_check_interval_seconds: settings.slaCheckIntervalSeconds,
    sla_reminder_cooldown_minutes: settings.slaReminderCooldownMinutes,
    support_system_mode: settings.supportSystemMode,
    cabinet_user_notifications_enabled: settings.userNotificationsEnabled,
    cabinet_admin_notifications_enabled: settings.adminNotificationsEnabled,
  };
}

export const adminTicketsRouter = router({
  stats: adminProcedure('tickets:read')
    .meta({ openapi: { method: 'GET', path: `${base}/stats`, tags, summary: 'Number of tickets by status' } })
    .output(AdminStatsResponse)
    .query(({ ctx }) => readTicketStats(ctx.app)),

  settings: adminProcedure('tickets:settings')
    .meta({ openapi: { method: 'GET', path: `${base}/settings`, tags, summary: 'Settings of support' } })
    .output(TicketSettingsResponse)
    .query(async ({ ctx }) => toSettings(await readTicketSettings(ctx.app))),

  updateSettings: adminProcedure('tickets:settings')
    .meta({ openapi: { method: 'PATCH', path: `${base}/settings`, tags, summary: 'Change settings of support' } })
    .input(TicketSettingsUpdateRequest)
    .output(TicketSettingsResponse)
    .mutation(async ({ ctx, input }) => {
      const patch = {
        slaEnabled: input.sla_enabled ?? null,
        slaMinutes: input.sla_minutes ?? null,
        slaCheckIntervalSeconds: input.sla_check_interval_seconds ?? null,
        slaReminderCooldownMinutes: input.sla_reminder_cooldown_minutes ?? null,
        supportSystemMode: input.support_system_mode ?? null,
        userNotificationsEnabled: input.cabinet_user_notifications_enabled ?? null,
        adminNotificationsEnabled: input.cabinet_admin_notifications_enabled ?? null,
      };
      return toSettings(await changeTicketSettings(ctx.app, ctx.actor, patch));
    }),

  list: adminProcedure('tickets:read')
    .meta({ openapi: { method: 'GET', path: base, tags, summary: 'All tickets, last changed first' } })
    .input(AdminTicketListQuery)
    .output(AdminTicketListResponse)
    .query(async ({ ctx, input }) => {
      const { page, per_page: perPage } = input;
      const filter = { userId: input.user_id ?? null, status: input.status ?? null, priority: input.priority ?? null };
      const { items, total } = await listAllTickets(ctx.app, filter, { page, perPage });
      const rows = items.map((item) => ({
        ...toTicketFields(item),
        messages_count: item.messagesCount,
        user: toOwner(item.owner),
        last_message: item.lastMessage && toMessage(item.lastMessage),
      }));
      return { items: rows, total, page, per_page: perPage, pages: pageCount(total, perPage) };
    }),

  get: adminProcedure('tickets:read')
    .meta({ openapi: { method: 'GET', path: `${base}/{ticket_id}`, tags, summary: 'A ticket with its messages and its user' } })
    .input(TicketPath)
    .output(AdminTicketDetailResponse)
    .query(async ({ ctx, input }) => toDetail(await readTicket(ctx.app, input.ticket_id))),

  reply: adminProcedure('tickets:reply')
    .meta({ openapi: { method: 'POST', path: `${base}/{ticket_id}/reply`, tags, summary: 'Answer a ticket' } })
    .input(AdminReplyInput)
    .output(CabinetTicketsTicketMessageResponse)
    .mutation(async ({ ctx, input }) => {
      const draft = { text: input.message, ...attachmentInput(input) };
      return toMessage(await answerTicket(ctx.app, ctx.actor, input.ticket_id, draft));
    }),

  setStatus: adminProcedure('tickets:close')
    .meta({ openapi: { method: 'POST', path: `${base}/{ticket_id}/status`, tags, summary: 'Set the status' } })
    .input(AdminStatusInput)
    .output(AdminTicketDetailResponse)
    .mutation(async ({ ctx, input }) => {
      await changeTicketStatus(ctx.app, ctx.actor, input.ticket_id, input.status);
      return toDetail(await readTicket(ctx.app, input.ticket_id));
    }),

  setPriority: adminProcedure('tickets:close')
    .meta({ openapi: { method: 'POST', path: `${base}/{ticket_id}/priority`, tags, summary: 'Set the priority' } })
    .input(AdminPriorityInput)
    .output(AdminTicketDetailResponse)
    .mutation(async ({ ctx, input }) => {
      await changeTicketPriority(ctx.app, ctx.actor, input.ticket_id, input.priority);
      return toDetail(await readTicket(ctx.app, input.ticket_id));
    }),
});
