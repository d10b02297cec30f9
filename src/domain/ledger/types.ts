/** Kinds of money movement; the interface shows them as `type` (spec 03 section 1.1). */
export type TransactionType =
  | 'deposit'
  | 'withdrawal'
  | 'subscription_payment'
  | 'refund'
  | 'referral_reward'
  | 'poll_reward'
  | 'gift_payment';

/** The other side of a movement: where the money came from or went to (spec 00, Ledger). */
export type CounterAccount =
  | { kind: 'provider_clearing'; provider: string }
  | { kind: 'sales_revenue'; product: 'tariff' | 'classic' | 'traffic' | 'devices' | 'servers' | 'trial' | 'gift' | 'daily' }
  | { kind: 'bonus_expense'; bonus: 'promocode' | 'campaign' | 'wheel' | 'poll' | 'contest' | 'compensation' }
  | { kind: 'referral_expense' }
  | { kind: 'withdrawal_payable' }
  | { kind: 'manual_adjustment' }
  /** Between the wallets of two accounts that become one; comes out at zero. */
  | { kind: 'account_merge' };

export interface Movement {
  userId: number;
  type: TransactionType;
  /** Kopeks by effect on the user: positive = credit, negative = debit, 0 = a recorded free operation. */
  amountKopeks: number;
  counter: CounterAccount;
  paymentMethod: string | null;
  /** With `paymentMethod` the guard against posting one outside payment twice. */
  externalId?: string | null;
  description: string | null;
  /** Shown time of the row, e.g. the invoice's; defaults to now. */
  createdAt?: Date;
  /** Moves money without a visible row and without events (spec 01 H16). */
  isInternal?: boolean;
  /** The money does not pass the wallet: paid straight to this provider. */
  paidThroughProvider?: string;
}

/** `duplicate`: this outside payment is already posted, nothing was changed. */
export type Posting =
  | { outcome: 'posted'; transactionId: number; balanceKopeks: number }
  | { outcome: 'duplicate'; transactionId: number; balanceKopeks: number }
  | { outcome: 'insufficient'; balanceKopeks: number }
  | { outcome: 'no_user' };

/** A row of `transactions` as lists show it. */
export interface TransactionRecord {
  id: number;
  userId: number;
  type: string;
  amountKopeks: number;
  description: string | null;
  paymentMethod: string | null;
  externalId: string | null;
  isCompleted: boolean;
  createdAt: Date;
  completedAt: Date | null;
}

/** Completed transactions of one type and method; amounts are absolute, in kopeks. */
export interface CompletedSum {
  type: string;
  /** Null where the transaction has none. */
  paymentMethod: string | null;
  count: number;
  amountKopeks: number;
  /** Since midnight UTC. */
  todayCount: number;
  todayKopeks: number;
  /** Since 7 and 30 days before that midnight. */
  weekCount: number;
  monthCount: number;
}
