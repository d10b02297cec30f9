import { z } from 'zod';
import { Timestamp, TimestampInput } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `support` (spec 05 section 1.3). */

export const TicketPath = z.object({ ticket_id: z.int().describe('Id of the ticket.') });
export const TicketMediaPath = TicketPath.extend({ message_id: z.int().describe('Id of the message.') });

export const TicketListQuery = z.object({
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

export const TicketResponse = z
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
    updated_at: Timestamp.describe('When the record was last changed (UTC).'),
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
export const TicketStatusInput = withBody(TicketPath, TicketStatusUpdateRequest);

const TicketPriorityUpdateRequest = z
  .object({ priority: z.string().meta({ example: 'high' }).describe('New priority: `low`, `normal`, `high` or `urgent`.') })
  .meta({ id: 'TicketPriorityUpdateRequest' });
export const TicketPriorityInput = withBody(TicketPath, TicketPriorityUpdateRequest);

const blockExample = { permanent: true, until: null };
const TicketReplyBlockRequest = z
  .object({
    permanent: z.boolean().default(false).describe('Whether replies are blocked permanently.'),
    until: TimestampInput.nullish().describe('End of a temporary block (UTC, in the future); null for none.'),
  })
  .meta({ id: 'TicketReplyBlockRequest', example: blockExample });
export const TicketReplyBlockInput = withBody(TicketPath, TicketReplyBlockRequest);

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
export const TicketReplyInput = withBody(TicketPath, TicketReplyRequest);

export const TicketReplyResponse = z
  .object({
    ticket: TicketResponse.describe('The ticket after the reply.'),
    message: TicketMessageResponse.describe('The stored reply.'),
  })
  .meta({ id: 'TicketReplyResponse' });

export const TicketMediaResponse = z
  .object({
    id: z.int().describe('Identifier of the message that carries the file.'),
    ticket_id: z.int().describe('Id of the ticket.'),
    media_type: z.string().describe('Kind of the file: `photo`, `video` or `document`.'),
    media_file_id: z.string().describe('Id of the file, as the upload returned it.'),
    media_caption: z.string().nullish().describe('Caption of the file; null for none.'),
    media_url: z.string().nullish().describe('Address where the file can be loaded; null when it is not found any more.'),
  })
  .meta({ id: 'TicketMediaResponse' });
