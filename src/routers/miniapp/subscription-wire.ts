import type { App } from '../../core/app.ts';
import { formatPrice } from '../../core/money.ts';
import { offerPercent } from '../../domain/pricing/discounts.ts';
import { displayMonthsOf, periodLabel } from '../../domain/pricing/periods.ts';
import { type listMiniappRenewals, periodIdOf } from '../../domain/subscriptions/miniapp/renew.ts';
import { insufficientFundsMessage } from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import type { Quoted } from '../../domain/subscriptions/purchase/signed-quote.ts';
import type { RenewalOption } from '../../domain/subscriptions/rules/terms.ts';
import { autopayDayOptions } from '../../domain/subscriptions/set-autopay.ts';
import { toMiniappPromoGroup } from './tariff-wire.ts';

/** The state of autopay under all names that clients of the mini-app use (spec 10 X18); null without a subscription. */
export function toAutopay(app: App, subscription: { autopayEnabled: boolean; autopayDaysBefore: number | null } | null) {
  const usual = app.settings.get('DEFAULT_AUTOPAY_DAYS_BEFORE');
  const days = subscription === null ? null : (subscription.autopayDaysBefore ?? usual);
  const options = days === null ? [] : autopayDayOptions(usual, days);
  const enabled = subscription?.autopayEnabled ?? false;
  const names = {
    autopay_enabled: enabled,
    autopayEnabled: enabled,
    autopay_days_before: days,
    autopayDaysBefore: days,
    autopay_days_options: options,
    autopayDaysOptions: options,
    daysBefore: days,
    daysOptions: options,
  };
  const autopay = subscription && {
    ...names,
    enabled,
    autopay_enabled_at: null,
    days_before: days,
    default_days_before: days,
    defaultDaysBefore: days,
    days_options: options,
    options,
    available_days: options,
    availableDays: options,
  };
  return { ...names, autopay, autopay_settings: autopay, autopaySettings: autopay };
}

/** The answer of `renewal/options` (spec 02 section 12.2). */
export function toRenewalOptions(app: App, found: Awaited<ReturnType<typeof listMiniappRenewals>>) {
  const { buyer, subscription, options, recommended } = found;
  const label = (kopeks: number) => formatPrice(kopeks, app.settings.get('PRICE_ROUNDING_ENABLED'));
  const missing = recommended === null ? 0 : Math.max(0, recommended.priceKopeks - buyer.balanceKopeks);
  const offer = offerPercent(buyer, app.clock.now());
  const toPeriod = (option: Quoted<RenewalOption>) => {
    const months = displayMonthsOf(option.periodDays);
    const perMonth = Math.floor(option.priceKopeks / months);
    const original = option.originalPriceKopeks;
    return {
      id: periodIdOf(subscription, option.periodDays),
      days: option.periodDays,
      months,
      priceKopeks: option.priceKopeks,
      priceLabel: label(option.priceKopeks),
      originalPriceKopeks: original,
      originalPriceLabel: original === null ? null : label(original),
      discountPercent: option.discountPercent,
      pricePerMonthKopeks: perMonth,
      pricePerMonthLabel: label(perMonth),
      isRecommended: option === recommended,
      title: periodLabel(option.periodDays, buyer.language),
      quote: option.quote,
    };
  };
  return {
    success: true,
    subscriptionId: subscription.id,
    currency: 'RUB',
    balanceKopeks: buyer.balanceKopeks,
    balanceLabel: label(buyer.balanceKopeks),
    promoGroup: buyer.primaryPromoGroup && toMiniappPromoGroup(buyer.primaryPromoGroup),
    promoOffer: offer > 0 ? { percent: offer, discount_percent: offer, expires_at: buyer.promoOfferDiscountExpiresAt } : null,
    periods: options.map(toPeriod),
    defaultPeriodId: recommended && periodIdOf(subscription, recommended.periodDays),
    missingAmountKopeks: missing > 0 ? missing : null,
    statusMessage: missing > 0 ? insufficientFundsMessage(app, buyer, missing) : null,
    ...toAutopay(app, subscription),
    isTrial: subscription.isTrial,
    salesMode: app.settings.get('SALES_MODE') === 'classic' ? 'classic' : 'tariffs',
  };
}
