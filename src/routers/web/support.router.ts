import { changeReplyBlock, changeTicketPriority, changeTicketStatus } from '../../domain/tickets/change-ticket.ts';
import { listTicketsPlainly, readTicket, readTicketFile } from '../../domain/tickets/read-tickets.ts';
import { titleOf } from '../../domain/tickets/rules.ts';
import type { Ticket, TicketMessage } from '../../domain/tickets/types.ts';
import { answerTicketByToken } from '../../domain/tickets/write-ticket.ts';
import { attachmentInput, toMessage } from '../cabinet/ticket-response.ts';
import { utcDate } from '../shared.schemas.ts';
import { router, webProcedure } from '../trpc.ts';
import {
  TicketListQuery,
  TicketMediaPath,
  TicketMediaResponse,
  TicketPath,
  TicketPriorityInput,
  TicketReplyBlockInput,
  TicketReplyInput,
  TicketReplyResponse,
  TicketResponse,
  TicketStatusInput,
} from './support.schemas.ts';

const tags: [string] = ['support'];

function toMessageOfUser(message: TicketMessage) {
  const { id, ...rest } = toMessage(message);
  return { id, user_id: message.userId, ...rest };
}

function toTicket(ticket: Ticket & { messages?: TicketMessage[] }) {
  return {
    id: ticket.id,
    user_id: ticket.userId,
    title: titleOf(ticket),
    status: ticket.status,
    priority: ticket.priority,
    created_at: ticket.createdAt,
    updated_at: ticket.updatedAt,
    closed_at: ticket.closedAt,
    user_reply_block_permanent: ticket.replyBlockPermanent,
    user_reply_block_until: ticket.replyBlockUntil,
    messages: (ticket.messages ?? []).map(toMessageOfUser),
  };
}

export const supportRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/tickets', tags, summary: 'Tickets without messages, last changed first' } })
    .input(TicketListQuery)
    .output(TicketResponse.array())
    .query(async ({ ctx, input }) => {
      const filter = { userId: input.user_id ?? null, status: input.status ?? null, priority: input.priority ?? null };
      const tickets = await listTicketsPlainly(ctx.app, filter, { limit: input.limit, offset: input.offset });
      return tickets.map(toTicket);
    }),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/tickets/{ticket_id}', tags, summary: 'A ticket with its messages' } })
    .input(TicketPath)
    .output(TicketResponse)
    .query(async ({ ctx, input }) => toTicket(await readTicket(ctx.app, input.ticket_id))),

  setStatus: webProcedure
    .meta({ openapi: { method: 'POST', path: '/tickets/{ticket_id}/status', tags, summary: 'Set the status' } })
    .input(TicketStatusInput)
    .output(TicketResponse)
    .mutation(async ({ ctx, input }) => {
      await changeTicketStatus(ctx.app, ctx.actor, input.ticket_id, input.status);
      return toTicket(await readTicket(ctx.app, input.ticket_id));
    }),

  setPriority: webProcedure
    .meta({ openapi: { method: 'POST', path: '/tickets/{ticket_id}/priority', tags, summary: 'Set the priority' } })
    .input(TicketPriorityInput)
    .output(TicketResponse)
    .mutation(async ({ ctx, input }) => {
      await changeTicketPriority(ctx.app, ctx.actor, input.ticket_id, input.priority);
      return toTicket(await readTicket(ctx.app, input.ticket_id));
    }),

  blockReplies: webProcedure
    .meta({ openapi: { method: 'POST', path: '/tickets/{ticket_id}/reply-block', tags, summary: "Block the user's replies" } })
    .input(TicketReplyBlockInput)
    .output(TicketResponse)
    .mutation(async ({ ctx, input }) => {
      const block = { permanent: input.permanent, until: input.until ? utcDate(input.until) : null };
      await changeReplyBlock(ctx.app, ctx.actor, input.ticket_id, block);
      return toTicket(await readTicket(ctx.app, input.ticket_id));
    }),

  unblockReplies: webProcedure
    .meta({ openapi: { method: 'DELETE', path: '/tickets/{ticket_id}/reply-block', tags, summary: 'Allow replies again' } })
    .input(TicketPath)
    .output(TicketResponse)
    .mutation(async ({ ctx, input }) => {
      await changeReplyBlock(ctx.app, ctx.actor, input.ticket_id, { permanent: false, until: null });
      return toTicket(await readTicket(ctx.app, input.ticket_id));
    }),

  reply: webProcedure
    .meta({ openapi: { method: 'POST', path: '/tickets/{ticket_id}/reply', tags, summary: 'Answer a ticket' } })
    .input(TicketReplyInput)
    .output(TicketReplyResponse)
    .mutation(async ({ ctx, input }) => {
      const draft = { text: input.message_text ?? null, ...attachmentInput(input) };
      const { message } = await answerTicketByToken(ctx.app, ctx.actor, input.ticket_id, draft);
      return { ticket: toTicket(await readTicket(ctx.app, input.ticket_id)), message: toMessageOfUser(message) };
    }),

  media: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/tickets/{ticket_id}/messages/{message_id}/media',
        tags,
        summary: 'The file of a message',
      },
    })
    .input(TicketMediaPath)
    .output(TicketMediaResponse)
    .query(async ({ ctx, input }) => {
      const file = await readTicketFile(ctx.app, input.ticket_id, input.message_id);
      return {
        id: file.messageId,
        ticket_id: file.ticketId,
        media_type: file.mediaType,
        media_file_id: file.mediaFileId,
        media_caption: file.mediaCaption,
        media_url: file.mediaUrl,
      };
    }),
});
