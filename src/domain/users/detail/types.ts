import type { UserStatus } from '../../identity/types.ts';
import type { SubscriptionInfo } from '../../subscriptions/manual/subscription-info.ts';
import type { SubscriptionStatus } from '../../subscriptions/types.ts';

/** A row of the administrator's list (spec 01 section 11.1); kopeks. */
export interface AdminUserItem {
  id: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  fullName: string;
  status: UserStatus;
  balanceKopeks: number;
  createdAt: Date;
  lastActivity: Date | null;
  subscription: { status: SubscriptionStatus; isTrial: boolean; endDate: Date } | null;
  promoGroup: { id: number; name: string } | null;
  totalSpentKopeks: number;
  purchaseCount: number;
  restrictionTopup: boolean;
  restrictionSubscription: boolean;
}

export interface AdminUserPage {
  users: AdminUserItem[];
  total: number;
  offset: number;
  limit: number;
}

/** What the list is sorted by, highest first; then newest first. */
export type UserSort = 'created_at' | 'balance' | 'traffic' | 'last_activity' | 'total_spent' | 'purchase_count';

/** A movement as an administrator sees it; debits negative, kopeks. */
export interface TransactionInfo {
  id: number;
  type: string;
  amountKopeks: number;
  description: string | null;
  paymentMethod: string | null;
  isCompleted: boolean;
  createdAt: Date;
}

export interface AdminUserDetail {
  id: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  fullName: string;
  status: UserStatus;
  language: string;
  balanceKopeks: number;
  email: string | null;
  emailVerified: boolean;
  createdAt: Date;
  updatedAt: Date;
  lastActivity: Date | null;
  cabinetLastLogin: Date | null;
  subscription: SubscriptionInfo | null;
  promoGroup: { id: number; name: string; isDefault: boolean } | null;
  referral: {
    code: string;
    count: number;
    earningsKopeks: number;
    commissionPercent: number | null;
    referredById: number | null;
    referredByUsername: string | null;
  };
  totalSpentKopeks: number;
  purchaseCount: number;
  usedPromocodes: number;
  hasHadPaidSubscription: boolean;
  lifetimeUsedTrafficBytes: number;
  restrictionTopup: boolean;
  restrictionSubscription: boolean;
  restrictionReason: string | null;
  promoOfferPercent: number;
  promoOfferSource: string | null;
  promoOfferExpiresAt: Date | null;
  campaign: { id: number; name: string } | null;
  recentTransactions: TransactionInfo[];
  panelUuid: string | null;
}

/** A gift as an administrator sees it (spec 03 section 8.1); kopeks. */
export interface GiftInfo {
  id: number;
  /** The first 12 characters, never the whole secret. */
  token: string;
  status: string;
  tariffName: string | null;
  periodDays: number;
  deviceLimit: number;
  amountKopeks: number;
  paymentMethod: string | null;
  recipientType: string | null;
  recipientValue: string | null;
  message: string | null;
  buyer: GiftParty | null;
  receiver: GiftParty | null;
  createdAt: Date;
  paidAt: Date | null;
  deliveredAt: Date | null;
}

export interface GiftParty {
  id: number;
  username: string | null;
  fullName: string;
}
