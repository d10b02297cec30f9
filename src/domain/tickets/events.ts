import { z } from 'zod';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';
import { UserIdField } from '../../core/events/event-fields.ts';
import type { TicketPriority, TicketStatus } from './types.ts';

/** Sent to feed and webhooks for a new ticket. */
export const TICKET_CREATED = 'ticket.created';
export const TICKET_MESSAGE_ADDED = 'ticket.message_added';
export const TICKET_STATUS_CHANGED = 'ticket.status_changed';

const STATUSES = ['open', 'answered', 'pending', 'closed'] as const satisfies readonly TicketStatus[];
const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const satisfies readonly TicketPriority[];
const TicketId = z.int().describe('Id of the ticket.');
const Status = z.enum(STATUSES).describe('Status of the ticket.');
const Title = z.string().describe('Title of the ticket.');
const HasMedia = z.boolean().describe('Whether the message has a file.');
const Cut = z.string().describe('The first 100 characters of the text.');

export const TICKET_EVENTS = [
  defineEvent(
    TICKET_CREATED,
    z.object({
      ...{ ticket_id: TicketId, user_id: UserIdField, title: Title, status: Status },
      ...{ priority: z.enum(PRIORITIES).describe('Priority of the ticket.'), has_media: HasMedia },
    }),
    {
      audience: 'feed',
      hasWebhook: true,
      description: 'A user opened a ticket.',
      example: { ticket_id: 5, user_id: 17, title: 'No connection', status: 'open', priority: 'normal', has_media: false },
    },
  ),
  defineEvent(
    TICKET_MESSAGE_ADDED,
    z.object({
      ...{ ticket_id: TicketId, message_id: z.int().describe('Id of the message.') },
      user_id: z.int().describe('Id of the owner of the ticket, also for answers.'),
      is_from_admin: z.boolean().describe('Whether support wrote it.'),
      message_text: z.string().describe('The first 200 characters of the text.'),
      ...{ has_media: HasMedia, status: Status },
    }),
    {
      audience: 'feed',
      description: 'A message was added to a ticket. There is no webhook for it.',
      example: {
        ...{ ticket_id: 5, message_id: 8, user_id: 17, is_from_admin: true, message_text: 'Try again' },
        ...{ has_media: false, status: 'answered' as const },
      },
    },
  ),
  defineEvent(
    TICKET_STATUS_CHANGED,
    z.object({
      ...{ ticket_id: TicketId, user_id: UserIdField, old_status: Status, new_status: Status },
      closed_at: z.string().nullable().describe('ISO 8601 in UTC; null unless it is closed.'),
    }),
    {
      audience: 'feed',
      hasWebhook: true,
      description: 'The status of a ticket has changed.',
      example: { ticket_id: 5, user_id: 17, old_status: 'open', new_status: 'closed', closed_at: '2026-01-31T12:00:00.000Z' },
    },
  ),
  defineEvent('ticket.new', z.object({ ticket_id: TicketId, title: Title, user_id: UserIdField }), {
    audience: 'staff',
    description: 'A user opened a ticket.',
    example: { ticket_id: 5, title: 'No connection', user_id: 17 },
  }),
  defineEvent('ticket.user_reply', z.object({ ticket_id: TicketId, message: Cut, user_id: UserIdField }), {
    audience: 'staff',
    description: 'A user wrote in a ticket.',
    example: { ticket_id: 5, message: 'It works', user_id: 17 },
  }),
  defineEvent('ticket.admin_reply', z.object({ ticket_id: TicketId, message: Cut }), {
    audience: 'user',
    description: 'Support answered a ticket of the user.',
    example: { ticket_id: 5, message: 'Try again' },
  }),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof TICKET_EVENTS> {}
}
