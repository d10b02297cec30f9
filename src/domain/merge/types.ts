import type { SubscriptionStatus } from '../subscriptions/types.ts';

/** A row of `users` as a merge reads it under its lock, with the secrets that move along. */
export interface MergingUser {
  id: number;
  status: string;
  balanceKopeks: number;
  messengerId: number | null;
  lastPinnedMessageId: number | null;
  googleId: string | null;
  yandexId: string | null;
  discordId: string | null;
  vkId: number | null;
  email: string | null;
  emailVerified: boolean;
  emailVerifiedAt: Date | null;
  passwordHash: string | null;
  referredById: number | null;
  referralCommissionPercent: number | null;
  partnerStatus: string;
  restrictionTopup: boolean;
  restrictionSubscription: boolean;
  restrictionReason: string | null;
  hasHadPaidSubscription: boolean;
  hasMadeFirstTopup: boolean;
  usedPromocodes: number;
  autoPromoGroupAssigned: boolean;
  autoPromoGroupThresholdKopeks: number;
  promoOfferDiscountPercent: number;
  promoOfferDiscountSource: string | null;
  promoOfferDiscountExpiresAt: Date | null;
  lifetimeUsedTrafficBytes: number;
  vpnpanelUuid: string | null;
  trojanPassword: string | null;
  vlessUuid: string | null;
  ssPassword: string | null;
  lastVpnpanelSync: Date | null;
}

/** What the primary account holds afterwards; its own id, status and balance are not among it. */
export type MergedFields = Omit<MergingUser, 'id' | 'status' | 'balanceKopeks'>;

/** The subscription side of one of the two accounts. */
export interface PanelHolding {
  subscriptionId: number | null;
  panelUuid: string | null;
}

/** What becomes of the subscriptions and their panel users. */
export interface SubscriptionPlan {
  keptSubscriptionId: number | null;
  deletedSubscriptionId: number | null;
  /** The kept row is the secondary's and changes its owner. */
  isMoved: boolean;
  /** Whose panel user the primary has afterwards; null = nobody has one. */
  panelFrom: 'primary' | 'secondary' | null;
  /** The panel user served the subscription that is deleted: used traffic and devices are not the kept one's. */
  isPanelReused: boolean;
  /** The panel user that loses its owner. */
  abandonedPanelUuid: string | null;
}

/** One account as the merge page shows it. */
export interface MergePreviewUser {
  id: number;
  username: string | null;
  firstName: string | null;
  email: string | null;
  authMethods: string[];
  balanceKopeks: number;
  subscription: MergePreviewSubscription | null;
  createdAt: Date;
}

/** Traffic in GB. */
export interface MergePreviewSubscription {
  status: SubscriptionStatus;
  isTrial: boolean;
  endDate: Date;
  trafficLimitGb: number;
  trafficUsedGb: number;
  deviceLimit: number;
  tariffName: string | null;
  autopayEnabled: boolean;
}

export interface MergePreview {
  primary: MergePreviewUser;
  secondary: MergePreviewUser;
  expiresInSeconds: number;
}
