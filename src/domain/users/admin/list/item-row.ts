import { fullName } from '../../../identity/rules.ts';
import type { UserStatus } from '../../../identity/types.ts';
import { actualStatus } from '../../../subscriptions/rules/status.ts';
import type { SubscriptionStatus } from '../../../subscriptions/types.ts';
import type { AdminUserItem } from '../types.ts';

export interface ItemRow {
  id: number;
  messenger_id: number | null;
  username: string | null;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  status: UserStatus;
  balance_kopeks: number;
  created_at: Date;
  last_activity: Date | null;
  restriction_topup: boolean;
  restriction_subscription: boolean;
  subscription_status: SubscriptionStatus | null;
  is_trial: boolean;
  end_date: Date;
  group_id: number | null;
  group_name: string;
  total_spent_kopeks: number;
  purchase_count: number;
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
    messengerId: row.messenger_id,
    username: row.username,
    firstName: row.first_name,
    lastName: row.last_name,
  };
  return {
    ...user,
    fullName: fullName({ ...user, email: row.email }),
    status: row.status,
    balanceKopeks: row.balance_kopeks,
    createdAt: row.created_at,
    lastActivity: row.last_activity,
    subscription:
      row.subscription_status === null
        ? null
        : {
            status: actualStatus({ status: row.subscription_status, endDate: row.end_date }, now),
            isTrial: row.is_trial,
            endDate: row.end_date,
          },
    promoGroup: row.group_id === null ? null : { id: row.group_id, name: row.group_name },
    totalSpentKopeks: row.total_spent_kopeks,
    purchaseCount: row.purchase_count,
    restrictionTopup: row.restriction_topup,
    restrictionSubscription: row.restriction_subscription,
  };
}
