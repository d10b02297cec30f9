import type { Rows } from '../../core/db/columns.ts';

/**
 * One invoice at a provider (spec 03 section 2.1); `method` is the payment method and the key of its provider. `userId` is null for
 * guests and for unknown payers, `externalId` until the provider has answered. `status` is the provider's own word, `outcome` ours for
 * all methods (H20). `transactionId` is set once, by the credit.
 */
export type Payment = Pick<
  Rows['Payment'],
  | 'id'
  | 'method'
  | 'userId'
  | 'orderId'
  | 'externalId'
  | 'amountKopeks'
  | 'currency'
  | 'status'
  | 'outcome'
  | 'isPaid'
  | 'paidAt'
  | 'expiresAt'
  | 'paymentUrl'
  | 'option'
  | 'purpose'
  | 'transactionId'
  | 'createdAt'
>;

/** A payment as lists and single answers show it (spec 03 section 4.1). `paymentUrl` is null unless it is an http(s) address. */
export interface PaymentView
  extends Pick<Payment, 'id' | 'method' | 'amountKopeks' | 'isPaid' | 'createdAt' | 'expiresAt' | 'paymentUrl'> {
  /** The method's name for users. */
  methodDisplay: string;
  /** How the provider's own pages identify this payment. */
  identifier: string;
  /** The provider's word, or `outcome` where that says more. */
  status: string;
  statusEmoji: string;
  statusText: string;
  isCheckable: boolean;
  userId: number;
  userMessengerId: number | null;
  userUsername: string | null;
}

/** A type, not an interface, since the answer publishes it as a free-form object. */
export type MethodOption = { id: string; name: string; description: string };

/** A method that one user may use (spec 03 section 5.1). Limits are kopeks, both included. */
export interface OfferedMethod {
  id: string;
  name: string;
  minAmountKopeks: number;
  maxAmountKopeks: number;
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
  /** Paid, but the payer has no account any more: an administrator has to decide. */
  | 'no_user'
  /** The provider's answer is about another order than ours: an administrator has to decide. */
  | 'order_mismatch';
