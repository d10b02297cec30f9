import type { App } from '../../../core/app.ts';
import { requireUser, requireUserByMessengerId } from '../../identity/require-user.ts';
import { fullName } from '../../identity/rules.ts';
import type { UserRecord } from '../../identity/types.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { subscriptionInfo } from '../../subscriptions/manual/subscription-info.ts';
import { countTransactionsOf, findDetailFacts, listTransactionsOf } from './repo.ts';
import type { AdminUserDetail, TransactionInfo } from './types.ts';

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
  const [facts, held, recentTransactions] = await Promise.all([
    findDetailFacts(app.db, user.id),
    readUserSubscription(app, user.id),
    listTransactionsOf(app.db, user.id, { type: null, limit: RECENT_TRANSACTIONS, offset: 0 }),
  ]);
  const { promoGroup, campaign, ...rest } = facts!;
  return {
    id: user.id,
    messengerId: user.messengerId,
    username: user.username,
    firstName: user.firstName,
    lastName: user.lastName,
    fullName: fullName(user),
    status: user.status,
    language: user.language,
    balanceKopeks: user.balanceKopeks,
    email: user.email,
    emailVerified: user.emailVerified,
    createdAt: user.createdAt,
    updatedAt: rest.updatedAt,
    lastActivity: user.lastActivity,
    cabinetLastLogin: user.cabinetLastLogin,
    subscription: held && subscriptionInfo(held.subscription, rest.tariffName, held.purchases, now),
    promoGroup,
    referral: {
      code: user.referralCode,
      count: rest.referralCount,
      earningsKopeks: rest.earningsKopeks,
      commissionPercent: user.referralCommissionPercent,
      referredById: user.referredById,
      referredByUsername: rest.referredByUsername,
    },
    totalSpentKopeks: rest.totalSpentKopeks,
    purchaseCount: rest.purchaseCount,
    usedPromocodes: rest.usedPromocodes,
    hasHadPaidSubscription: user.hasHadPaidSubscription,
    lifetimeUsedTrafficBytes: rest.lifetimeUsedTrafficBytes,
    restrictionTopup: user.restrictionTopup,
    restrictionSubscription: user.restrictionSubscription,
    restrictionReason: user.restrictionReason,
    promoOfferPercent: rest.promoOfferPercent,
    promoOfferSource: rest.promoOfferSource,
    promoOfferExpiresAt: rest.promoOfferExpiresAt,
    campaign,
    recentTransactions,
    panelUuid: user.vpnpanelUuid,
  };
}

export interface TransactionsPage {
  transactions: TransactionInfo[];
  total: number;
}

/** Visible movements of a user, newest first; debits are shown negative (spec 01 section 11.1). @throws AppError 404 */
export async function listUserTransactions(
  app: App,
  userId: number,
  page: { type: string | null; limit: number; offset: number },
): Promise<TransactionsPage> {
  const user = await requireUser(app, userId);
  const [transactions, total] = await Promise.all([
    listTransactionsOf(app.db, user.id, page),
    countTransactionsOf(app.db, user.id, page.type),
  ]);
  return { transactions, total };
}
