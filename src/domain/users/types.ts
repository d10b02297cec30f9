import type { UserStatus } from '../identity/types.ts';
import type { SubscriptionStatus } from '../subscriptions/types.ts';

/** A user as the Web API shows one: the account, its primary promo group and its subscription (spec 01 section 10). */
export interface UserView {
  id: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  status: UserStatus;
  language: string;
  balanceKopeks: number;
  referralCode: string;
  referredById: number | null;
  hasHadPaidSubscription: boolean;
  hasMadeFirstTopup: boolean;
  createdAt: Date;
  updatedAt: Date;
  lastActivity: Date | null;
  promoGroup: GroupView | null;
  subscription: SubscriptionView | null;
}

export interface GroupView {
  id: number;
  name: string;
  /** Percentages 0..100. */
  serverDiscountPercent: number;
  trafficDiscountPercent: number;
  deviceDiscountPercent: number;
  applyDiscountsToAddons: boolean;
}

export interface SubscriptionView {
  id: number;
  /** As stored; what holds now is `actualStatus`. */
  status: SubscriptionStatus;
  actualStatus: SubscriptionStatus;
  isTrial: boolean;
  startDate: Date;
  endDate: Date;
  /** 0 = unlimited. */
  trafficLimitGb: number;
  trafficUsedGb: number;
  deviceLimit: number;
  autopayEnabled: boolean;
  autopayDaysBefore: number | null;
  subscriptionUrl: string | null;
  subscriptionCryptoLink: string | null;
  connectedSquads: string[];
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
