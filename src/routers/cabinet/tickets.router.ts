import { ticketNotFound, ticketsDisabled } from '../../domain/tickets/rules.ts';
import { listMyTickets, readMyTicket } from '../../domain/tickets/tickets.ts';
import {
  openTicket,
  postUserMessage,
  rateLimited,
  repliesBlocked,
  supportBlocked,
  ticketClosed,
} from '../../domain/tickets/write-ticket.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { withFiles } from './signed-files.ts';
import { ticketPage, withTitle } from './ticket-response.ts';
import {
  CabinetTicketsTicketMessageResponse,
  TicketCreateRequest,
  TicketDetailResponse,
  TicketListQuery,
  TicketListResponse,
  TicketMessageInput,
  TicketPath,
} from './tickets.schemas.ts';

const tags: [string] = ['Cabinet Tickets'];

export const ticketsRouter = router({
  list: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/tickets', tags, summary: 'Own tickets, last changed first' },
      description: 'Lists own tickets, last changed first.',
      refuses: [ticketsDisabled],
    })
    .input(fromWire(TicketListQuery))
    .output(toWire(TicketListResponse))
    .query(async ({ ctx, input }) => withFiles(ctx.app, ticketPage(await listMyTickets(ctx.app, ctx.actor, input), input))),

  create: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/tickets', tags, summary: 'Create a ticket' },
      description:
        'Opens a ticket with its first message. Administrators are notified in the messenger and in the cabinet. Emits `ticket.created`. Accepts `Idempotency-Key`; the attached file is not compared.',
      refuses: [ticketsDisabled, supportBlocked],
      idempotent: true,
    })
    .input(fromWire(TicketCreateRequest))
    .output(toWire(TicketDetailResponse))
    .mutation(async ({ ctx, input }) => {
      const ticket = await openTicket(ctx.app, ctx.actor, { ...input, text: input.message }, ctx.idempotencyKey);
      return withFiles(ctx.app, withTitle(ticket));
    }),

  get: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/tickets/{ticket_id}', tags, summary: 'An own ticket with its messages' },
      description: 'Returns an own ticket with its messages, oldest first.',
      refuses: [ticketNotFound],
    })
    .input(fromWire(TicketPath))
    .output(toWire(TicketDetailResponse))
    .query(async ({ ctx, input }) => withFiles(ctx.app, withTitle(await readMyTicket(ctx.app, ctx.actor, input.ticketId)))),

  addMessage: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/tickets/{ticket_id}/messages', tags, summary: 'Add a message to an own ticket' },
      description:
        'Adds a message to an own ticket that is not closed; an answered ticket becomes pending. Administrators are notified. Emits `ticket.message_added`. Limited to one message in two seconds. Accepts `Idempotency-Key`; the attached file is not compared.',
      refuses: [repliesBlocked, ticketClosed, ticketNotFound, rateLimited],
      idempotent: true,
    })
    .input(fromWire(TicketMessageInput))
    .output(toWire(CabinetTicketsTicketMessageResponse))
    .mutation(async ({ ctx, input: { ticketId, ...input } }) =>
      withFiles(
        ctx.app,
        await postUserMessage(ctx.app, ctx.actor, ticketId, { ...input, text: input.message }, ctx.idempotencyKey),
      ),
    ),
});
