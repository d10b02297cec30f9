import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { Moment } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `support` (spec 05 section 1.3). */

export const TicketPath = z.object({ ticket_id: z.int() });
export const TicketMediaPath = TicketPath.extend({ message_id: z.int() });

export const TicketListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  status: z.enum(['open', 'answered', 'closed', 'pending']).nullish(),
  priority: z.string().nullish(),
  user_id: z.int().nullish(),
});

export const TicketMessageResponse = z
  .object({
    id: z.int(),
    user_id: z.int(),
    message_text: z.string(),
    is_from_admin: z.boolean(),
    has_media: z.boolean(),
    media_type: z.string().nullish(),
    media_file_id: z.string().nullish(),
    media_caption: z.string().nullish(),
    created_at: Moment,
  })
  .meta({ id: 'TicketMessageResponse' });

export const TicketResponse = z
  .object({
    id: z.int(),
    user_id: z.int(),
    title: z.string(),
    status: z.string(),
    priority: z.string(),
    created_at: Moment,
    updated_at: Moment,
    closed_at: Moment.nullish(),
    user_reply_block_permanent: z.boolean(),
    user_reply_block_until: Moment.nullish(),
    messages: TicketMessageResponse.array().default([]),
  })
  .meta({ id: 'TicketResponse' });

export const TicketStatusUpdateRequest = z
  .object({ status: z.string().meta({ example: 'closed' }) })
  .meta({ id: 'TicketStatusUpdateRequest' });
export const TicketStatusInput = withBody(TicketPath, TicketStatusUpdateRequest);

export const TicketPriorityUpdateRequest = z
  .object({ priority: z.string().meta({ example: 'high' }) })
  .meta({ id: 'TicketPriorityUpdateRequest' });
export const TicketPriorityInput = withBody(TicketPath, TicketPriorityUpdateRequest);

const blockExample = { permanent: true, until: null };
export const TicketReplyBlockRequest = z
  .object({ permanent: z.boolean().default(false), until: MomentInput.nullish() })
  .meta({ id: 'TicketReplyBlockRequest', example: blockExample });
export const TicketReplyBlockInput = withBody(TicketPath, TicketReplyBlockRequest);

const replyExample = {
  message_text: 'Please update the link in your app.',
  media_type: null,
  media_file_id: null,
  media_caption: null,
};
export const TicketReplyRequest = z
  .object({
    message_text: z.string().max(4000).nullish(),
    media_type: z.string().max(32).nullish(),
    media_file_id: z.string().max(255).nullish(),
    media_caption: z.string().max(4000).nullish(),
  })
  .meta({ id: 'TicketReplyRequest', example: replyExample });
export const TicketReplyInput = withBody(TicketPath, TicketReplyRequest);

export const TicketReplyResponse = z
  .object({ ticket: TicketResponse, message: TicketMessageResponse })
  .meta({ id: 'TicketReplyResponse' });

export const TicketMediaResponse = z
  .object({
    id: z.int(),
    ticket_id: z.int(),
    media_type: z.string(),
    media_file_id: z.string(),
    media_caption: z.string().nullish(),
    media_url: z.string().nullish(),
  })
  .meta({ id: 'TicketMediaResponse' });
