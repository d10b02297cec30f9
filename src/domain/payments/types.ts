/** What became of a payment, whatever the provider calls it (spec 03 H20: one status table for all methods). */
export type StoredOutcome = 'pending' | 'paid' | 'failed' | 'expired' | 'amount_mismatch' | 'refunded';

/** One invoice at a provider (spec 03 section 2.1). */
export interface Payment {
  id: number;
  /** Payment method id; also the provider's key. */
  method: string;
  /** Null for guests and for payers nobody knows. */
  userId: number | null;
  orderId: string;
  /** The provider's id; null until it has answered. */
  externalId: string | null;
  amountKopeks: number;
  currency: string;
  /** The provider's own word. */
  status: string;
  outcome: StoredOutcome;
  isPaid: boolean;
  paidAt: Date | null;
  expiresAt: Date | null;
  paymentUrl: string | null;
  option: string | null;
  purpose: string;
  /** Set once = credited. */
  transactionId: number | null;
  createdAt: Date;
}

/** A payment as lists and single answers show it (spec 03 section 4.1). */
export interface PaymentView {
  id: number;
  method: string;
  methodName: string;
  /** What the provider's own pages call this payment. */
  identifier: string;
  amountKopeks: number;
  status: string;
  statusEmoji: string;
  statusText: string;
  isPaid: boolean;
  isCheckable: boolean;
  createdAt: Date;
  expiresAt: Date | null;
  /** Null unless an http(s) address. */
  paymentUrl: string | null;
  userId: number | null;
  userMessengerId: number | null;
  userUsername: string | null;
}

export interface MethodOption {
  id: string;
  name: string;
  description: string;
}

/** A method as one user may use it (spec 03 section 5.1). Limits are kopeks, both included. */
export interface OfferedMethod {
  id: string;
  name: string;
  minKopeks: number;
  maxKopeks: number;
  /** Null = the method shows no choice. */
  options: MethodOption[] | null;
}

/** What a confirmed state did to a payment. Only `credited` moved money. */
export type CreditResult =
  | 'credited'
  | 'already_credited'
  | 'pending'
  | 'failed'
  | 'amount_mismatch'
  | 'refunded'
  /** Paid, but nobody is left to credit: kept for a person. */
  | 'no_user'
  /** The provider's answer is about another order than ours: kept for a person. */
  | 'order_mismatch';
