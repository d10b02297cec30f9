import type { PromoGroup } from '../catalog/types.ts';

/** A promo group as administrators see it (spec 04 section 8). */
export interface PromoGroupRecord extends PromoGroup {
  /** Kopeks of completed purchases from which users get the group by themselves; null = never. */
  autoAssignTotalSpentKopeks: number | null;
  /** Users whose primary group it is. */
  membersCount: number;
  createdAt: Date;
  updatedAt: Date;
}

/** What can be set on a group. */
export interface PromoGroupValues {
  name: string;
  serverDiscountPercent: number;
  trafficDiscountPercent: number;
  deviceDiscountPercent: number;
  periodDiscounts: Record<string, number>;
  autoAssignTotalSpentKopeks: number | null;
  applyDiscountsToAddons: boolean;
}

/** How a user came into a group; only what a promo code gave may a promo code take (spec 04 section 7.5). */
export type AssignedBy = 'admin' | 'system' | 'auto' | 'promocode';
