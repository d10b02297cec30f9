import type { TicketPriority, TicketStatus } from './types.ts';

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** A user opened a ticket (spec 05 section 12.1, spec 06 section 2.1). */
    'ticket.created': {
      ticket_id: number;
      user_id: number;
      title: string;
      status: TicketStatus;
      priority: TicketPriority;
      has_media: boolean;
    };
    /** `user_id` is the owner, also of answers; the text is cut to 200 characters. */
    'ticket.message_added': {
      ticket_id: number;
      message_id: number;
      user_id: number;
      is_from_admin: boolean;
      message_text: string;
      has_media: boolean;
      status: TicketStatus;
    };
    /** Only when the status has changed. */
    'ticket.status_changed': {
      ticket_id: number;
      user_id: number;
      old_status: TicketStatus;
      new_status: TicketStatus;
      /** ISO 8601 in UTC. */
      closed_at: string | null;
    };
    /** To staff sockets (spec 05 section 12.2). */
    'ticket.new': { ticket_id: number; title: string; user_id: number };
    /** To staff sockets; the text is cut to 100 characters. */
    'ticket.user_reply': { ticket_id: number; message: string; user_id: number };
    /** To the owner's sockets; the text is cut to 100 characters. */
    'ticket.admin_reply': { ticket_id: number; message: string };
  }
}

/** Sent to feed and webhooks for a new ticket. */
export const TICKET_CREATED = 'ticket.created';
export const TICKET_MESSAGE_ADDED = 'ticket.message_added';
export const TICKET_STATUS_CHANGED = 'ticket.status_changed';
