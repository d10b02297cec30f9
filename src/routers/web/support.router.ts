import { z } from 'zod';
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
import { Timestamp, TimestampInput, utcDate } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `support`. */

const TicketPath = z.object({ ticket_id: z.int().describe('Id of the ticket.') });
const TicketMediaPath = TicketPath.extend({ message_id: z.int().describe('Id of the message.') });

const TicketListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  status: z
    .enum(['open', 'answered', 'closed', 'pending'])
    .nullish()
    .describe('Only tickets in this state: `open`, `pending`, `answered` or `closed`.'),
  priority: z.string().nullish().describe('Only tickets of this priority: `low`, `normal`, `high` or `urgent`.'),
  user_id: z.int().nullish().describe('Only tickets of this user (internal id).'),
});

const TicketMessageResponse = z
  .object({
    id: z.int().describe('Id of the message of the ticket.'),
    user_id: z.int().describe('Internal id of the user.'),
    message_text: z.string().describe('Text of the message.'),
    is_from_admin: z.boolean().describe('Whether support wrote the message.'),
    has_media: z.boolean().describe('Whether a file is attached.'),
    media_type: z.string().nullish().describe('Kind of the file: `photo`, `video` or `document`; null without a file.'),
    media_file_id: z.string().nullish().describe('Id of the file, as the upload returned it; null without a file.'),
    media_caption: z.string().nullish().describe('Caption of the file; null for none.'),
    created_at: Timestamp.describe('When the message was written (UTC).'),
  })
  .meta({ id: 'TicketMessageResponse' });

const TicketResponse = z
  .object({
    id: z.int().describe('Id of the ticket.'),
    user_id: z.int().describe('Internal id of the user.'),
    title: z.string().describe('Subject of the ticket.'),
    status: z
      .string()
      .describe(
        'State of the ticket: `open` (waits for support), `pending` (the user wrote again after an answer), `answered` (by support) or `closed`.',
      ),
    priority: z.string().describe('`low`, `normal`, `high` or `urgent`.'),
    created_at: Timestamp.describe('When the ticket was opened (UTC).'),
    updated_at: Timestamp.describe(
      'When the ticket was last changed (UTC): by a message, its status, its priority or a block of replies.',
    ),
    closed_at: Timestamp.nullish().describe('When the ticket was closed (UTC); null while it is not.'),
    user_reply_block_permanent: z.boolean().describe('Whether replies of the user are blocked permanently.'),
    user_reply_block_until: Timestamp.nullish().describe('End of a temporary block of replies (UTC); null for none.'),
    messages: TicketMessageResponse.array().default([]).describe('Messages, oldest first. Empty in lists.'),
  })
  .meta({ id: 'TicketResponse' });

const TicketStatusUpdateRequest = z
  .object({
    status: z
      .string()
      .meta({ example: 'closed' })
      .describe('New state of the ticket: `open`, `pending`, `answered` or `closed`.'),
  })
  .meta({ id: 'TicketStatusUpdateRequest' });
const TicketStatusInput = withBody(TicketPath, TicketStatusUpdateRequest);

const TicketPriorityUpdateRequest = z
  .object({ priority: z.string().meta({ example: 'high' }).describe('New priority: `low`, `normal`, `high` or `urgent`.') })
  .meta({ id: 'TicketPriorityUpdateRequest' });
const TicketPriorityInput = withBody(TicketPath, TicketPriorityUpdateRequest);

const blockExample = { permanent: true, until: null };
const TicketReplyBlockRequest = z
  .object({
    permanent: z.boolean().default(false).describe('Whether replies are blocked permanently.'),
    until: TimestampInput.nullish().describe('End of a temporary block (UTC, in the future); null for none.'),
  })
  .meta({ id: 'TicketReplyBlockRequest', example: blockExample });
const TicketReplyBlockInput = withBody(TicketPath, TicketReplyBlockRequest);

const replyExample = {
  message_text: 'Please update the link in your app.',
  media_type: null,
  media_file_id: null,
  media_caption: null,
};
const TicketReplyRequest = z
  .object({
    message_text: z.string().max(4000).nullish().describe('Text of the reply; null when only a file is sent.'),
    media_type: z.string().max(32).nullish().describe('Kind of the file: `photo`, `video` or `document`; null without a file.'),
    media_file_id: z.string().max(255).nullish().describe('Id of the file, as the upload returned it; null without a file.'),
    media_caption: z.string().max(4000).nullish().describe('Caption of the file; null for none.'),
  })
  .meta({ id: 'TicketReplyRequest', example: replyExample });
const TicketReplyInput = withBody(TicketPath, TicketReplyRequest);

const TicketReplyResponse = z
  .object({
    ticket: TicketResponse.describe('The ticket after the reply.'),
    message: TicketMessageResponse.describe('The stored reply.'),
  })
  .meta({ id: 'TicketReplyResponse' });

const TicketMediaResponse = z
  .object({
    id: z.int().describe('Identifier of the message that carries the file.'),
    ticket_id: z.int().describe('Id of the ticket.'),
    media_type: z.string().describe('Kind of the file: `photo`, `video` or `document`.'),
    media_file_id: z.string().describe('Id of the file, as the upload returned it.'),
    media_caption: z.string().nullish().describe('Caption of the file; null for none.'),
    media_url: z.string().nullish().describe('Address where the file can be loaded; null when it is not found any more.'),
  })
  .meta({ id: 'TicketMediaResponse' });

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
