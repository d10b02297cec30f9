/** Everything that the proofs compare: what the outside systems have, and what the database has. Amounts are kopeks. */

import type { Db } from '../../../../../src/core/db/db.ts';
import type { SandboxStarsInvoice } from '../../../../sandbox/src/messenger/messenger-state.ts';
import type { SandboxIncome } from '../../../../sandbox/src/nalogo/receipt-sandbox.ts';
import type { SandboxInvoice } from '../../../../sandbox/src/payments/invoice.ts';
import type { Deeds } from './drill-context.ts';
import type { People, Tariffs } from './people.ts';
import type { ServiceFixture } from './service-fixture.ts';

export interface PaymentRow {
  id: number;
  method: string;
  userId: number | null;
  orderId: string;
  externalId: string | null;
  chargeId: string | null;
  amountKopeks: number;
  outcome: string;
  purpose: string;
  transactionId: number | null;
}

export interface MovementRow {
  id: number;
  userId: number;
  type: string;
  amountKopeks: number;
  paymentMethod: string | null;
  externalId: string | null;
  isInternal: boolean;
  createdAt: Date;
}

export interface ReversalRow {
  id: number;
  method: string;
  paymentId: number;
  kind: string;
  reversalId: string | null;
  amountKopeks: number;
  debitedKopeks: number;
  status: string;
  requestedBy: string | null;
  transactionId: number | null;
}

interface CaseRow {
  id: number;
  kind: string;
  method: string;
  reference: string;
  chargeId: string | null;
  paymentId: number | null;
  amountKopeks: number | null;
  status: string;
  resolution: string | null;
  transactionId: number | null;
}

interface ReceiptRow {
  id: number;
  paymentId: number;
  mark: string;
  state: string;
  uuid: string | null;
  amountKopeks: number;
}

interface GiftRow {
  id: number;
  code: string;
  status: string;
  userId: number | null;
  amountKopeks: number;
  paymentMethod: string | null;
  paymentId: number | null;
  transactionId: number | null;
  refundTransactionId: number | null;
}

/** A charge of saved cards with the payments of its attempts. */
interface ChargeRow {
  id: number;
  userId: number;
  status: string;
  paidPayments: number;
  /** One of its attempts was given up without an answer; a notification may credit it afterwards. */
  isUnclear: boolean;
}

export interface WithdrawalRow {
  id: number;
  userId: number;
  amountKopeks: number;
  status: string;
  transactionId: number | null;
  payoutTransactionId: number | null;
  /** The movements into and out of the account that holds the amount while the request waits. */
  reserveTransactionId: number | null;
  releaseTransactionId: number | null;
}

interface EarningRow {
  userId: number;
  referralTransactionId: number | null;
  amountKopeks: number;
}

/** A reward that was taken back with its payment; of a bonus of the payer `earningUserId` is null. */
interface RewardReversalRow {
  earningUserId: number | null;
  amountKopeks: number;
  transactionId: number | null;
  debtTransactionId: number | null;
}

export interface ServiceFacts {
  invoices: readonly SandboxInvoice[];
  stars: readonly SandboxStarsInvoice[];
  incomes: readonly SandboxIncome[];
  payments: readonly PaymentRow[];
  movements: readonly MovementRow[];
  reversals: readonly ReversalRow[];
  cases: readonly CaseRow[];
  receipts: readonly ReceiptRow[];
  gifts: readonly GiftRow[];
  charges: readonly ChargeRow[];
  withdrawals: readonly WithdrawalRow[];
  earnings: readonly EarningRow[];
  rewardReversals: readonly RewardReversalRow[];
  /** Movements by which referrers paid what they owed of earnings that were taken back. */
  debtPayments: readonly number[];
  /** Subscriptions that gifts started, by recipient. */
  giftStarts: ReadonlyMap<number, number>;
  /** Users with a referrer. */
  referred: ReadonlySet<number>;
  balances: ReadonlyMap<number, number>;
  /** Sum of the account of approved withdrawals that are not paid out. */
  payableKopeks: number;
  people: People;
  tariffs: Tariffs;
  deeds: Deeds;
}

