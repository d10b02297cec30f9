/** Promo codes (spec 04 section 7). */

export type PromocodeType = 'balance' | 'subscription_days' | 'trial_subscription' | 'promo_group' | 'discount';

/** What can be set on a code. */
export interface PromocodeValues {
  /** Upper case, at most 50 characters. */
  code: string;
  type: PromocodeType;
  /** Kopeks; for `discount` the percent. */
  balanceBonusKopeks: number;
  /** Days; for `discount` the hours it lasts, 0 = until the first purchase. */
  subscriptionDays: number;
  /** `UNLIMITED_USES` stands for no limit. */
  maxUses: number;
  validFrom: Date;
  validUntil: Date | null;
  isActive: boolean;
  /** Only for users who never had a paid subscription. */
  firstPurchaseOnly: boolean;
  /** Who activates the code joins this group, whatever its type. */
  promoGroupId: number | null;
}

export interface Promocode extends PromocodeValues {
  id: number;
  currentUses: number;
  createdBy: number | null;
  createdAt: Date;
  updatedAt: Date;
}

/** One activation as administrators see it. */
export interface PromocodeUse {
  id: number;
  userId: number;
  username: string | null;
  fullName: string;
  messengerId: number | null;
  usedAt: Date;
}

export interface PromocodeDetails {
  promocode: Promocode;
  totalUses: number;
  /** Since 00:00 UTC. */
  todayUses: number;
  /** The last ten, newest first. */
  recentUses: PromocodeUse[];
}

/** What the checks of an activation look at besides the code itself. */
export interface RedeemerFacts {
  hasUsedCode: boolean;
  /** Activations in the last 24 hours, those given back since too. */
  activationsToday: number;
  hasHadPaid: boolean;
  hasActiveDiscount: boolean;
  hasSubscription: boolean;
}

/** The personal discount that a user holds (spec 02 section 2.1). */
export interface HeldDiscount {
  percent: number;
  /** `promocode:{CODE}` when it came from a code. */
  source: string | null;
  /** null = until the first purchase. */
  expiresAt: Date | null;
}
