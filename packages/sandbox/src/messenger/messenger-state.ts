export interface SandboxMessage {
  messageId: number;
  chatId: number;
  text: string;
  /** Rows of buttons as received. */
  buttons: { text: string; url?: string; callback_data?: string; web_app?: { url: string } }[][];
  /** ISO 8601, UTC. */
  sentAt: string;
  /** File id of the picture, video or document that the text captions. */
  photo?: string;
  video?: string;
  document?: string;
  /** Content of a document as text; cut at 64 KiB. */
  file?: { name: string; text: string };
  /** Topic of a group. */
  threadId?: number;
  /** Sent without a sound. */
  isSilent?: true;
  /** Pinned in its chat now. */
  isPinned?: true;
}

export interface SandboxStarsInvoice {
  link: string;
  title: string;
  description: string;
  payload: string;
  stars: number;
  status: 'pending' | 'paid' | 'refused' | 'refunded';
  /** Set once paid; of the latest payment. */
  chargeId: string | null;
  /** Who paid it; absent in states stored by earlier versions. */
  payerId?: number | null;
}

/** A transfer of Stars, oldest first in the list of the bot. */
export interface SandboxStarsTransfer {
  chargeId: string;
  stars: number;
  payerId: number;
  payload: string;
  isRefund: boolean;
  /** Unix seconds. */
  date: number;
}

export interface MessengerState {
  nextId: number;
  messages: SandboxMessage[];
  invoices: SandboxStarsInvoice[];
  /** Absent in states stored by earlier versions. */
  transfers?: SandboxStarsTransfer[];
  webhook: { url: string; secret: string | null } | null;
  /** Users who blocked the bot. */
  blocked: number[];
  /** Chats that are unknown to the messenger. */
  unknown: number[];
  /** Channel or group, member, status; a user without an entry is a member. */
  memberships: { chatId: string; userId: number; status: string }[];
  /** Ids by public name in lower case; absent in states stored by earlier versions. */
  people?: Record<string, number>;
}

export function emptyMessengerState(): MessengerState {
  return { nextId: 1, messages: [], invoices: [], webhook: null, blocked: [], unknown: [], memberships: [] };
}

/** Messages stored; older ones are dropped. */
export const MAX_MESSAGES = 500;
