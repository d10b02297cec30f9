import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import type { Rows } from '../../../core/db/columns.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isRowId } from '../../../core/row-id.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget, requireUser, requireUserByMessengerId } from '../../identity/find-user.ts';
import { fullName } from '../../identity/rules.ts';
import type { UserRecord } from '../../identity/types.ts';
import { readUserSubscription, subscriptionInfo } from '../../subscriptions/manual/manual-changes.ts';
import type { AdminUserDetail, Slice, TransactionInfo, UserView } from '../types.ts';
import {
  countTransactionsOf,
  findDetailFacts,
  type GiftRow,
  listGifts,
  listTransactionsOf,
  lockUser,
  setReferrerOnce,
  updateUserColumns,
} from './repo.ts';
import { findUserId, findViewByEitherId, findViewById, findViewByMessengerId } from './view-repo.ts';

/**
 * One user. The number is tried as a messenger id first, then as an internal id (spec 01 section 10).
 * @throws AppError 404 'User not found'
 */
export async function readUser(app: App, number: number): Promise<UserView> {
  const { messengerId, userId } = eitherId(number);
  const view = await findViewByEitherId(app.db, messengerId, userId, app.clock.now());
  if (!view) throw userNotFound();
  return view;
}

/** @throws AppError 404 'User not found' */
export async function readUserByMessengerId(app: App, messengerId: number): Promise<UserView> {
  const view = await findViewByMessengerId(app.db, messengerId, app.clock.now());
  if (!view) throw userNotFound();
  return view;
}

/** The user whose internal id is known. @throws AppError 404 'User not found' */
export async function readUserById(app: App, id: number): Promise<UserView> {
  const view = await findViewById(app.db, id, app.clock.now());
  if (!view) throw userNotFound();
  return view;
}

/** The internal id behind a `{user_id}`, by the rule of `readUser`. @throws AppError 404 'User not found' */
export async function resolveUserId(app: App, number: number): Promise<number> {
  const { messengerId, userId } = eitherId(number);
  const id = await findUserId(app.db, messengerId, userId);
  if (id === null) throw userNotFound();
  return id;
}

/** What a `{user_id}` may be: a messenger id, or else an internal id; null = the number cannot be an internal id. */
export function eitherId(number: number): { messengerId: number; userId: number | null } {
  return { messengerId: number, userId: isRowId(number) ? number : null };
}

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

/** Visible movements of a user, newest first; debits are shown negative. @throws AppError 404 */
export async function listUserTransactions(
  app: App,
  userId: number,
  { transactionType: type = null, limit, offset }: Slice & { transactionType?: string | null | undefined },
) {
  const user = await requireUser(app, userId);
  const [transactions, total] = await Promise.all([
    listTransactionsOf(app.db, user.id, { type, limit, offset }),
    countTransactionsOf(app.db, user.id, type),
  ]);
  return { transactions: transactions.map(withShownAmount), total, limit, offset };
}

/** Movements that an administrator sees as debits, however they are stored. */
const DEBITS: ReadonlySet<string> = new Set(['withdrawal', 'subscription_payment', 'gift_payment']);

function withShownAmount(transaction: TransactionInfo): TransactionInfo {
  const { type, amountKopeks } = transaction;
  return { ...transaction, amountKopeks: DEBITS.has(type) && amountKopeks !== 0 ? -Math.abs(amountKopeks) : amountKopeks };
}

const MAX_GIFTS = 200;

/** A gift with who bought and who received it; each null where the user is unknown. */
interface GiftInfo extends Omit<GiftRow, 'buyer' | 'receiver'> {
  buyerUserId: number | null;
  buyerUsername: string | null;
  buyerFullName: string | null;
  receiverUserId: number | null;
  receiverUsername: string | null;
  receiverFullName: string | null;
}

/** The newest 200 gifts bought and got by a user, with true totals. @throws AppError 404 'User not found' */
export async function listUserGifts(app: App, userId: number) {
  const user = await requireUser(app, userId);
  const [sent, received] = await Promise.all([
    listGifts(app.db, user.id, 'buyer_user_id', MAX_GIFTS),
    listGifts(app.db, user.id, 'user_id', MAX_GIFTS),
  ]);
  return {
    sent: sent.gifts.map(toGift),
    received: received.gifts.map(toGift),
    sentTotal: sent.total,
    receivedTotal: received.total,
  };
}

function toGift({ buyer, receiver, ...gift }: GiftRow): GiftInfo {
  return {
    ...gift,
    buyerUserId: buyer?.id ?? null,
    buyerUsername: buyer?.username ?? null,
    buyerFullName: buyer && fullName(buyer),
    receiverUserId: receiver?.id ?? null,
    receiverUsername: receiver?.username ?? null,
    receiverFullName: receiver && fullName(receiver),
  };
}

// What the referral programme stores on an account (spec 04 sections 1 and 3).

/**
 * Sets the percentage that a user earns of the payments of referrals, 0..100 (spec 01 section 11.2).
 * @param percent null = the service-wide one
 * @returns the percentage before
 * @throws AppError 404 'User not found' | 403 (H5)
 */
export async function changeReferralCommission(
  app: App,
  actor: AdminActor,
  userId: number,
  percent: number | null,
): Promise<{ oldPercent: number | null }> {
  await guardTarget(app, actor, userId, 'change');
  return inTransaction(app, (t) => setReferralCommission(t, userId, percent));
}

/**
 * The change alone, in the caller's transaction, for callers that have checked who may make it.
 * @throws AppError 404 'User not found'
 */
export async function setReferralCommission(
  t: App,
  userId: number,
  percent: number | null,
): Promise<{ oldPercent: number | null }> {
  const user = await lockUser(t.db, userId);
  if (!user) throw userNotFound();
  await updateUserColumns(t.db, userId, { referralCommissionPercent: percent }, t.clock.now());
  t.audit?.record({
    resourceId: userId,
    before: { commissionPercent: user.commissionPercent },
    after: { commissionPercent: percent },
  });
  return { oldPercent: user.commissionPercent };
}

interface Partnership {
  partnerStatus: Rows['User']['partnerStatus'];
  /** Percent; null = the service-wide one; left out = unchanged. */
  referralCommissionPercent?: number | null | undefined;
}

/** For a locked user, in the caller's transaction (spec 04 section 3.1). */
export async function setPartnership(t: App, userId: number, partnership: Partnership): Promise<void> {
  await updateUserColumns(t.db, userId, partnership, t.clock.now());
}

/**
 * Sets the referrer of a user who has none, under the locks of both, in the caller's transaction (spec 04 section 1.2).
 * @returns false when the user has a referrer, or would become their own ancestor
 */
export function setReferrer(t: App, pair: { referrerId: number; referralId: number }): Promise<boolean> {
  return setReferrerOnce(t.db, pair.referralId, pair.referrerId, t.clock.now());
}
