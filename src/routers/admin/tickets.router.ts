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
import { CabinetTicketsTicketMessageResponse, TicketPath } from '../cabinet/tickets.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
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
