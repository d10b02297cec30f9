import { z } from 'zod';
import { GivenQuote, INIT_DATA_EXAMPLE, Moment, publishedAsFreeForm, SignedQuote } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';
import { InitData, MiniAppPromoGroup } from './tariffs.schemas.ts';

/** Contract group `miniapp`: renewal, trial, autopay, add-ons and codes (spec 02 section 12.2). */

const SubscriptionId = z.int().nullish();

export const MiniAppSubscriptionAutopay = z
  .object({
    enabled: z.boolean().default(false),
    autopay_enabled: z.boolean().nullish(),
    autopay_enabled_at: Moment.nullish(),
    days_before: z.int().nullish(),
    autopay_days_before: z.int().nullish(),
    default_days_before: z.int().nullish(),
    autopay_days_options: z.array(z.int()).default([]),
    days_options: z.array(z.int()).default([]),
    options: z.array(z.int()).default([]),
    // Spellings that clients of the existing product read (spec 10 X18).
    available_days: z.array(z.int()).optional(),
    availableDays: z.array(z.int()).optional(),
    autopayEnabled: z.boolean().optional(),
    autopayDaysBefore: z.int().nullish(),
    autopayDaysOptions: z.array(z.int()).optional(),
    daysBefore: z.int().nullish(),
    daysOptions: z.array(z.int()).optional(),
    defaultDaysBefore: z.int().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionAutopay' });

/** The state of autopay, a part of several answers. */
export const autopayFields = {
  autopay_enabled: z.boolean().default(false),
  autopay_days_before: z.int().nullish(),
  autopay_days_options: z.array(z.int()).default([]),
  autopay: MiniAppSubscriptionAutopay.nullish(),
  autopay_settings: MiniAppSubscriptionAutopay.nullish(),
  autopayEnabled: z.boolean().optional(),
  autopayDaysBefore: z.int().nullish(),
  autopayDaysOptions: z.array(z.int()).optional(),
  daysBefore: z.int().nullish(),
  daysOptions: z.array(z.int()).optional(),
  autopaySettings: MiniAppSubscriptionAutopay.nullish(),
};

/** The days before the end are checked by the use case: absent and negative numbers change nothing (spec 02 section 12.2). */
export const MiniAppSubscriptionAutopayRequest = z
  .object({ initData: InitData, subscriptionId: SubscriptionId, enabled: z.boolean().nullish(), daysBefore: z.int().nullish() })
  .meta({ id: 'MiniAppSubscriptionAutopayRequest', example: { initData: INIT_DATA_EXAMPLE, enabled: true, daysBefore: 3 } });

export const MiniAppSubscriptionAutopayResponse = z
  .object({ success: z.boolean().default(true), subscriptionId: z.int().nullish(), ...autopayFields })
  .meta({ id: 'MiniAppSubscriptionAutopayResponse' });

export const MiniAppSubscriptionTrialRequest = z
  .object({ initData: InitData })
  .meta({ id: 'MiniAppSubscriptionTrialRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppSubscriptionTrialResponse = z
  .object({
    success: z.boolean().default(true),
    message: z.string().nullish(),
    subscriptionId: z.int().nullish(),
    trialStatus: z.string().nullish(),
    trialDurationDays: z.int().nullish(),
    chargedAmountKopeks: z.int().nullish(),
    chargedAmountLabel: z.string().nullish(),
    balanceKopeks: z.int().nullish(),
    balanceLabel: z.string().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionTrialResponse' });

export const MiniAppSubscriptionRenewalOptionsRequest = z
  .object({ initData: InitData, subscriptionId: SubscriptionId })
  .meta({ id: 'MiniAppSubscriptionRenewalOptionsRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppSubscriptionRenewalPeriod = z
  .object({
    id: z.string(),
    days: z.int().nullish(),
    months: z.int().nullish(),
    priceKopeks: z.int().nullish(),
    priceLabel: z.string().nullish(),
    originalPriceKopeks: z.int().nullish(),
    originalPriceLabel: z.string().nullish(),
    discountPercent: z.int().default(0),
    pricePerMonthKopeks: z.int().nullish(),
    pricePerMonthLabel: z.string().nullish(),
    isRecommended: z.boolean().default(false),
    description: z.string().nullish(),
    badge: z.string().nullish(),
    title: z.string().nullish(),
    quote: SignedQuote,
  })
  .meta({ id: 'MiniAppSubscriptionRenewalPeriod' });

export const MiniAppSubscriptionRenewalOptionsResponse = z
  .object({
    success: z.boolean().default(true),
    subscriptionId: z.int().nullish(),
    currency: z.string(),
    balanceKopeks: z.int().nullish(),
    balanceLabel: z.string().nullish(),
    promoGroup: MiniAppPromoGroup.nullish(),
    promoOffer: z.record(z.string(), z.unknown()).nullish(),
    periods: z.array(MiniAppSubscriptionRenewalPeriod).default([]),
    defaultPeriodId: z.string().nullish(),
    missingAmountKopeks: z.int().nullish(),
    statusMessage: z.string().nullish(),
    ...autopayFields,
    isTrial: z.boolean().default(false),
    salesMode: z.string().default('classic'),
  })
  .meta({ id: 'MiniAppSubscriptionRenewalOptionsResponse' });

export const MiniAppSubscriptionRenewalRequest = z
  .object({
    initData: InitData,
    subscriptionId: SubscriptionId,
    periodId: z.string().nullish(),
    periodDays: z.int().nullish(),
    method: z.string().nullish(),
    quote: GivenQuote,
  })
  .meta({ id: 'MiniAppSubscriptionRenewalRequest', example: { initData: INIT_DATA_EXAMPLE, periodDays: 30, method: 'balance' } });

export const MiniAppSubscriptionRenewalResponse = z
  .object({
    success: z.boolean().default(true),
    message: z.string().nullish(),
    balanceKopeks: z.int().nullish(),
    balanceLabel: z.string().nullish(),
    subscriptionId: z.int().nullish(),
    renewedUntil: Moment.nullish(),
    requiresPayment: z.boolean().default(false),
    paymentMethod: z.string().nullish(),
    paymentUrl: z.string().nullish(),
    paymentAmountKopeks: z.int().nullish(),
    paymentId: z.int().nullish(),
    invoiceId: z.string().nullish(),
    paymentPayload: z.string().nullish(),
    paymentExtra: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionRenewalResponse' });

export const MiniAppTrafficTopupRequest = z
  .object({ initData: InitData, subscriptionId: SubscriptionId, gb: z.int(), quote: GivenQuote })
  .meta({ id: 'MiniAppTrafficTopupRequest', example: { initData: INIT_DATA_EXAMPLE, gb: 50 } });

/** Untyped in the contract. */
export const MiniAppTrafficTopupResponse = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    new_traffic_limit_gb: z.int(),
    new_balance_kopeks: z.int(),
    charged_kopeks: z.int(),
  }),
);

export const MiniAppDailySubscriptionToggleRequest = z
  .object({ init_data: InitData })
  .meta({ id: 'MiniAppDailySubscriptionToggleRequest', example: { init_data: INIT_DATA_EXAMPLE } });

export const MiniAppDeviceRemovalRequest = z
  .object({ initData: InitData, hwid: z.string() })
  .meta({ id: 'MiniAppDeviceRemovalRequest', example: { initData: INIT_DATA_EXAMPLE, hwid: 'A1B2C3D4E5F6' } });

export const MiniAppDeviceRemovalResponse = z
  .object({ success: z.boolean().default(true), message: z.string().nullish() })
  .meta({ id: 'MiniAppDeviceRemovalResponse' });

export const MiniAppPromoCodeActivationRequest = z
  .object({ initData: InitData, code: z.string() })
  .meta({ id: 'MiniAppPromoCodeActivationRequest', example: { initData: INIT_DATA_EXAMPLE, code: 'SPRING26' } });

export const MiniAppPromoCode = z
  .object({
    code: z.string(),
    type: z.string().nullish(),
    balance_bonus_kopeks: z.int().default(0),
    subscription_days: z.int().default(0),
    max_uses: z.int().nullish(),
    current_uses: z.int().nullish(),
    valid_until: z.string().nullish(),
  })
  .meta({ id: 'MiniAppPromoCode' });

export const MiniAppPromoCodeActivationResponse = z
  .object({
    success: z.boolean().default(true),
    description: z.string().nullish(),
    promocode: MiniAppPromoCode.nullish(),
  })
  .meta({ id: 'MiniAppPromoCodeActivationResponse' });

const MiniAppPromoOfferClaimRequest = z
  .object({ initData: InitData })
  .meta({ id: 'MiniAppPromoOfferClaimRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const PromoOfferClaimInput = withBody(z.object({ offer_id: z.int() }), MiniAppPromoOfferClaimRequest);

export const MiniAppPromoOfferClaimResponse = z
  .object({ success: z.boolean().default(true), code: z.string().nullish() })
  .meta({ id: 'MiniAppPromoOfferClaimResponse' });
