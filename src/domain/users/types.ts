import type { Rows } from '../../core/db/columns.ts';
import type { UserStatus } from '../identity/types.ts';
import type { SubscriptionInfo } from '../subscriptions/manual/manual-changes.ts';
import type { SubscriptionStatus } from '../subscriptions/types.ts';
import type { UserItemRow } from './list/sorted-repo.ts';

type NamedField = 'id' | 'messengerId' | 'username' | 'firstName' | 'lastName' | 'status' | 'language' | 'balanceKopeks';

/** A user as the Web API shows one: the account, its primary promo group and its subscription (spec 01 section 10). */
export interface UserView
  extends Pick<
    Rows['User'],
    | NamedField
    | 'referralCode'
    | 'referredById'
    | 'hasHadPaidSubscription'
    | 'hasMadeFirstTopup'
    | 'createdAt'
    | 'updatedAt'
    | 'lastActivity'
  > {
  promoGroup: GroupView | null;
  subscription: SubscriptionView | null;
}

/** Percentages 0..100. */
export type GroupView = Pick<
  Rows['PromoGroup'],
  'id' | 'name' | 'serverDiscountPercent' | 'trafficDiscountPercent' | 'deviceDiscountPercent' | 'applyDiscountsToAddons'
>;

/** A traffic limit of 0 is unlimited. */
export interface SubscriptionView
  extends Pick<
    Rows['Subscription'],
    | 'id'
    | 'isTrial'
    | 'startDate'
    | 'endDate'
    | 'trafficLimitGb'
    | 'trafficUsedGb'
    | 'deviceLimit'
    | 'autopayEnabled'
    | 'autopayDaysBefore'
    | 'subscriptionUrl'
    | 'subscriptionCryptoLink'
    | 'connectedSquads'
  > {
  /** As stored; the current status is `actualStatus`. */
  status: SubscriptionStatus;
  actualStatus: SubscriptionStatus;
}

export interface UserFilter {
  status: UserStatus | null;
  /** The primary group. */
  promoGroupId: number | null;
}

/** Rows to skip and to give. */
export interface Slice {
  limit: number;
  offset: number;
}

/** What a search looks for; see `searchTerms`. */
export interface SearchTerms {
  text: string;
  /** `text` as an escaped pattern of LIKE. */
  pattern: string;
  /** Set when the text is a number that such an id can be. */
  id: number | null;
  messengerId: number | null;
}

export interface UserPage extends Slice {
  users: UserView[];
  total: number;
}

/** A row of the administrator's list (spec 01 section 11.1); kopeks. */
export interface AdminUserItem extends UserItemRow {
  fullName: string;
}

export interface AdminUserPage extends Slice {
  users: AdminUserItem[];
  total: number;
}

/** What the list is sorted by, highest first; then newest first. */
export type UserSort = 'created_at' | 'balance' | 'traffic' | 'last_activity' | 'total_spent' | 'purchase_count';

/** A movement as an administrator sees it; debits negative, kopeks. */
export type TransactionInfo = Pick<
  Rows['Transaction'],
  'id' | 'type' | 'amountKopeks' | 'description' | 'paymentMethod' | 'isCompleted' | 'createdAt'
>;

/** Everything about one user; kopeks. */
export interface AdminUserDetail
  extends Pick<
    Rows['User'],
    | NamedField
    | 'email'
    | 'emailVerified'
    | 'createdAt'
    | 'updatedAt'
    | 'lastActivity'
    | 'cabinetLastLogin'
    | 'usedPromocodes'
    | 'hasHadPaidSubscription'
    | 'lifetimeUsedTrafficBytes'
    | 'restrictionTopup'
    | 'restrictionSubscription'
    | 'restrictionReason'
    | 'promoOfferDiscountPercent'
    | 'promoOfferDiscountSource'
    | 'promoOfferDiscountExpiresAt'
    | 'vpnpanelUuid'
  > {
  fullName: string;
  subscription: SubscriptionInfo | null;
  promoGroup: { id: number; name: string; isDefault: boolean } | null;
  referral: {
    referralCode: string;
    referralsCount: number;
    totalEarningsKopeks: number;
    commissionPercent: number | null;
    referredById: number | null;
    referredByUsername: string | null;
  };
  totalSpentKopeks: number;
  purchaseCount: number;
  campaignId: number | null;
  campaignName: string | null;
  recentTransactions: TransactionInfo[];
}
