import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `Cabinet Tickets`. */

export const TicketPath = z.object({ ticket_id: z.int().describe('Id of the ticket.') });

export const CabinetTicketsTicketMessageResponse = z
  .object({
    id: z.int().describe('Id of the message of the ticket.'),
    message_text: z.string().describe('Text of the message.'),
    is_from_admin: z.boolean().describe('Whether support wrote the message.'),
    has_media: z.boolean().default(false).describe('Whether a file is attached.'),
    media_type: z.string().nullish().describe('Kind of the file: `photo`, `video` or `document`; null without a file.'),
    media_file_id: z.string().nullish().describe('Id of the file, as the upload returned it; null without a file.'),
    media_caption: z.string().nullish().describe('Caption of the file; null for none.'),
    created_at: Timestamp.describe('When the message was written (UTC).'),
  })
  .meta({ id: 'CabinetTicketsTicketMessageResponse' });

const ticketFields = {
  id: z.int().describe('Id of the ticket.'),
  title: z.string().describe('Subject of the ticket.'),
  status: z
    .string()
    .describe(
      'State of the ticket: `open` (waits for support), `pending` (the user wrote again after an answer), `answered` (by support) or `closed`.',
    ),
  priority: z.string().describe('`low`, `normal`, `high` or `urgent`.'),
  created_at: Timestamp.describe('When the ticket was opened (UTC).'),
  updated_at: Timestamp.describe('When the record was last changed (UTC).'),
  closed_at: Timestamp.nullish().describe('When the ticket was closed (UTC); null while it is not.'),
};

export const CabinetTicketsTicketResponse = z
  .object({
    ...ticketFields,
    updated_at: ticketFields.updated_at.describe(
      'When the ticket last got a message or was changed (UTC); lists begin with the latest.',
    ),
    messages_count: z.int().default(0).describe('Number of messages.'),
    last_message: CabinetTicketsTicketMessageResponse.nullish().describe('Newest message; null when there is none.'),
  })
  .meta({ id: 'CabinetTicketsTicketResponse' });

export const TicketListQuery = z.object({
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  per_page: z.int().min(1).max(100).default(20).describe('Number of records per page.'),
  status: z.string().nullish().describe('Only tickets in this state: `open`, `pending`, `answered` or `closed`.'),
});

export const TicketListResponse = z
  .object({
    items: CabinetTicketsTicketResponse.array().describe('A page of own tickets, last changed first.'),
    total: z.int().describe('Number of own tickets that match the filters, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'TicketListResponse' });

export const TicketDetailResponse = z
  .object({
    ...ticketFields,
    updated_at: ticketFields.updated_at.describe(
      'When the ticket was last changed (UTC): by a message, its status, its priority or a block of replies.',
    ),
    is_reply_blocked: z.boolean().default(false).describe('Whether replies of the user are blocked now.'),
    messages: CabinetTicketsTicketMessageResponse.array().default([]).describe('Messages, oldest first. Empty in lists.'),
  })
  .meta({ id: 'TicketDetailResponse' });

/** The use case checks, for all areas, that the type is known and that type and file are given together. */
const mediaFields = {
  media_type: z.string().nullish().describe('Kind of the file: `photo`, `video` or `document`; null without a file.'),
  media_file_id: z.string().nullish().describe('Id of the file, as the upload returned it; null without a file.'),
  media_caption: z.string().max(1000).nullish().describe('Caption of the file; null for none.'),
};

const EXAMPLE = { media_type: null, media_file_id: null, media_caption: null };

/** Blanks at the ends do not count. */
export const TicketCreateRequest = z
  .object({
    title: z.string().trim().min(3).max(255).describe('Subject of the ticket. Trimmed.'),
    message: z.string().trim().min(10).max(4000).describe('Text of the first message. Trimmed.'),
    ...mediaFields,
  })
  .meta({
    id: 'TicketCreateRequest',
    example: { title: 'No connection', message: 'The link stopped working today.', ...EXAMPLE },
  });

const TicketMessageCreateRequest = z
  .object({ message: z.string().trim().min(1).max(4000).describe('Text of the message. Trimmed.'), ...mediaFields })
  .meta({ id: 'TicketMessageCreateRequest', example: { message: 'It works again, thank you.', ...EXAMPLE } });

export const TicketMessageInput = withBody(TicketPath, TicketMessageCreateRequest);
