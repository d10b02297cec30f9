import type { UserRecord } from '../../identity/types.ts';
import type { Choice } from '../../subscriptions/order.ts';
import type { GivenQuote } from '../../subscriptions/purchase/signed-quote.ts';
import type { PreparedRecipient } from '../purchases/recipient.ts';
import type { Contact, ContactType } from '../purchases/types.ts';

/** What a user wants to give; days. */
export interface GiftOrder extends Choice<'gift'> {
  /** As typed; null = a gift that is only a code. */
  recipient: { type: ContactType; value: string } | null;
  giftMessage: string | null;
  /** Null = from the balance; else the id of a method, optionally followed by a sub-option. */
  paymentMethod: string | null;
}

/** What both ways to pay start from: read and looked up before any transaction. */
export interface CheckedGift {
  order: GiftOrder;
  buyer: UserRecord;
  recipient: Contact | null;
  /** Null for a gift that is only a code, and for an address of which an invoice is made. */
  prepared: PreparedRecipient | null;
  warning: string | null;
  /** Of `readGiftConfig`, sent back; null = none. */
  quote: GivenQuote | null;
}

export interface BoughtGift {
  /** `ok`: paid from the balance. `created`: an invoice waits to be paid. */
  status: 'ok' | 'created';
  /** The code, never the whole token (spec 03 H22). */
  code: string;
  paymentUrl: string | null;
  warning: string | null;
}

/** The messenger has no person of this name who could be notified. */
export const UNRESOLVABLE = 'messenger_unresolvable';
