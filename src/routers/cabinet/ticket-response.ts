/** Tickets as both cabinet areas show them. */
import { titleOf } from '../../domain/tickets/rules.ts';
import type { AttachmentInput, Ticket, TicketMessage } from '../../domain/tickets/types.ts';

export function toTicketFields(ticket: Ticket) {
  return {
    id: ticket.id,
    title: titleOf(ticket),
    status: ticket.status,
    priority: ticket.priority,
    created_at: ticket.createdAt,
    updated_at: ticket.updatedAt,
    closed_at: ticket.closedAt,
  };
}

export function toMessage(message: TicketMessage) {
  return {
    id: message.id,
    message_text: message.text,
    is_from_admin: message.isFromAdmin,
    has_media: message.hasMedia,
    media_type: message.mediaType,
    media_file_id: message.mediaFileId,
    media_caption: message.mediaCaption,
    created_at: message.createdAt,
  };
}

/** The attachment fields of a request body. */
export function attachmentInput(body: {
  media_type?: string | null | undefined;
  media_file_id?: string | null | undefined;
  media_caption?: string | null | undefined;
}): AttachmentInput {
  return {
    mediaType: body.media_type ?? null,
    mediaFileId: body.media_file_id ?? null,
    mediaCaption: body.media_caption ?? null,
  };
}
