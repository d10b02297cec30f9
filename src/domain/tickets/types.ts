export const TICKET_STATUSES = ['open', 'pending', 'answered', 'closed'] as const;
export type TicketStatus = (typeof TICKET_STATUSES)[number];

export const TICKET_PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;
export type TicketPriority = (typeof TICKET_PRIORITIES)[number];

/** A support ticket (spec 05 section 1.1). */
export interface Ticket {
  id: number;
  userId: number;
  title: string;
  status: TicketStatus;
  priority: TicketPriority;
  /** Replies are refused while permanent or until > now. */
  replyBlockPermanent: boolean;
  replyBlockUntil: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** Set exactly while closed. */
  closedAt: Date | null;
}

export interface TicketMessage {
  id: number;
  ticketId: number;
  /** The ticket's owner, also for answers. */
  userId: number;
  text: string;
  isFromAdmin: boolean;
  hasMedia: boolean;
  mediaType: string | null;
  mediaFileId: string | null;
  mediaCaption: string | null;
  createdAt: Date;
}

/** Who a ticket belongs to, as administrators see it. */
export interface TicketOwner {
  id: number;
  messengerId: number | null;
  email: string | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
}

export interface TicketDetail extends Ticket {
  isReplyBlocked: boolean;
  owner: TicketOwner;
  /** Oldest first. */
  messages: TicketMessage[];
}

export interface TicketListItem extends Ticket {
  owner: TicketOwner;
  messagesCount: number;
  lastMessage: TicketMessage | null;
}

/** A file beside a text; the messenger keeps it (spec 05 section 10). */
export interface Attachment {
  type: string;
  fileId: string;
  caption: string | null;
}

/** Attachment fields as a request brings them. */
export interface AttachmentInput {
  mediaType: string | null;
  mediaFileId: string | null;
  mediaCaption: string | null;
}

export interface TicketStats {
  total: number;
  open: number;
  pending: number;
  answered: number;
  closed: number;
}

/** What of the ticket settings an administrator reads and changes (spec 05 section 1.6). */
export interface TicketSettings {
  slaEnabled: boolean;
  slaMinutes: number;
  slaCheckIntervalSeconds: number;
  slaReminderCooldownMinutes: number;
  supportSystemMode: string;
  /** Rows and socket messages for the owners of tickets. */
  userNotificationsEnabled: boolean;
  /** Rows and socket messages for administrators. */
  adminNotificationsEnabled: boolean;
}
