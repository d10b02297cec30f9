import { ticketNotFound } from '../../domain/tickets/rules.ts';
import {
  badTicketPriority,
  badTicketStatus,
  blockInThePast,
  changeReplyBlock,
  changeTicketPriority,
  changeTicketStatus,
  listTicketsPlainly,
  mediaNotFound,
  messageNotFound,
  readTicket,
  readTicketFile,
} from '../../domain/tickets/tickets.ts';
import { answerTicketByToken, emptyMessage } from '../../domain/tickets/write-ticket.ts';
import { withTitle } from '../cabinet/ticket-response.ts';
import { utcDate } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
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

export const supportRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/tickets', tags, summary: 'Tickets without messages, last changed first' },
      description: 'Lists tickets without their messages as a plain array, last changed first. All filters are combined.',
    })
    .input(fromWire(TicketListQuery))
    .output(toWire(TicketResponse.array()))
    .query(async ({ ctx, input }) => (await listTicketsPlainly(ctx.app, input, input)).map(withTitle)),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/tickets/{ticket_id}', tags, summary: 'A ticket with its messages' },
      description: 'Returns a ticket with its messages, oldest first.',
      refuses: [ticketNotFound],
    })
    .input(fromWire(TicketPath))
    .output(toWire(TicketResponse))
    .query(async ({ ctx, input }) => withTitle(await readTicket(ctx.app, input.ticketId))),

  setStatus: auditedWebProcedure('tickets:close')
    .meta({
      openapi: { method: 'POST', path: '/tickets/{ticket_id}/status', tags, summary: 'Set the status' },
      description:
        'Sets the state of a ticket; every state can follow every other. Emits `ticket.status_changed` where the state changes.',
      refuses: [badTicketStatus, ticketNotFound],
    })
    .input(fromWire(TicketStatusInput))
    .output(toWire(TicketResponse))
    .mutation(async ({ ctx, input }) => {
      await changeTicketStatus(ctx.app, ctx.actor, input.ticketId, input.status);
      return withTitle(await readTicket(ctx.app, input.ticketId));
    }),

  setPriority: auditedWebProcedure('tickets:close')
    .meta({
      openapi: { method: 'POST', path: '/tickets/{ticket_id}/priority', tags, summary: 'Set the priority' },
      description: 'Sets the priority of a ticket.',
      refuses: [badTicketPriority, ticketNotFound],
    })
    .input(fromWire(TicketPriorityInput))
    .output(toWire(TicketResponse))
    .mutation(async ({ ctx, input }) => {
      await changeTicketPriority(ctx.app, ctx.actor, input.ticketId, input.priority);
      return withTitle(await readTicket(ctx.app, input.ticketId));
    }),

  blockReplies: auditedWebProcedure('tickets:edit')
    .meta({
      openapi: { method: 'POST', path: '/tickets/{ticket_id}/reply-block', tags, summary: "Block the user's replies" },
      description:
        'Forbids the user to write in the ticket, permanently or until a time. `false` and null together remove the block.',
      refuses: [blockInThePast, ticketNotFound],
    })
    .input(fromWire(TicketReplyBlockInput))
    .output(toWire(TicketResponse))
    .mutation(async ({ ctx, input }) => {
      const block = { permanent: input.permanent, until: input.until ? utcDate(input.until) : null };
      await changeReplyBlock(ctx.app, ctx.actor, input.ticketId, block);
      return withTitle(await readTicket(ctx.app, input.ticketId));
    }),

  unblockReplies: auditedWebProcedure('tickets:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/tickets/{ticket_id}/reply-block', tags, summary: 'Allow replies again' },
      description: 'Allows the user to write in the ticket again.',
      refuses: [ticketNotFound],
    })
    .input(fromWire(TicketPath))
    .output(toWire(TicketResponse))
    .mutation(async ({ ctx, input }) => {
      await changeReplyBlock(ctx.app, ctx.actor, input.ticketId, { permanent: false, until: null });
      return withTitle(await readTicket(ctx.app, input.ticketId));
    }),

  reply: auditedWebProcedure('tickets:reply')
    .meta({
      openapi: { method: 'POST', path: '/tickets/{ticket_id}/reply', tags, summary: 'Answer a ticket' },
      description:
        'Adds a reply of support; the state becomes `answered`. The user is notified through the messenger, else by e-mail, and in the cabinet. Emits `ticket.message_added`. Text or a file is required.',
      refuses: [emptyMessage, ticketNotFound],
    })
    .input(fromWire(TicketReplyInput))
    .output(toWire(TicketReplyResponse))
    .mutation(async ({ ctx, input }) => {
      const draft = { ...input, text: input.messageText };
      const { message } = await answerTicketByToken(ctx.app, ctx.actor, input.ticketId, draft);
      return { ticket: withTitle(await readTicket(ctx.app, input.ticketId)), message };
    }),

  media: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/tickets/{ticket_id}/messages/{message_id}/media',
        tags,
        summary: 'The file of a message',
      },
      description:
        'Returns the file of a message and an address to load it from. Sends a request to the messenger to find the file.',
      refuses: [mediaNotFound, messageNotFound, ticketNotFound],
    })
    .input(fromWire(TicketMediaPath))
    .output(toWire(TicketMediaResponse))
    .query(({ ctx, input }) => readTicketFile(ctx.app, input.ticketId, input.messageId)),
});
