import type { Changes } from '../../core/changes.ts';
import type { Rows } from '../../core/db/columns.ts';

export const TICKET_STATUSES: readonly TicketStatus[] = ['open', 'pending', 'answered', 'closed'];
export type TicketStatus = Rows['Ticket']['status'];

export const TICKET_PRIORITIES: readonly TicketPriority[] = ['low', 'normal', 'high', 'urgent'];
export type TicketPriority = Rows['Ticket']['priority'];

/** A support ticket (spec 05 section 1.1). Replies are refused while the block is permanent or its end lies ahead. */
export type Ticket = Omit<Rows['Ticket'], 'lastUserMessageAt' | 'lastSlaReminderAt'>;

/** `userId` is the ticket's owner, also of answers. */
export type TicketMessage = Omit<Rows['TicketMessage'], 'adminUserId'>;

/** The owner of a ticket as administrators see it. */
export type TicketOwner = Pick<Rows['User'], 'id' | 'messengerId' | 'email' | 'username' | 'firstName' | 'lastName'>;

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

/** A file of a message; the messenger stores it (spec 05 section 10). */
export interface Attachment {
  type: string;
  fileId: string;
  caption: string | null;
}

/** Attachment fields of a request. */
export type AttachmentInput = Changes<Pick<TicketMessage, 'mediaType' | 'mediaFileId' | 'mediaCaption'>>;

export interface TicketStats {
  total: number;
  open: number;
  pending: number;
  answered: number;
  closed: number;
}

/** The ticket settings that an administrator reads and changes (spec 05 section 1.6). */
export interface TicketSettings {
  slaEnabled: boolean;
  slaMinutes: number;
  slaCheckIntervalSeconds: number;
  slaReminderCooldownMinutes: number;
  supportSystemMode: string;
  /** Rows and socket messages for the owners of tickets. */
  cabinetUserNotificationsEnabled: boolean;
  /** Rows and socket messages for administrators. */
  cabinetAdminNotificationsEnabled: boolean;
}
