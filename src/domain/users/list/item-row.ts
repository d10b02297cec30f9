import { fullName } from '../../identity/rules.ts';
import type { UserStatus } from '../../identity/types.ts';
import { actualStatus } from '../../subscriptions/rules/status.ts';
import type { SubscriptionStatus } from '../../subscriptions/types.ts';
import type { AdminUserItem } from '../detail/types.ts';

export interface ItemRow {
  id: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  status: UserStatus;
  balanceKopeks: number;
  createdAt: Date;
  lastActivity: Date | null;
  restrictionTopup: boolean;
  restrictionSubscription: boolean;
  subscriptionStatus: SubscriptionStatus | null;
  isTrial: boolean;
  endDate: Date;
  groupId: number | null;
  groupName: string;
  totalSpentKopeks: number;
  purchaseCount: number;
}

export const ITEM_COLUMNS = `u.id, u.messenger_id, u.username, u.first_name, u.last_name, u.email, u.status, u.balance_kopeks, u.created_at,
  u.last_activity, u.restriction_topup, u.restriction_subscription, s.status AS subscription_status, s.is_trial, s.end_date,
  g.id AS group_id, g.name AS group_name, f.total_spent_kopeks, f.purchase_count`;

/** Everything of a page in one statement (spec 01 H24). */
export const ITEM_JOINS = `JOIN user_stats f ON f.user_id = u.id LEFT JOIN subscriptions s ON s.user_id = u.id
  LEFT JOIN promo_groups g ON g.id = u.promo_group_id`;

export function toItem(row: ItemRow, now: Date): AdminUserItem {
  const user = {
    id: row.id,
    messengerId: row.messengerId,
    username: row.username,
    firstName: row.firstName,
    lastName: row.lastName,
  };
  return {
    ...user,
    fullName: fullName({ ...user, email: row.email }),
    status: row.status,
    balanceKopeks: row.balanceKopeks,
    createdAt: row.createdAt,
    lastActivity: row.lastActivity,
    subscription:
      row.subscriptionStatus === null
        ? null
        : {
            status: actualStatus({ status: row.subscriptionStatus, endDate: row.endDate }, now),
            isTrial: row.isTrial,
            endDate: row.endDate,
          },
    promoGroup: row.groupId === null ? null : { id: row.groupId, name: row.groupName },
    totalSpentKopeks: row.totalSpentKopeks,
    purchaseCount: row.purchaseCount,
    restrictionTopup: row.restrictionTopup,
    restrictionSubscription: row.restrictionSubscription,
  };
}
