import type { PromoGroup } from '../promo-groups/types.ts';

/** `selectable`: the buyer picks GB; `fixed`: one limit for all; `fixed_with_topup`: one limit, packages may be added. */
export type TrafficSelectionMode = 'selectable' | 'fixed' | 'fixed_with_topup';

/** `tariffs`, or classic (period, traffic, servers and devices are picked one by one). */
type SalesMode = 'tariffs' | 'classic';

/** A traffic package of the global lists: GB (0 = unlimited), kopeks per 30 days. */
export interface TrafficPackage {
  gb: number;
  priceKopeks: number;
  isEnabled: boolean;
}

/** What prices depend on besides the item and the buyer (spec 02 section 14); built by `pricingSettingsFrom`. */
export interface PricingSettings {
  salesMode: SalesMode;
  /** Whether the default promo group falls back to `basePromoGroupPeriodDiscounts`. */
  basePromoGroupPeriodDiscountsEnabled: boolean;
  /** Days to percent. */
  basePromoGroupPeriodDiscounts: Record<number, number>;
  /** Classic base price in kopeks by days. */
  periodPricesKopeks: Record<number, number>;
  /** Days offered for a classic purchase, ascending. */
  availableSubscriptionPeriods: number[];
  /** Days offered for a classic renewal, ascending. */
  availableRenewalPeriods: number[];
  trafficPackages: TrafficPackage[];
  trafficTopupPackages: TrafficPackage[];
  trafficSelectionMode: TrafficSelectionMode;
  fixedTrafficLimitGb: number;
  trafficTopupEnabled: boolean;
  /** Kopeks per extra device per 30 days. */
  pricePerDeviceKopeks: number;
  defaultTrafficLimitGb: number;
  /** Devices included in a classic subscription. */
  defaultDeviceLimit: number;
  /** 0 = no cap. */
  maxDevicesLimit: number;
  /** Whether kopeks of displayed prices have two digits always; see `formatPrice`. */
  priceRoundingEnabled: boolean;
}

/** What prices depend on of the buyer. */
export interface PricedUser {
  /** The one-shot personal discount, percent. */
  promoOfferDiscountPercent: number;
  /** null = no end. */
  promoOfferDiscountExpiresAt: Date | null;
  primaryPromoGroup: PromoGroup | null;
}

/** One line of a price after the promo group's discount: original = final + discount, all kopeks. */
export interface PricePart {
  originalKopeks: number;
  discountPercent: number;
  discountKopeks: number;
  finalKopeks: number;
}

/** The common result of every quote: original = final + group discount + offer discount, all kopeks. */
export interface QuoteTotals {
  originalTotalKopeks: number;
  groupDiscountKopeks: number;
  /** After the group's discount, before the personal offer. */
  subtotalKopeks: number;
  offerDiscountPercent: number;
  offerDiscountKopeks: number;
  /** What is charged. */
  finalKopeks: number;
}
