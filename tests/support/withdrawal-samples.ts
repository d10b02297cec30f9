import type { AdminActor, UserActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { requestWithdrawal } from '../../src/domain/referrals/withdrawals/my-withdrawals.ts';
import { giveRole } from './actors.ts';
import { aUser } from './builders.ts';
import { anEarning, aReferralPair, type ReferralPair } from './referral-samples.ts';
import { rowOf } from './sale-samples.ts';

/** Settings under which a request of 1 ruble or more can be made at any time. */
export const WITHDRAWALS_ON = {
  DEFAULT_LANGUAGE: 'en',
  REFERRAL_WITHDRAWAL_ENABLED: 'true',
  REFERRAL_WITHDRAWAL_MIN_AMOUNT_KOPEKS: '100',
  REFERRAL_WITHDRAWAL_COOLDOWN_DAYS: '0',
};

/** A referrer with earnings of this amount, which are on the balance; kopeks. */
export async function anEarner(app: App, kopeks: number): Promise<UserActor & { pair: ReferralPair; messengerId: number }> {
  const pair = await aReferralPair(app);
  await earn(app, pair, kopeks);
  return { kind: 'user', userId: pair.referrer.id, messengerId: pair.referrer.messengerId, pair };
}

/** A further reward of a referrer. */
export async function earn(app: App, pair: ReferralPair, kopeks: number): Promise<void> {
  await anEarning(app, pair, { kopeks, at: app.clock.now() });
  await move(app, pair.referrer.id, kopeks, 'referral_reward');
}

/** Deducts from a balance as a purchase does. */
export function spend(app: App, userId: number, kopeks: number): Promise<string> {
  return move(app, userId, -kopeks, 'subscription_payment');
}

async function move(
  app: App,
  userId: number,
  amountKopeks: number,
  type: 'referral_reward' | 'subscription_payment',
): Promise<string> {
  const posting = await postMovement(app, {
    userId,
    type,
    amountKopeks,
    description: null,
    ...(type === 'referral_reward'
      ? { contra: { kind: 'referral_expense' }, paymentMethod: null }
      : { contra: { kind: 'sales_revenue', product: 'tariff' }, paymentMethod: 'balance' }),
  });
  return posting.outcome;
}

export async function anAdmin(app: App): Promise<AdminActor> {
  const { id: userId } = await aUser(app, { language: 'en' });
  await giveRole(app, userId, ['withdrawals:approve']);
  return { kind: 'admin', userId, level: 100, isConfigAdmin: false };
}

/** A pending request. @returns its id */
export async function aRequest(app: App, { userId }: { userId: number }, amountKopeks: number): Promise<number> {
  const order = { amountKopeks, paymentDetails: 'Card 2200 0000 0000 0004' };
  return (await requestWithdrawal(app, { kind: 'user', userId }, order, null)).id;
}

/** A pending request of before requests held their money (spec 10 M5). @returns its id */
export async function aRequestOfBefore(app: App, { userId }: { userId: number }, amountKopeks: number): Promise<number> {
  const [row] = await app.db.sql<{ id: number }>(
    "INSERT INTO withdrawal_requests (user_id, amount_kopeks, payment_details) VALUES ($1::int, $2::bigint, 'Card 2200') RETURNING id",
    [userId, amountKopeks],
  );
  return row!.id;
}

/** What a request holds, kopeks. */
export async function reservedOf(app: App, id: number): Promise<number> {
  const row = await rowOf<{ kopeks: number }>(
    app,
    `SELECT coalesce(sum(e.kopeks), 0)::bigint AS kopeks FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
     WHERE a.key = 'withdrawal_hold:' || $1::int`,
    [id],
  );
  return row.kopeks;
}

export interface RequestRow {
  status: string;
  processedBy: number | null;
  processedAt: Date | null;
  adminComment: string | null;
  firstApprovedBy: number | null;
  transactionId: number | null;
  payoutTransactionId: number | null;
  paymentDetails: string | null;
  riskScore: number;
  riskAnalysis: string | null;
}

export function requestRow(app: App, id: number): Promise<RequestRow> {
  return rowOf<RequestRow>(
    app,
    `SELECT status, processed_by, processed_at, admin_comment, first_approved_by, transaction_id, payout_transaction_id, payment_details,
       risk_score, risk_analysis FROM withdrawal_requests WHERE id = $1::int`,
    [id],
  );
}

/** What the user has, and what the ledger says about the user's withdrawals; kopeks. */
export function moneyOf(app: App, userId: number) {
  return rowOf<{ balance: number; debits: number; payouts: number; payable: number; paidOut: number }>(
    app,
    `SELECT u.balance_kopeks AS balance,
       (SELECT count(*)::int FROM transactions t WHERE t.user_id = u.id AND t.type = 'withdrawal' AND NOT t.is_internal) AS debits,
       (SELECT count(*)::int FROM transactions t WHERE t.user_id = u.id AND t.payment_method = 'payout') AS payouts,
       ${sumOnAccount('withdrawal_payable')} AS payable, ${sumOnAccount('withdrawal_payout')} AS paid_out
     FROM users u WHERE u.id = $1::int`,
    [userId],
  );
}

/** Entries of the user's movements on an account. */
function sumOnAccount(key: string): string {
  return `(SELECT coalesce(sum(e.kopeks), 0)::bigint FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
    JOIN transactions t ON t.id = e.transaction_id WHERE t.user_id = u.id AND a.key = '${key}')`;
}
