import type { ServerSquad } from '../../../src/domain/catalog/types.ts';
import type { Subscription, SubscriptionSettings } from '../../../src/domain/subscriptions/types.ts';
import { inDays, NOW } from '../pricing/samples.ts';

/** A paid classic subscription with 10 days left. */
export function aSubscription(fields: Partial<Subscription> = {}): Subscription {
  return {
    id: 1,
    userId: 1,
    status: 'active',
    isTrial: false,
    startDate: inDays(-20),
    endDate: inDays(10),
    trafficLimitGb: 100,
    trafficUsedGb: 12.345,
    purchasedTrafficGb: 0,
    trafficResetAt: null,
    deviceLimit: 1,
    connectedSquads: ['a'],
    autopayEnabled: false,
    autopayDaysBefore: 3,
    tariffId: null,
    isDailyPaused: false,
    cancelEndedAutopay: false,
    cancelPausedDaily: false,
    lastDailyChargeAt: null,
    subscriptionUrl: 'https://panel.test/sub/abc',
    subscriptionCryptoLink: null,
    vpnpanelShortUuid: 'abc',
    lastWebhookUpdateAt: null,
    modemEnabled: false,
    provisionState: 'synced',
    provisionError: null,
    provisionRequestedAt: null,
    provisionedAt: null,
    createdAt: inDays(-20),
    updatedAt: inDays(-20),
    ...fields,
  };
}

export function aSquad(uuid: string, fields: Partial<ServerSquad> = {}): ServerSquad {
  return {
    id: uuid.charCodeAt(0),
    squadUuid: uuid,
    displayName: `Server ${uuid}`,
    originalName: null,
    countryCode: 'NL',
    isAvailable: true,
    isTrialEligible: false,
    priceKopeks: 1000,
    description: null,
    sortOrder: 0,
    maxUsers: null,
    currentUsers: 0,
    allowedPromoGroupIds: [],
    ...fields,
  };
}

/** The documented defaults. */
export function subscriptionSettings(fields: Partial<SubscriptionSettings> = {}): SubscriptionSettings {
  return {
    trialDurationDays: 3,
    trialTrafficLimitGb: 10,
    trialDeviceLimit: 2,
    trialPaymentEnabled: false,
    trialActivationPriceKopeks: 0,
    trialDisabledFor: 'none',
    trialTariffId: 0,
    trialAddRemainingDaysToPaid: false,
    resetTrafficOnPayment: false,
    resetTrafficOnTariffSwitch: true,
    ...fields,
  };
}

export { inDays, NOW };
