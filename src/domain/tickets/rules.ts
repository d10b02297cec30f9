/** Pure rules of support tickets (spec 05 section 1). */

import { refusal, ValidationError } from '../../core/errors.ts';
import { expectedValues, validationIssue } from '../../core/validation-messages.ts';
import type { Attachment, AttachmentInput, Ticket, TicketStatus } from './types.ts';

export const ticketsDisabled = refusal('tickets_disabled', 403, 'Support tickets are disabled');

/** Kinds of file that the cabinet accepts. */
const MEDIA_TYPES = ['photo', 'video', 'document'] as const;

/** Seconds between two messages of a user in one ticket. */
export const MESSAGE_PAUSE_SECONDS = 2;

/** Blocked while permanent, or until a time in the future; a block ends without a write. */
export function isReplyBlocked(ticket: Pick<Ticket, 'userReplyBlockPermanent' | 'userReplyBlockUntil'>, now: Date): boolean {
  return ticket.userReplyBlockPermanent || (ticket.userReplyBlockUntil !== null && ticket.userReplyBlockUntil > now);
}

/** A message of the user makes an answered ticket pending; open and pending ones stay as they are. */
export function statusAfterUserMessage(status: TicketStatus): TicketStatus {
  return status === 'answered' ? 'pending' : status;
}

/** The ticket's title, or its number when it has none. */
export function titleOf(ticket: Pick<Ticket, 'id' | 'title'>): string {
  return ticket.title === '' ? `Ticket #${ticket.id}` : ticket.title;
}

/**
 * The attachment of a cabinet request: nothing, or one of the three types and a file id together (spec 05 section 1.1). A blank file id
 * counts as absent.
 * @throws ValidationError 422
 */
export function attachmentOf(input: AttachmentInput): Attachment | null {
  const type = input.mediaType ?? null;
  if (type !== null && !MEDIA_TYPES.some((known) => known === type)) {
    const expected = expectedValues(MEDIA_TYPES);
    throw new ValidationError([validationIssue('literal_error', ['body', 'media_type'], type, { expected })]);
  }
  return pairOf(type, input);
}

/**
 * The same without a list of types: an API token may attach any kind of file (spec 05 section 1.3).
 * @throws ValidationError 422
 */
export function freeAttachmentOf(input: AttachmentInput): Attachment | null {
  return pairOf(input.mediaType?.trim() || null, input);
}

function pairOf(type: string | null, input: AttachmentInput): Attachment | null {
  const fileId = input.mediaFileId?.trim() || null;
  if (type !== null && fileId !== null) return { type, fileId, caption: input.mediaCaption ?? null };
  if (type === null && fileId === null) return null;
  const [name, value] =
    type === null ? (['media_type', input.mediaType ?? null] as const) : (['media_file_id', input.mediaFileId ?? null] as const);
  throw new ValidationError([
    validationIssue('value_error', ['body', name], value, {
      error: 'Value error, media_type and media_file_id must be given together',
    }),
  ]);
}

/** The 422 for a file id that this service neither issued nor received. */
export function unknownFile(fileId: string): ValidationError {
  return new ValidationError([
    validationIssue('value_error', ['body', 'media_file_id'], fileId, { error: 'Value error, Unknown media file' }),
  ]);
}

/** 404 for unknown tickets and, in the cabinet, for those of others. */
export const ticketNotFound = refusal('ticket_not_found', 404, 'Ticket not found');
