import type { Rows } from '../../core/db/columns.ts';

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
export type ContraAccount =
  | { kind: 'provider_clearing'; provider: string }
  | { kind: 'sales_revenue'; product: 'tariff' | 'classic' | 'traffic' | 'devices' | 'servers' | 'trial' | 'gift' | 'daily' }
  | { kind: 'bonus_expense'; bonus: 'promocode' | 'campaign' | 'wheel' | 'poll' | 'contest' | 'compensation' }
  | { kind: 'referral_expense' }
  /** What referrers owe of earnings that were taken back; only SQL posts to it (prisma/sql/rewards.sql). */
  | { kind: 'referral_debt' }
  /** The amount of a withdrawal request that waits for a decision. */
  | { kind: 'withdrawal_hold'; requestId: number }
  /** What a change that waits for a second administrator would take; only SQL posts to it (prisma/sql/approvals.sql). */
  | { kind: 'approval_hold'; approvalId: number }
  /** Withdrawals that were approved and are not paid out yet. */
  | { kind: 'withdrawal_payable' }
  /** Money that was paid out to users outside of the service. */
  | { kind: 'withdrawal_payout' }
  | { kind: 'manual_adjustment' }
  /** Between the wallets of two accounts that are merged; its balance stays zero. */
  | { kind: 'account_merge' };

export interface Movement {
  userId: number;
  type: TransactionType;
  /** Kopeks by effect on the user: positive = credit, negative = debit, 0 = a recorded free operation. */
  amountKopeks: number;
  contra: ContraAccount;
  paymentMethod: string | null;
  /** Unique together with `paymentMethod`, so that one outside payment is posted once. */
  externalId?: string | null;
  description: string | null;
  /** Time that lists show, for example that of the invoice; default now. */
  createdAt?: Date;
  /** Moves money without a visible row and without events (spec 01 H16). */
  isInternal?: boolean;
  /** The money does not pass through the wallet: it was paid directly to this provider. */
  paidThroughProvider?: string;
  /** The money does not pass through the wallet: this account takes its place. */
  insteadOfWallet?: ContraAccount;
}

/** `duplicate`: this outside payment is already posted, nothing was changed. */
export type Posting =
  | { outcome: 'posted'; transactionId: number; balanceKopeks: number }
  | { outcome: 'duplicate'; transactionId: number; balanceKopeks: number }
  | { outcome: 'insufficient'; balanceKopeks: number }
  | { outcome: 'no_user' };

/** A row of `transactions` as lists show it. */
export type TransactionRecord = Pick<
  Rows['Transaction'],
  | 'id'
  | 'userId'
  | 'type'
  | 'amountKopeks'
  | 'description'
  | 'paymentMethod'
  | 'externalId'
  | 'isCompleted'
  | 'createdAt'
  | 'completedAt'
>;

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

/**
 * How many rows that are not counted yet a request reads at most (spec 10 D2). The job counts each minute, so there are a few, except after a
 * restore or an import: then the totals say what is counted and these, and grow with each run of the job, which logs it.
 */
export const UNCOUNTED_ROWS = 200_000;
