import type { App } from '../../../core/app.ts';
import { requireUser, requireUserByMessengerId } from '../../identity/require-user.ts';
import { fullName } from '../../identity/rules.ts';
import type { UserRecord } from '../../identity/types.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { subscriptionInfo } from '../../subscriptions/manual/subscription-info.ts';
import type { AdminUserDetail, Slice, TransactionInfo } from '../types.ts';
import { countTransactionsOf, findDetailFacts, listTransactionsOf } from './detail-repo.ts';

const RECENT_TRANSACTIONS = 20;

/** Everything about one user (spec 01 section 11.1). @throws AppError 404 'User not found' */
export async function readUserDetail(app: App, userId: number): Promise<AdminUserDetail> {
  return detailOf(app, await requireUser(app, userId));
}

/** @throws AppError 404 'User not found' */
export async function readUserDetailByMessengerId(app: App, messengerId: number): Promise<AdminUserDetail> {
  return detailOf(app, await requireUserByMessengerId(app, messengerId));
}

async function detailOf(app: App, user: UserRecord): Promise<AdminUserDetail> {
  const now = app.clock.now();
  const [facts, subscribed, transactions] = await Promise.all([
    findDetailFacts(app.db, user.id),
    readUserSubscription(app, user.id),
    listTransactionsOf(app.db, user.id, { type: null, limit: RECENT_TRANSACTIONS, offset: 0 }),
  ]);
  const { tariffName, referralsCount, earningsKopeks, referredByUsername, ...shown } = facts!;
  return {
    ...user,
    ...shown,
    fullName: fullName(user),
    subscription: subscribed && subscriptionInfo(subscribed.subscription, tariffName, subscribed.purchases, now),
    referral: {
      referralCode: user.referralCode,
      referralsCount,
      totalEarningsKopeks: earningsKopeks,
      commissionPercent: user.referralCommissionPercent,
      referredById: user.referredById,
      referredByUsername,
    },
    recentTransactions: transactions.map(withShownAmount),
  };
}

export interface TransactionsPage extends Slice {
  transactions: TransactionInfo[];
  total: number;
}

/** Visible movements of a user, newest first; debits are shown negative (spec 01 section 11.1). @throws AppError 404 */
export async function listUserTransactions(
  app: App,
  userId: number,
  { transactionType: type = null, limit, offset }: Slice & { transactionType?: string | null | undefined },
): Promise<TransactionsPage> {
  const user = await requireUser(app, userId);
  const [transactions, total] = await Promise.all([
    listTransactionsOf(app.db, user.id, { type, limit, offset }),
    countTransactionsOf(app.db, user.id, type),
  ]);
  return { transactions: transactions.map(withShownAmount), total, limit, offset };
}

/** Movements that an administrator sees as debits, however they are stored (spec 01 section 11.1). */
const DEBITS: ReadonlySet<string> = new Set(['withdrawal', 'subscription_payment', 'gift_payment']);

function withShownAmount(transaction: TransactionInfo): TransactionInfo {
  const { type, amountKopeks } = transaction;
  return { ...transaction, amountKopeks: DEBITS.has(type) && amountKopeks !== 0 ? -Math.abs(amountKopeks) : amountKopeks };
}
