import { pageCount } from '../../core/paging.ts';
import { listOwnTickets, readOwnTicket } from '../../domain/tickets/read-tickets.ts';
import { type OpenedTicket, openTicket, postUserMessage } from '../../domain/tickets/write-ticket.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { attachmentInput, toMessage, toTicketFields } from './ticket-response.ts';
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

function toDetail(ticket: OpenedTicket) {
  return { ...toTicketFields(ticket), is_reply_blocked: ticket.isReplyBlocked, messages: ticket.messages.map(toMessage) };
}

export const ticketsRouter = router({
  list: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/tickets', tags, summary: 'Own tickets, last changed first' } })
    .input(TicketListQuery)
    .output(TicketListResponse)
    .query(async ({ ctx, input }) => {
      const { page, per_page: perPage } = input;
      const { items, total } = await listOwnTickets(ctx.app, ctx.actor, { page, perPage, status: input.status ?? null });
      const rows = items.map((item) => ({
        ...toTicketFields(item),
        messages_count: item.messagesCount,
        last_message: item.lastMessage && toMessage(item.lastMessage),
      }));
      return { items: rows, total, page, per_page: perPage, pages: pageCount(total, perPage) };
    }),

  create: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: '/cabinet/tickets', tags, summary: 'Open a ticket' } })
    .input(TicketCreateRequest)
    .output(TicketDetailResponse)
    .mutation(async ({ ctx, input }) => {
      const draft = { title: input.title, text: input.message, ...attachmentInput(input) };
      return toDetail(await openTicket(ctx.app, ctx.actor, draft));
    }),

  get: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/tickets/{ticket_id}', tags, summary: 'An own ticket with its messages' } })
    .input(TicketPath)
    .output(TicketDetailResponse)
    .query(async ({ ctx, input }) => toDetail(await readOwnTicket(ctx.app, ctx.actor, input.ticket_id))),

  addMessage: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/tickets/{ticket_id}/messages', tags, summary: 'Write into an own ticket' },
    })
    .input(TicketMessageInput)
    .output(CabinetTicketsTicketMessageResponse)
    .mutation(async ({ ctx, input }) => {
      const draft = { text: input.message, ...attachmentInput(input) };
      return toMessage(await postUserMessage(ctx.app, ctx.actor, input.ticket_id, draft));
    }),
});
