import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `Cabinet Tickets` (spec 05 section 1.2). */

export const TicketPath = z.object({ ticket_id: z.int() });

export const CabinetTicketsTicketMessageResponse = z
  .object({
    id: z.int(),
    message_text: z.string(),
    is_from_admin: z.boolean(),
    has_media: z.boolean().default(false),
    media_type: z.string().nullish(),
    media_file_id: z.string().nullish(),
    media_caption: z.string().nullish(),
    created_at: Moment,
  })
  .meta({ id: 'CabinetTicketsTicketMessageResponse' });

const ticketFields = {
  id: z.int(),
  title: z.string(),
  status: z.string(),
  priority: z.string(),
  created_at: Moment,
  updated_at: Moment,
  closed_at: Moment.nullish(),
};

export const CabinetTicketsTicketResponse = z
  .object({
    ...ticketFields,
    messages_count: z.int().default(0),
    last_message: CabinetTicketsTicketMessageResponse.nullish(),
  })
  .meta({ id: 'CabinetTicketsTicketResponse' });

export const TicketListQuery = z.object({
  page: z.int().min(1).default(1),
  per_page: z.int().min(1).max(100).default(20),
  status: z.string().nullish(),
});

export const TicketListResponse = z
  .object({
    items: CabinetTicketsTicketResponse.array(),
    total: z.int(),
    page: z.int(),
    per_page: z.int(),
    pages: z.int(),
  })
  .meta({ id: 'TicketListResponse' });

export const TicketDetailResponse = z
  .object({
    ...ticketFields,
    is_reply_blocked: z.boolean().default(false),
    messages: CabinetTicketsTicketMessageResponse.array().default([]),
  })
  .meta({ id: 'TicketDetailResponse' });

/** The use case checks, for all areas, that the type is known and that type and file are given together. */
const mediaFields = {
  media_type: z.string().nullish(),
  media_file_id: z.string().nullish(),
  media_caption: z.string().max(1000).nullish(),
};

const EXAMPLE = { media_type: null, media_file_id: null, media_caption: null };

/** Blanks at the ends do not count. */
export const TicketCreateRequest = z
  .object({
    title: z.string().trim().min(3).max(255),
    message: z.string().trim().min(10).max(4000),
    ...mediaFields,
  })
  .meta({
    id: 'TicketCreateRequest',
    example: { title: 'No connection', message: 'The link stopped working today.', ...EXAMPLE },
  });

export const TicketMessageCreateRequest = z
  .object({ message: z.string().trim().min(1).max(4000), ...mediaFields })
  .meta({ id: 'TicketMessageCreateRequest', example: { message: 'It works again, thank you.', ...EXAMPLE } });

export const TicketMessageInput = withBody(TicketPath, TicketMessageCreateRequest);
