/** Purchases by people without an account (spec 03 section 8). Money is kopeks, periods are days, times are UTC. */

export type PurchaseStatus = 'pending' | 'paid' | 'pending_activation' | 'delivered' | 'failed' | 'expired';

export type ContactType = 'email' | 'messenger';

/** How a person is reached: an e-mail in lower case, or a messenger name with `@`. */
export interface Contact {
  type: ContactType;
  value: string;
}

export interface GuestPurchase {
  id: number;
  /** 64 characters; whoever has it may see the purchase. */
  token: string;
  /** Its first 12 characters. */
  code: string;
  landingId: number | null;
  source: 'landing' | 'cabinet';
  buyer: Contact;
  buyerUserId: number | null;
  isGift: boolean;
  /** Null for a purchase for oneself and for a gift that is only a code. */
  recipient: Contact | null;
  giftMessage: string | null;
  tariffId: number | null;
  periodDays: number;
  amountKopeks: number;
  paymentMethod: string | null;
  paymentId: number | null;
  /** The one revenue row, written with the paid state (spec 03 H24). */
  transactionId: number | null;
  status: PurchaseStatus;
  /** The recipient's account. */
  userId: number | null;
  /** This purchase made that account (spec 03 H3). */
  accountCreated: boolean;
  retryCount: number;
  activationRequestedAt: Date | null;
  /** Whoever asked for the activation was signed in as the recipient (spec 03 H22). */
  isActivationSigned: boolean;
  /** The subscription is written and waits for the panel's link (spec 03 H7). */
  grantedAt: Date | null;
  subscriptionUrl: string | null;
  subscriptionCryptoLink: string | null;
  createdAt: Date;
  paidAt: Date | null;
  deliveredAt: Date | null;
}

/** Why a paid purchase cannot be delivered; kept in `last_error` for whoever gives the money back. */
export type FailureReason =
  | 'amount_mismatch'
  | 'tariff_unavailable'
  | 'recipient_gone'
  | 'recipient_blocked'
  | 'retries_exhausted';
