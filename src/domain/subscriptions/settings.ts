import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { pricingSettingsFrom } from '../pricing/settings.ts';
import type { PricingSettings } from '../pricing/types.ts';
import type { SubscriptionChanges, SubscriptionSettings } from './types.ts';

/** What prices depend on, from the settings as they are now (spec 02 section 14). */
export function pricingSettingsOf(app: App): PricingSettings {
  const { settings } = app;
  return pricingSettingsFrom({
    salesMode: settings.get('SALES_MODE'),
    basePromoGroupPeriodDiscountsEnabled: settings.get('BASE_PROMO_GROUP_PERIOD_DISCOUNTS_ENABLED'),
    basePromoGroupPeriodDiscounts: settings.get('BASE_PROMO_GROUP_PERIOD_DISCOUNTS'),
    periodPricesKopeks: {
      14: settings.get('PRICE_14_DAYS'),
      30: settings.get('PRICE_30_DAYS'),
      60: settings.get('PRICE_60_DAYS'),
      90: settings.get('PRICE_90_DAYS'),
      180: settings.get('PRICE_180_DAYS'),
      360: settings.get('PRICE_360_DAYS'),
    },
    availableSubscriptionPeriods: settings.get('AVAILABLE_SUBSCRIPTION_PERIODS'),
    availableRenewalPeriods: settings.get('AVAILABLE_RENEWAL_PERIODS'),
    trafficPricesKopeks: {
      5: settings.get('PRICE_TRAFFIC_5GB'),
      10: settings.get('PRICE_TRAFFIC_10GB'),
      25: settings.get('PRICE_TRAFFIC_25GB'),
      50: settings.get('PRICE_TRAFFIC_50GB'),
      100: settings.get('PRICE_TRAFFIC_100GB'),
      250: settings.get('PRICE_TRAFFIC_250GB'),
      500: settings.get('PRICE_TRAFFIC_500GB'),
      1000: settings.get('PRICE_TRAFFIC_1000GB'),
      0: settings.get('PRICE_TRAFFIC_UNLIMITED'),
    },
    trafficPackagesConfig: settings.get('TRAFFIC_PACKAGES_CONFIG'),
    trafficTopupPackagesConfig: settings.get('TRAFFIC_TOPUP_PACKAGES_CONFIG'),
    trafficSelectionMode: settings.get('TRAFFIC_SELECTION_MODE'),
    fixedTrafficLimitGb: settings.get('FIXED_TRAFFIC_LIMIT_GB'),
    trafficTopupEnabled: settings.get('TRAFFIC_TOPUP_ENABLED'),
    pricePerDeviceKopeks: settings.get('PRICE_PER_DEVICE'),
    defaultTrafficLimitGb: settings.get('DEFAULT_TRAFFIC_LIMIT_GB'),
    defaultDeviceLimit: settings.get('DEFAULT_DEVICE_LIMIT'),
    maxDevicesLimit: settings.get('MAX_DEVICES_LIMIT'),
    priceRoundingEnabled: settings.get('PRICE_ROUNDING_ENABLED'),
  });
}

/** Settings of the life cycle as they are now. */
export function subscriptionSettingsOf(app: App): SubscriptionSettings {
  const { settings } = app;
  return {
    trialDurationDays: settings.get('TRIAL_DURATION_DAYS'),
    trialTrafficLimitGb: settings.get('TRIAL_TRAFFIC_LIMIT_GB'),
    trialDeviceLimit: settings.get('TRIAL_DEVICE_LIMIT'),
    trialPaymentEnabled: settings.get('TRIAL_PAYMENT_ENABLED'),
    trialActivationPriceKopeks: settings.get('TRIAL_ACTIVATION_PRICE'),
    trialDisabledFor: settings.get('TRIAL_DISABLED_FOR'),
    trialTariffId: settings.get('TRIAL_TARIFF_ID'),
    trialAddRemainingDaysToPaid: settings.get('TRIAL_ADD_REMAINING_DAYS_TO_PAID'),
    resetTrafficOnPayment: settings.get('RESET_TRAFFIC_ON_PAYMENT'),
    resetTrafficOnTariffSwitch: settings.get('RESET_TRAFFIC_ON_TARIFF_SWITCH'),
  };
}

/** Milliseconds between two rounds of the jobs that watch subscriptions. */
export function monitoringIntervalMs(app: App): number {
  return Math.max(1, app.settings.get('MONITORING_INTERVAL')) * MINUTE_MS;
}

/** Autopay of a new subscription (spec 02 section 1.1). */
export function autopayDefaults({ settings }: Pick<App, 'settings'>): SubscriptionChanges {
  return {
    autopayEnabled: settings.get('DEFAULT_AUTOPAY_ENABLED'),
    autopayDaysBefore: settings.get('DEFAULT_AUTOPAY_DAYS_BEFORE'),
  };
}
