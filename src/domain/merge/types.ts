import type { UserRecord } from '../identity/types.ts';
import type { MergePreviewSubscription } from './repo.ts';

export type { MergedFields } from '../users/merged-account.ts';
export type { MergingUser } from './repo.ts';

/** Subscription and panel user of one of the two accounts. */
export interface PanelAssets {
  subscriptionId: number | null;
  panelUuid: string | null;
}

/** What a merge does with the subscriptions and their panel users. */
export interface SubscriptionPlan {
  retainedSubscriptionId: number | null;
  deletedSubscriptionId: number | null;
  /** The retained row is the secondary's and changes its owner. */
  isMoved: boolean;
  /** Whose panel user the primary has afterwards; null = none of the two has one. */
  panelFrom: 'primary' | 'secondary' | null;
  /** The panel user served the subscription that is deleted: used traffic and devices are not those of the retained one. */
  isPanelReused: boolean;
  /** The panel user that loses its owner. */
  abandonedPanelUuid: string | null;
}

/** One account as the merge page shows it. */
export interface MergePreviewUser
  extends Pick<UserRecord, 'id' | 'username' | 'firstName' | 'email' | 'balanceKopeks' | 'createdAt'> {
  authMethods: string[];
  subscription: MergePreviewSubscription | null;
}

export interface MergePreview {
  primary: MergePreviewUser;
  secondary: MergePreviewUser;
  expiresInSeconds: number;
}
