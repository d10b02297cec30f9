import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { activatePromocode } from '../../domain/promo/codes/activate-promocode.ts';
import { ACTIVATION_REFUSES } from '../../domain/promo/codes/errors.ts';
import { findPromocode } from '../../domain/promo/codes/promocodes.ts';
import { claimOffer } from '../../domain/promo/offers/claim-offer.ts';
import { CLAIM_REFUSES } from '../../domain/promo/offers/errors.ts';
import { activateTrial, TRIAL_REFUSES } from '../../domain/subscriptions/activate-trial.ts';
import { noPanelUser, panelFailure } from '../../domain/subscriptions/connected-devices.ts';
import { notDailyTariff, subscriptionRestricted, togglePause } from '../../domain/subscriptions/daily.ts';
import { dailyPriceInvalid, invalidPeriod, noSubscription, noTariff, outOfBounds } from '../../domain/subscriptions/errors.ts';
import {
  paidSubscriptionRequired,
  requirePaidSubscription,
  SUBSCRIPTION_ID_REFUSALS,
  subscriptionDisabled,
  subscriptionInactive,
  trafficExhausted,
} from '../../domain/subscriptions/miniapp/paid-guard.ts';
import {
  invalidHwid,
  listMiniappRenewals,
  removeMiniappDevice,
  renewInMiniapp,
  serviceUnavailable,
  topUpTraffic,
  topupLimitExceeded,
  trafficTopupDisabled,
  unsupportedMethod,
} from '../../domain/subscriptions/miniapp/renew.ts';
import {
  insufficientFundsForDay,
  insufficientFundsForMiniappTraffic,
  insufficientFundsForMiniappTrial,
  insufficientFundsInMiniapp,
} from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { quoteChanged } from '../../domain/subscriptions/purchase/signed-quote.ts';
import { invalidPackage, unlimitedTraffic } from '../../domain/subscriptions/purchase-traffic.ts';
import { periodUnavailable } from '../../domain/subscriptions/renew-subscription.ts';
import { autopayNotForDaily, setAutopay } from '../../domain/subscriptions/set-autopay.ts';
import { PauseAnswer } from '../subscription-answers.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { asMiniappUser, inMiniapp } from './as-miniapp-user.ts';
import {
  MiniAppDailySubscriptionToggleRequest,
  MiniAppDeviceRemovalRequest,
  MiniAppDeviceRemovalResponse,
  MiniAppPromoCodeActivationRequest,
  MiniAppPromoCodeActivationResponse,
  MiniAppPromoOfferClaimResponse,
  MiniAppSubscriptionAutopayRequest,
  MiniAppSubscriptionAutopayResponse,
  MiniAppSubscriptionRenewalOptionsRequest,
  MiniAppSubscriptionRenewalOptionsResponse,
  MiniAppSubscriptionRenewalRequest,
  MiniAppSubscriptionRenewalResponse,
  MiniAppSubscriptionTrialRequest,
  MiniAppSubscriptionTrialResponse,
  MiniAppTrafficTopupRequest,
  MiniAppTrafficTopupResponse,
  PromoOfferClaimInput,
} from './subscription.schemas.ts';
import { toAutopay, toRenewalOptions } from './subscription-wire.ts';

const invalid = refusal('invalid', 400, 'Promo code must not be empty');

const tags: [string] = ['miniapp'];
const MAX_AUTOPAY_DAYS = 30;

/** Names of the refusals of a promo code in the mini-app. */
const PROMOCODE_NAMES = {
  promocode_user_not_found: { code: 'user_not_found', status: 404 },
  promocode_not_found: { code: 'not_found', status: 404 },
  promocode_expired: { code: 'expired', status: 410 },
  promocode_used: { code: 'used', status: 409 },
  promocode_already_used_by_user: { code: 'already_used_by_user', status: 409 },
  promocode_active_discount_exists: { code: 'active_discount_exists', status: 409 },
  promocode_no_subscription_for_days: 'no_subscription_for_days',
  promocode_not_first_purchase: 'not_first_purchase',
  promocode_daily_limit: { code: 'daily_limit', status: 429 },
};

/** Names of the refusals of a promo offer. */
const OFFER_NAMES = {
  offer_already_claimed: { code: 'already_claimed', status: 409 },
  offer_expired: { code: 'offer_expired', status: 410 },
  offer_invalid: 'invalid_discount',
  offer_no_subscription: 'subscription_missing',
  offer_no_squads: 'squads_missing',
  offer_already_connected: 'already_connected',
};

