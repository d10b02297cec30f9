/** Purchases by people without an account (spec 03 section 8). Money is kopeks, periods are days, times are UTC. */
import type { Rows } from '../../../core/db/columns.ts';
import type { StoredOrder } from '../../subscriptions/order.ts';

export type PurchaseStatus = Rows['GuestPurchase']['status'];

export type ContactType = Rows['GuestPurchase']['contactType'];

/** How a person is reached: an e-mail in lower case, or a messenger name with `@`. */
export interface Contact {
  type: ContactType;
  value: string;
}

/**
 * A purchase without its credentials, which only `takeCredentials` reads. Whoever has the 64 characters of `token` may see the purchase;
 * `code` is its first 22, or 12 in old rows. `recipientToken` is that of the recipient of a gift, which also consents (spec 10 U4). `userId` is the recipient's account, which this purchase created where `accountCreated` (spec 03 H3).
 */
export type GuestPurchase = Omit<
  Rows['GuestPurchase'],
  | CredentialField
  | ContactField
  | OrderField
  | 'currency'
  | 'nextAttemptAt'
  | 'lastError'
  | 'receiptUuid'
  | 'updatedAt'
  | 'reservesOffer'
  | 'importedAt'
> & {
  order: StoredOrder;
  buyer: Contact;
  /** Null for a purchase for oneself and for a gift that is only a code. */
  recipient: Contact | null;
};

type CredentialField = 'cabinetPassword' | 'autoLoginToken';
type OrderField = 'source' | 'tariffId' | 'periodDays';
type ContactField = 'contactType' | 'contactValue' | 'giftRecipientType' | 'giftRecipientValue';

/** Why a paid purchase cannot be delivered; stored in `last_error` for the person who refunds it. `payment_reversed`: the payer has the money back. */
export type FailureReason =
  | 'amount_mismatch'
  /** The discount that lowered the price was used up before the invoice was paid: the money is on the buyer's balance (spec 10 M3). */
  | 'offer_gone'
  | 'tariff_unavailable'
  | 'recipient_gone'
  | 'recipient_blocked'
  | 'payment_reversed'
  | 'retries_exhausted';
