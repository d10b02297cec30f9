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
  | 'chargeId'
  | 'merchantId'
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
  /** Null for people without an account, as what follows. */
  userId: number | null;
  userMessengerId: number | null;
  userUsername: string | null;
  userEmail: string | null;
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

/** What a confirmed state did to a payment. Only `credited` moved money to the payer; the last ones need a decision of an administrator. */
export type CreditResult =
  | 'credited'
  | 'already_credited'
  | 'pending'
  | 'failed'
  | 'refunded'
  | 'amount_mismatch'
  /** Paid, but the payer has no account any more. */
  | 'no_user'
  /** The report is about another order, another invoice or another merchant than ours. */
  | 'order_mismatch'
  /** Paid in the provider's test mode. */
  | 'test_payment';

/** Why a payment needs the decision of an administrator. */
export type CaseKind =
  /** Money for an invoice that is not known here. */
  | 'unknown_payment'
  /** Less than the invoice, another amount or another currency. */
  | 'amount_mismatch'
  /** More than the invoice; the invoice was credited. */
  | 'overpaid'
  /** A report about another order or invoice than ours. */
  | 'order_mismatch'
  /** A report about the invoice of another merchant. */
  | 'other_merchant'
  /** Money that came again for an invoice that is credited. */
  | 'second_payment'
  /** Paid, but the payer has no account. */
  | 'no_user'
  /** Paid for something that does not exist any more. */
  | 'no_purchase'
  | 'test_payment'
  /** Stopped by the provider's own checks. */
  | 'blocked'
  /** A reversal of a payment that is not known here, or of money that is not the credit of the payment that it names (spec 10 M1). */
  | 'reversal_unknown'
  /** Part of a reversal that the balance did not cover. */
  | 'reversal_remainder'
  /** Paid at a price that a discount had lowered which was used up meanwhile; where the buyer has an account, the money is on its balance. */
  | 'offer_gone';

/** A case as administrators see it. Amounts are kopeks, times UTC. */
export type PaymentCase = Pick<
  Rows['PaymentCase'],
  | 'id'
  | 'kind'
  | 'method'
  | 'reference'
  | 'paymentId'
  | 'userId'
  | 'amountKopeks'
  | 'currency'
  | 'details'
  | 'status'
  | 'resolution'
  | 'resolvedBy'
  | 'comment'
  | 'transactionId'
  | 'createdAt'
  | 'resolvedAt'
>;
