import type { Tariff } from '../../../src/domain/catalog/types.ts';
import { pricingSettingsFrom, type RawPricingSettings } from '../../../src/domain/pricing/settings.ts';
import type { PricedUser, PricingSettings } from '../../../src/domain/pricing/types.ts';
import type { PromoGroup } from '../../../src/domain/promo-groups/types.ts';

export const NOW = new Date('2026-03-01T12:00:00Z');

/** The time `days` after NOW. */
export function inDays(days: number): Date {
  return new Date(NOW.getTime() + days * 86_400_000);
}

export function aTariff(fields: Partial<Tariff> = {}): Tariff {
  return {
    id: 1,
    name: 'Standard',
    description: null,
    displayOrder: 0,
    isActive: true,
    tierLevel: 1,
    trafficLimitGb: 100,
    deviceLimit: 1,
    devicePriceKopeks: null,
    maxDeviceLimit: null,
    allowedSquads: [],
    serverTrafficLimits: {},
    periodPrices: { 30: 30_000 },
    isTrialAvailable: false,
    allowTrafficTopup: true,
    trafficTopupEnabled: false,
    trafficTopupPackages: {},
    maxTopupTrafficGb: 0,
    isDaily: false,
    dailyPriceKopeks: 0,
    customDaysEnabled: false,
    pricePerDayKopeks: 0,
    minDays: 1,
    maxDays: 365,
    customTrafficEnabled: false,
    trafficPricePerGbKopeks: 0,
    minTrafficGb: 1,
    maxTrafficGb: 1000,
    showInGift: true,
    trafficResetMode: null,
    externalSquadUuid: null,
    allowedPromoGroupIds: [],
    createdAt: NOW,
    updatedAt: NOW,
    ...fields,
  };
}

export function aGroup(fields: Partial<PromoGroup> = {}): PromoGroup {
  return {
    id: 1,
    name: 'Friends',
    isDefault: false,
    priority: 0,
    serverDiscountPercent: 0,
    trafficDiscountPercent: 0,
    deviceDiscountPercent: 0,
    periodDiscounts: {},
    applyDiscountsToAddons: true,
    ...fields,
  };
}

/** A buyer with an offer without end. */
export function aBuyer(group: PromoGroup | null = null, offer = 0): PricedUser {
  return { primaryPromoGroup: group, promoOfferDiscountPercent: offer, promoOfferDiscountExpiresAt: null };
}

/** The documented defaults. */
const RAW_SETTINGS: RawPricingSettings = {
  salesMode: 'tariffs',
  basePromoGroupPeriodDiscountsEnabled: false,
  basePromoGroupPeriodDiscounts: '',
  periodPricesKopeks: { 14: 50_000, 30: 99_000, 60: 189_000, 90: 269_000, 180: 499_000, 360: 899_000 },
  availableSubscriptionPeriods: '14,30,60,90,180,360',
  availableRenewalPeriods: '30,90,180',
  trafficPricesKopeks: {
    5: 2000,
    10: 3500,
    25: 7000,
    50: 11_000,
    100: 15_000,
    250: 17_000,
    500: 19_000,
    1000: 19_500,
    0: 20_000,
  },
  trafficPackagesConfig: '',
  trafficTopupPackagesConfig: '',
  trafficSelectionMode: 'selectable',
  fixedTrafficLimitGb: 100,
  trafficTopupEnabled: true,
  pricePerDeviceKopeks: 5000,
  defaultTrafficLimitGb: 100,
  defaultDeviceLimit: 1,
  maxDevicesLimit: 20,
  priceRoundingEnabled: true,
};

export function pricingSettings(fields: Partial<RawPricingSettings> = {}): PricingSettings {
  return pricingSettingsFrom({ ...RAW_SETTINGS, ...fields });
}