export async function readServiceFacts({ app, fakes, people, tariffs }: ServiceFixture, deeds: Deeds): Promise<ServiceFacts> {
  const { db } = app;
  const [payable] = await db.sql<{ kopeks: bigint }>(
    `SELECT coalesce(sum(e.kopeks), 0)::bigint AS kopeks FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
     WHERE a.key = 'withdrawal_payable'`,
  );
  return {
    ...{ people, tariffs, deeds },
    invoices: await fakes.payments.list(),
    stars: await fakes.messenger.starsInvoices(),
    incomes: await fakes.receipts.list(),
    payments: await rows<PaymentRow>(
      db,
      'SELECT id, method, user_id, order_id, external_id, charge_id, amount_kopeks, outcome, purpose, transaction_id FROM payments ORDER BY id',
    ),
    movements: await rows<MovementRow>(
      db,
      'SELECT id, user_id, type, amount_kopeks, payment_method, external_id, is_internal, created_at FROM transactions ORDER BY id',
    ),
    reversals: await rows<ReversalRow>(
      db,
      `SELECT id, method, payment_id, kind, reversal_id, amount_kopeks, debited_kopeks, status, requested_by, transaction_id FROM payment_reversals
       ORDER BY id`,
    ),
    cases: await rows<CaseRow>(
      db,
      `SELECT id, kind, method, reference, charge_id, payment_id, amount_kopeks, status, resolution, transaction_id FROM payment_cases
       ORDER BY id`,
    ),
    receipts: await rows<ReceiptRow>(db, 'SELECT id, payment_id, mark, state, uuid, amount_kopeks FROM receipts ORDER BY id'),
    gifts: await rows<GiftRow>(
      db,
      `SELECT id, code, status, user_id, amount_kopeks, payment_method, payment_id, transaction_id, refund_transaction_id
       FROM guest_purchases ORDER BY id`,
    ),
    charges: await rows<ChargeRow>(
      db,
      `SELECT c.id, s.user_id, c.status, (SELECT count(*)::int FROM recurrent_attempts a JOIN payments p ON p.id = a.payment_id
         WHERE a.charge_id = c.id AND p.transaction_id IS NOT NULL) AS paid_payments,
         EXISTS (SELECT 1 FROM recurrent_attempts a WHERE a.charge_id = c.id AND a.reason = 'unclear') AS is_unclear
       FROM recurrent_charges c JOIN subscriptions s ON s.id = c.subscription_id ORDER BY c.id`,
    ),
    withdrawals: await rows<WithdrawalRow>(
      db,
      `SELECT id, user_id, amount_kopeks, status, transaction_id, payout_transaction_id, reserve_transaction_id, release_transaction_id
       FROM withdrawal_requests ORDER BY id`,
    ),
    earnings: await rows<EarningRow>(
      db,
      'SELECT user_id, referral_transaction_id, amount_kopeks FROM referral_earnings ORDER BY id',
    ),
    rewardReversals: await rows<RewardReversalRow>(
      db,
      `SELECT e.user_id AS earning_user_id, r.amount_kopeks, r.transaction_id, r.debt_transaction_id
       FROM reward_reversals r LEFT JOIN referral_earnings e ON e.id = r.earning_id ORDER BY r.id`,
    ),
    debtPayments: (
      await rows<{ id: number }>(
        db,
        `SELECT e.transaction_id AS id FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
         WHERE a.key = 'referral_debt' AND e.kopeks > 0`,
      )
    ).map(({ id }) => id),
    giftStarts: new Map(
      (
        await rows<{ userId: number; starts: number }>(
          db,
          `SELECT user_id, count(*)::int AS starts FROM subscription_events WHERE event_type = 'purchase' AND extra @> '{"is_gift": true}'
           GROUP BY user_id`,
        )
      ).map(({ userId, starts }) => [userId, starts]),
    ),
    referred: new Set(
      (await rows<{ id: number }>(db, 'SELECT id FROM users WHERE referred_by_id IS NOT NULL')).map(({ id }) => id),
    ),
    balances: new Map(
      (await rows<{ id: number; balanceKopeks: number }>(db, 'SELECT id, balance_kopeks FROM users')).map((row) => [
        row.id,
        row.balanceKopeks,
      ]),
    ),
    payableKopeks: Number(payable!.kopeks),
  };
}

/** With `bigint` as a number: the amounts of a drill are far below what a number holds. */
async function rows<Row extends object>(db: Db, text: string): Promise<Row[]> {
  const found = await db.sql<Record<string, unknown>>(text);
  return found.map(
    (row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
      ) as Row,
  );
}
