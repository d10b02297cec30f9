/** What is on sale (spec 02 sections 1.2 and 1.4, spec 04 section 8.1): plain values, no wire names, no database. */

/** How often the panel zeroes the used traffic; null on a tariff means the service-wide default. */
export type TrafficResetMode = 'DAY' | 'WEEK' | 'MONTH' | 'NO_RESET';

export interface Tariff {
  id: number;
  name: string;
  description: string | null;
  displayOrder: number;
  isActive: boolean;
  /** For display only. */
  tierLevel: number;
  /** GB; 0 = unlimited. */
  trafficLimitGb: number;
  /** Devices included in the price. */
  deviceLimit: number;
  /** Kopeks per extra device per 30 days; null = the service-wide price, 0 = buying devices is off. */
  devicePriceKopeks: number | null;
  /** null = no cap. */
  maxDeviceLimit: number | null;
  /** Squad uuids; empty means every available server (see `effectiveSquads`). */
  allowedSquads: string[];
  /** By squad uuid; stored and shown, not sent to the panel. */
  serverTrafficLimits: Record<string, { trafficLimitGb: number }>;
  /** Days to kopeks; only days > 0 with a price >= 0. */
  periodPrices: Record<number, number>;
  isTrialAvailable: boolean;
  /** Gate of classic mode only. */
  allowTrafficTopup: boolean;
  trafficTopupEnabled: boolean;
  /** GB to kopeks. */
  trafficTopupPackages: Record<number, number>;
  /** Cap in GB on the whole limit after a top-up; 0 = none. */
  maxTopupTrafficGb: number;
  isDaily: boolean;
  dailyPriceKopeks: number;
  customDaysEnabled: boolean;
  pricePerDayKopeks: number;
  minDays: number;
  maxDays: number;
  customTrafficEnabled: boolean;
  trafficPricePerGbKopeks: number;
  minTrafficGb: number;
  maxTrafficGb: number;
  showInGift: boolean;
  trafficResetMode: TrafficResetMode | null;
  externalSquadUuid: string | null;
  /** Promo group ids; empty = everyone. */
  allowedPromoGroupIds: number[];
  createdAt: Date;
  updatedAt: Date;
}

export interface PromoGroup {
  id: number;
  name: string;
  isDefault: boolean;
  /** The primary group of a user is the one with the highest (priority, id). */
  priority: number;
  /** Percentages 0..100. */
  serverDiscountPercent: number;
  trafficDiscountPercent: number;
  deviceDiscountPercent: number;
  /** Period in days to percent. */
  periodDiscounts: Record<number, number>;
  /** Whether purchases in the middle of a period get the group's percentages too. */
  applyDiscountsToAddons: boolean;
}

export interface ServerSquad {
  id: number;
  squadUuid: string;
  displayName: string;
  originalName: string | null;
  countryCode: string | null;
  isAvailable: boolean;
  /** May be used for trials; it does not mean "for trials only". */
  isTrialEligible: boolean;
  /** Kopeks per 30 days (classic mode). */
  priceKopeks: number;
  description: string | null;
  sortOrder: number;
  /** null = no cap. */
  maxUsers: number | null;
  currentUsers: number;
  /** At least one. */
  allowedPromoGroupIds: number[];
}
