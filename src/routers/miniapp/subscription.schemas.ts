import { z } from 'zod';
import { GivenQuote, INIT_DATA_EXAMPLE, publishedAsFreeForm, SignedQuote, Timestamp } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';
import { InitData, MiniAppPromoGroup } from './tariffs.schemas.ts';

/** Contract group `miniapp`: renewal, trial, autopay, add-ons and codes. */

const SubscriptionId = z.int().nullish();

const MiniAppSubscriptionAutopay = z
  .object({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether the subscription is renewed automatically; the same as `autopay_enabled`.'),
    autopay_enabled: z.boolean().nullish().describe('Whether the subscription is renewed automatically from the balance.'),
    autopay_enabled_at: Timestamp.nullish().describe('When automatic renewal was switched on (UTC); null when unknown.'),
    days_before: z.int().nullish().describe('Days before the end at which automatic renewal starts; null when it is off.'),
    autopay_days_before: z.int().nullish().describe('Days before the end at which automatic renewal starts.'),
    default_days_before: z
      .int()
      .nullish()
      .describe('Number of days that is proposed: that of the user, else the default of the service; null for none.'),
    autopay_days_options: z.array(z.int()).default([]).describe('Numbers of days that can be chosen for automatic renewal.'),
    days_options: z.array(z.int()).default([]).describe('Numbers of days that can be chosen.'),
    options: z.array(z.int()).default([]).describe('Numbers of days that can be chosen.'),
    // Spellings that clients of the existing product read (spec 10 X18).
    available_days: z.array(z.int()).optional().describe('The same as `options`.'),
    availableDays: z.array(z.int()).optional().describe('The same as `options`.'),
    autopayEnabled: z.boolean().optional().describe('The same as `autopay_enabled`.'),
    autopayDaysBefore: z.int().nullish().describe('The same as `autopay_days_before`.'),
    autopayDaysOptions: z.array(z.int()).optional().describe('The same as `autopay_days_options`.'),
    daysBefore: z.int().nullish().describe('Days before the end at which automatic renewal starts; null without a subscription.'),
    daysOptions: z.array(z.int()).optional().describe('The same as `autopay_days_options`.'),
    defaultDaysBefore: z.int().nullish().describe('The same as `default_days_before`.'),
  })
  .meta({ id: 'MiniAppSubscriptionAutopay' });

/** The state of autopay, a part of several answers. */
export const autopayFields = {
  autopay_enabled: z.boolean().default(false).describe('Whether the subscription is renewed automatically from the balance.'),
  autopay_days_before: z.int().nullish().describe('Days before the end at which automatic renewal starts.'),
  autopay_days_options: z.array(z.int()).default([]).describe('Numbers of days that can be chosen for automatic renewal.'),
  autopay: MiniAppSubscriptionAutopay.nullish().describe('Settings of automatic renewal; null without a subscription.'),
  autopay_settings: MiniAppSubscriptionAutopay.nullish().describe('The same object as `autopay`.'),
  autopayEnabled: z.boolean().optional().describe('The same as `autopay_enabled`.'),
  autopayDaysBefore: z.int().nullish().describe('The same as `autopay_days_before`.'),
  autopayDaysOptions: z.array(z.int()).optional().describe('The same as `autopay_days_options`.'),
  daysBefore: z.int().nullish().describe('Days before the end at which automatic renewal starts; null without a subscription.'),
  daysOptions: z.array(z.int()).optional().describe('The same as `autopay_days_options`.'),
  autopaySettings: MiniAppSubscriptionAutopay.nullish().describe('The same object as `autopay`.'),
};

/** The days before the end are checked by the use case: absent and negative numbers change nothing. */
export const MiniAppSubscriptionAutopayRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    subscriptionId: SubscriptionId.describe('Id of the subscription; null for the own one, which is the only one.'),
    enabled: z.boolean().nullish().describe('Whether automatic renewal is on; null leaves it unchanged.'),
    daysBefore: z
      .int()
      .nullish()
      .describe('Days before the end at which automatic renewal starts, 1 to 30; null leaves the value unchanged.'),
  })
  .meta({ id: 'MiniAppSubscriptionAutopayRequest', example: { initData: INIT_DATA_EXAMPLE, enabled: true, daysBefore: 3 } });

export const MiniAppSubscriptionAutopayResponse = z
  .object({
    success: z
      .boolean()
      .default(true)
      .describe('Always true: a refused change of automatic renewal is answered with an error status.'),
    subscriptionId: z.int().nullish().describe('Id of the subscription; null for the own one, which is the only one.'),
    ...autopayFields,
  })
  .meta({ id: 'MiniAppSubscriptionAutopayResponse' });

export const MiniAppSubscriptionTrialRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
  })
  .meta({ id: 'MiniAppSubscriptionTrialRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppSubscriptionTrialResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a trial that is refused is answered with an error status.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    subscriptionId: z.int().nullish().describe('Id of the subscription; null for the own one, which is the only one.'),
    trialStatus: z.string().nullish().describe('State of the trial; null when there is none.'),
    trialDurationDays: z.int().nullish().describe('Length of the trial in days; null when unknown.'),
    chargedAmountKopeks: z.int().nullish().describe('Price of the trial that was charged in kopeks; null when it was free.'),
    chargedAmountLabel: z.string().nullish().describe('Charged price for display; null when it was free.'),
    balanceKopeks: z.int().nullish().describe('Balance in kopeks; null where it is not known.'),
    balanceLabel: z.string().nullish().describe('Balance for display; null where it is not known.'),
  })
  .meta({ id: 'MiniAppSubscriptionTrialResponse' });

export const MiniAppSubscriptionRenewalOptionsRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    subscriptionId: SubscriptionId.describe('Id of the subscription; null for the own one, which is the only one.'),
  })
  .meta({ id: 'MiniAppSubscriptionRenewalOptionsRequest', example: { initData: INIT_DATA_EXAMPLE } });

const MiniAppSubscriptionRenewalPeriod = z
  .object({
    id: z.string().describe('Identifier of the period: `tariff_{tariff id}_{days}` or `days:{days}`.'),
    days: z.int().nullish().describe('Days that the renewal adds; null where the period is not a number of days.'),
    months: z.int().nullish().describe('Length in whole months for display; null when it is not known.'),
    priceKopeks: z.int().nullish().describe('Price in kopeks; null where there is none.'),
    priceLabel: z.string().nullish().describe('Price for display; null where there is none.'),
    originalPriceKopeks: z.int().nullish().describe('Price before discounts in kopeks; null without a discount.'),
    originalPriceLabel: z.string().nullish().describe('Price before discounts for display; null without a discount.'),
    discountPercent: z.int().default(0).describe('Discount in percent; 0 for none.'),
    pricePerMonthKopeks: z.int().nullish().describe('Price divided by the months in kopeks; null when not shown.'),
    pricePerMonthLabel: z.string().nullish().describe('Price per month for display; null when not shown.'),
    isRecommended: z.boolean().default(false).describe('Whether the period is proposed.'),
    description: z.string().nullish().describe('Text beside the period; null for none.'),
    badge: z.string().nullish().describe('Short text shown beside the period; null for none.'),
    title: z.string().nullish().describe('Length of the period for display; null for none.'),
    quote: SignedQuote,
  })
  .meta({ id: 'MiniAppSubscriptionRenewalPeriod' });

export const MiniAppSubscriptionRenewalOptionsResponse = z
  .object({
    success: z
      .boolean()
      .default(true)
      .describe('Always true: a request without a subscription to renew is answered with an error status.'),
    subscriptionId: z.int().nullish().describe('Id of the subscription; null for the own one, which is the only one.'),
    currency: z.string().describe('ISO 4217 code of the currency.'),
    balanceKopeks: z.int().nullish().describe('Balance in kopeks; null where it is not known.'),
    balanceLabel: z.string().nullish().describe('Balance for display; null where it is not known.'),
    promoGroup: MiniAppPromoGroup.nullish().describe('Primary promo group of the user; null for none.'),
    promoOffer: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Personal discount that applies, as free-form object; null for none.'),
    periods: z.array(MiniAppSubscriptionRenewalPeriod).default([]).describe('Periods that can be bought, shortest first.'),
    defaultPeriodId: z.string().nullish().describe('Id of the period that is proposed; null for none.'),
    missingAmountKopeks: z
      .int()
      .nullish()
      .describe('Kopeks missing on the balance for the proposed period; null when it suffices.'),
    statusMessage: z.string().nullish().describe('Sentence about the state of the subscription; null for none.'),
    ...autopayFields,
    isTrial: z.boolean().default(false).describe('Whether the subscription is a trial.'),
    salesMode: z.string().default('classic').describe('How subscriptions are sold: `tariffs` or `classic`.'),
  })
  .meta({ id: 'MiniAppSubscriptionRenewalOptionsResponse' });

export const MiniAppSubscriptionRenewalRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    subscriptionId: SubscriptionId.describe('Id of the subscription; null for the own one, which is the only one.'),
    periodId: z.string().nullish().describe('Id of the period as the options returned it; null where `periodDays` names it.'),
    periodDays: z.int().nullish().describe('Length of the period in days; null where `periodId` or the selection names it.'),
    method: z.string().nullish().describe('Payment method for the missing part; null to pay from the balance.'),
    quote: GivenQuote,
  })
  .meta({ id: 'MiniAppSubscriptionRenewalRequest', example: { initData: INIT_DATA_EXAMPLE, periodDays: 30, method: 'balance' } });

export const MiniAppSubscriptionRenewalResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a renewal that is refused is answered with an error status.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    balanceKopeks: z.int().nullish().describe('Balance in kopeks; null where it is not known.'),
    balanceLabel: z.string().nullish().describe('Balance for display; null where it is not known.'),
    subscriptionId: z.int().nullish().describe('Id of the subscription; null for the own one, which is the only one.'),
    renewedUntil: Timestamp.nullish().describe('New end of the subscription (UTC); null when it was not renewed.'),
    requiresPayment: z.boolean().default(false).describe('Whether an invoice must be paid before the subscription is renewed.'),
    paymentMethod: z.string().nullish().describe('Method of the invoice; null when none was created.'),
    paymentUrl: z.string().nullish().describe('Address where the invoice is paid; null when none was created.'),
    paymentAmountKopeks: z.int().nullish().describe('Amount of the invoice in kopeks; null when none was created.'),
    paymentId: z.int().nullish().describe('Id of the payment in the service; null when none was created.'),
    invoiceId: z.string().nullish().describe('Id of the invoice at the provider; null when none was created.'),
    paymentPayload: z.string().nullish().describe('Text that the provider returns with the payment; null when none was created.'),
    paymentExtra: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Further values of the invoice; null when none was created.'),
  })
  .meta({ id: 'MiniAppSubscriptionRenewalResponse' });

export const MiniAppTrafficTopupRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    subscriptionId: SubscriptionId.describe('Id of the subscription; null for the own one, which is the only one.'),
    gb: z.int().describe('Size of the traffic package in GB; 0 is the unlimited package.'),
    quote: GivenQuote,
  })
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
  .object({
    init_data: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
  })
  .meta({ id: 'MiniAppDailySubscriptionToggleRequest', example: { init_data: INIT_DATA_EXAMPLE } });

export const MiniAppDeviceRemovalRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    hwid: z.string().describe('Hardware id of the device, as the client app reports it.'),
  })
  .meta({ id: 'MiniAppDeviceRemovalRequest', example: { initData: INIT_DATA_EXAMPLE, hwid: 'A1B2C3D4E5F6' } });

export const MiniAppDeviceRemovalResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a device that cannot be removed is answered with an error status.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'MiniAppDeviceRemovalResponse' });

export const MiniAppPromoCodeActivationRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    code: z.string().describe('The promo code; upper and lower case are the same.'),
  })
  .meta({ id: 'MiniAppPromoCodeActivationRequest', example: { initData: INIT_DATA_EXAMPLE, code: 'SPRING26' } });

const MiniAppPromoCode = z
  .object({
    code: z.string().describe('The code, in upper case.'),
    type: z
      .string()
      .nullish()
      .describe(
        'What the code gives: `balance` (money), `subscription_days`, `trial_subscription`, `promo_group` or `discount` (in percent, for the next purchase). Null when unknown.',
      ),
    balance_bonus_kopeks: z
      .int()
      .default(0)
      .describe('Kopeks added to the balance. For a code of type `discount`: the discount in percent, 1 to 100.'),
    subscription_days: z
      .int()
      .default(0)
      .describe(
        'Days added to the subscription. For a code of type `discount`: hours of validity, at least 1; older codes have 0, until the first purchase.',
      ),
    max_uses: z
      .int()
      .nullish()
      .describe('How often the code can be used; 0 in a request for unlimited, which is answered as 999999.'),
    current_uses: z.int().nullish().describe('Number of uses of the code.'),
    valid_until: z.string().nullish().describe('End of validity (UTC); null for no end.'),
  })
  .meta({ id: 'MiniAppPromoCode' });

export const MiniAppPromoCodeActivationResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a refused code is answered with an error status.'),
    description: z.string().nullish().describe('What the activation gave to the user; null when there is nothing to say.'),
    promocode: MiniAppPromoCode.nullish().describe('The promo code; null for none.'),
  })
  .meta({ id: 'MiniAppPromoCodeActivationResponse' });

const MiniAppPromoOfferClaimRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
  })
  .meta({ id: 'MiniAppPromoOfferClaimRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const PromoOfferClaimInput = withBody(
  z.object({ offer_id: z.int().describe('Id of the offer.') }),
  MiniAppPromoOfferClaimRequest,
);

export const MiniAppPromoOfferClaimResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a refused claim is answered with an error status.'),
    code: z.string().nullish().describe('`discount_claimed` or `test_access_claimed`; null when nothing was given.'),
  })
  .meta({ id: 'MiniAppPromoOfferClaimResponse' });