export const miniappSubscriptionRouter = router({
  autopay: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/subscription/autopay', tags, summary: 'Enable or disable automatic renewal' },
      description:
        'Switches automatic renewal from the balance and sets how many days before the end it starts. Null leaves a value unchanged.',
      refuses: inMiniapp(
        [
          ...SUBSCRIPTION_ID_REFUSALS,
          autopayNotForDaily,
          paidSubscriptionRequired,
          subscriptionDisabled,
          subscriptionInactive,
          trafficExhausted,
        ],
        { autopay_not_for_daily: 'autopay_not_available_for_daily' },
      ),
    })
    .input(MiniAppSubscriptionAutopayRequest)
    .use(asMiniappUser({ autopay_not_for_daily: 'autopay_not_available_for_daily' }))
    .output(MiniAppSubscriptionAutopayResponse)
    .mutation(async ({ ctx, input }) => {
      const days = input.daysBefore == null || input.daysBefore < 0 ? null : input.daysBefore;
      if (days === 0) throw outOfBounds('daysBefore', days, { ge: 1 });
      if (days !== null && days > MAX_AUTOPAY_DAYS) throw outOfBounds('daysBefore', days, { le: MAX_AUTOPAY_DAYS });
      await requirePaidSubscription(ctx.app, ctx.actor, { subscriptionId: input.subscriptionId ?? null });
      const saved = await setAutopay(ctx.app, ctx.actor, input.enabled ?? null, days);
      return { success: true, subscriptionId: saved.subscriptionId, ...toAutopay(ctx.app, saved) };
    }),

  trial: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/subscription/trial', tags, summary: 'Start the trial' },
      description:
        'Starts the trial of the user, once per account. A price, if there is one, is charged to the balance. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([...TRIAL_REFUSES, insufficientFundsForMiniappTrial]),
      idempotent: true,
    })
    .input(MiniAppSubscriptionTrialRequest)
    .use(asMiniappUser())
    .output(MiniAppSubscriptionTrialResponse)
    .mutation(async ({ ctx }) => {
      const started = await activateTrial(ctx.app, ctx.actor, ctx.idempotencyKey, insufficientFundsForMiniappTrial);
      const label = (kopeks: number) => formatPrice(kopeks, ctx.app.settings.get('PRICE_ROUNDING_ENABLED'));
      const { chargedKopeks: charged, balanceKopeks } = started;
      return {
        success: true,
        message: started.message,
        subscriptionId: started.subscription.id,
        trialStatus: 'activated',
        trialDurationDays: started.durationDays,
        chargedAmountKopeks: charged > 0 ? charged : null,
        chargedAmountLabel: charged > 0 ? label(charged) : null,
        balanceKopeks,
        balanceLabel: label(balanceKopeks),
      };
    }),

  renewalOptions: miniappProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/miniapp/subscription/renewal/options',
        tags,
        summary: 'Periods and prices of a renewal',
      },
      description:
        'Lists periods and prices of a renewal, with the recommended one and the amount that the balance is missing for it.',
      refuses: inMiniapp([...SUBSCRIPTION_ID_REFUSALS]),
    })
    .input(MiniAppSubscriptionRenewalOptionsRequest)
    .use(asMiniappUser())
    .output(MiniAppSubscriptionRenewalOptionsResponse)
    .mutation(async ({ ctx, input }) =>
      toRenewalOptions(ctx.app, await listMiniappRenewals(ctx.app, ctx.actor, renewalGuard(input.subscriptionId))),
    ),

  renewal: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/subscription/renewal', tags, summary: 'Renew from the balance' },
      description:
        'Renews the own subscription from the balance. If it does not suffice and a method is named, an invoice for the rest is created and the renewal follows its payment. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([
        ...SUBSCRIPTION_ID_REFUSALS,
        invalidPeriod,
        periodUnavailable,
        unsupportedMethod,
        insufficientFundsInMiniapp,
        subscriptionRestricted,
        quoteChanged,
      ]),
      idempotent: true,
    })
    .input(MiniAppSubscriptionRenewalRequest)
    .use(asMiniappUser())
    .output(MiniAppSubscriptionRenewalResponse)
    .mutation(async ({ ctx, input }) => {
      const renewed = await renewInMiniapp(ctx.app, ctx.actor, {
        periodId: input.periodId ?? null,
        periodDays: input.periodDays ?? null,
        method: input.method ?? null,
        quote: input.quote ?? null,
        idempotencyKey: ctx.idempotencyKey,
        guard: renewalGuard(input.subscriptionId),
      });
      const balanceLabel = formatPrice(renewed.balanceKopeks, ctx.app.settings.get('PRICE_ROUNDING_ENABLED'));
      return { success: true, ...renewed, balanceLabel, requiresPayment: false };
    }),

  topUpTraffic: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/subscription/traffic-topup', tags, summary: 'Buy a traffic package' },
      description:
        'Buys a traffic package for 30 days on top of the limit. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([
        ...SUBSCRIPTION_ID_REFUSALS,
        invalidPackage,
        noTariff,
        topupLimitExceeded,
        unlimitedTraffic,
        insufficientFundsForMiniappTraffic,
        paidSubscriptionRequired,
        subscriptionDisabled,
        subscriptionInactive,
        trafficExhausted,
        trafficTopupDisabled,
        quoteChanged,
      ]),
      idempotent: true,
    })
    .input(MiniAppTrafficTopupRequest)
    .use(asMiniappUser())
    .output(toWire(MiniAppTrafficTopupResponse))
    .mutation(async ({ ctx, input }) => {
      const order = { gb: input.gb, quote: input.quote ?? null, idempotencyKey: ctx.idempotencyKey };
      const guard = { subscriptionId: input.subscriptionId ?? null };
      const purchased = await topUpTraffic(ctx.app, ctx.actor, { ...order, guard });
      return { success: true, ...purchased, chargedKopeks: purchased.amountPaidKopeks };
    }),

  togglePause: miniappProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/miniapp/subscription/daily/toggle-pause',
        tags,
        summary: 'Pause or resume a daily subscription',
      },
      description:
        'Pauses a daily subscription, or resumes it. Resuming a stopped subscription charges a day immediately; otherwise nothing is charged. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([noTariff, notDailyTariff, insufficientFundsForDay, noSubscription, dailyPriceInvalid]),
      idempotent: true,
    })
    .input(MiniAppDailySubscriptionToggleRequest)
    .use(asMiniappUser())
    .output(toWire(PauseAnswer))
    .mutation(async ({ ctx }) => ({ success: true, ...(await togglePause(ctx.app, ctx.actor, ctx.idempotencyKey)) })),

  removeDevice: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/devices/remove', tags, summary: 'Delete a connected device' },
      description: 'Removes one connected device in the panel; it connects again with its next use.',
      refuses: inMiniapp([invalidHwid, serviceUnavailable, noSubscription, noPanelUser, panelFailure], {
        no_panel_user: { code: 'vpnpanel_unavailable', status: 409 },
      }),
    })
    .input(MiniAppDeviceRemovalRequest)
    .use(asMiniappUser({ no_panel_user: { code: 'vpnpanel_unavailable', status: 409 } }))
    .output(MiniAppDeviceRemovalResponse)
    .mutation(async ({ ctx, input }) => ({
      success: true,
      message: await removeMiniappDevice(ctx.app, ctx.actor, input.hwid),
    })),

  activatePromocode: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/promo-codes/activate', tags, summary: 'Activate a promo code' },
      description:
        'Activates a promo code, with the rules of the cabinet. Repeated wrong codes are limited (429). Accepts `Idempotency-Key`.',
      refuses: inMiniapp([invalid, ...ACTIVATION_REFUSES], PROMOCODE_NAMES),
      idempotent: true,
    })
    .input(MiniAppPromoCodeActivationRequest)
    .use(asMiniappUser(PROMOCODE_NAMES))
    .output(MiniAppPromoCodeActivationResponse)
    .mutation(async ({ ctx, input }) => {
      if (input.code.trim() === '') throw invalid();
      const activated = await activatePromocode(ctx.app, ctx.actor, input.code, ctx.idempotencyKey);
      const promocode = await findPromocode(ctx.app, input.code);
      return {
        success: true,
        description: activated.bonusDescription,
        promocode: promocode && {
          code: promocode.code,
          type: promocode.type,
          balance_bonus_kopeks: promocode.balanceBonusKopeks,
          subscription_days: promocode.subscriptionDays,
          max_uses: promocode.maxUses,
          current_uses: promocode.currentUses,
          valid_until: promocode.validUntil?.toISOString() ?? null,
        },
      };
    }),

  claimOffer: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/promo-offers/{offer_id}/claim', tags, summary: 'Claim an own promo offer' },
      description:
        'Claims an own offer: a personal discount for the next purchase, or temporary access to servers. An offer can be claimed once.',
      refuses: inMiniapp([...CLAIM_REFUSES], OFFER_NAMES),
    })
    .input(PromoOfferClaimInput)
    .use(asMiniappUser(OFFER_NAMES))
    .output(MiniAppPromoOfferClaimResponse)
    .mutation(async ({ ctx, input }) => {
      const { discountPercent } = await claimOffer(ctx.app, ctx.actor, input.offer_id);
      return { success: true, code: discountPercent === null ? 'test_access_claimed' : 'discount_claimed' };
    }),
});

/** Trials and ended subscriptions may be renewed too. */
function renewalGuard(subscriptionId: number | null | undefined) {
  return { subscriptionId: subscriptionId ?? null, trial: true, expired: true };
}
