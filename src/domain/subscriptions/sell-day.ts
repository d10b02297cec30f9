import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { type AppError, refuse } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import type { Tariff } from '../catalog/types.ts';
import { text } from '../messaging/texts.ts';
import { type CompletedSale, completeSale } from './purchase/complete-sale.ts';
import type { Buyer, SaleRecord, SaleStart } from './purchase/types.ts';
import { durationDays } from './purchase-tariff.ts';
import { isPast } from './rules/status.ts';
import { subscriptionSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

/**
 * Charges a day of a daily tariff and runs it, in the caller's transaction under the locks of `lockSaleStart`: charged and active
 * together (spec 02 H22), what was left of the paid time is kept (H10), of a trial only when the setting says so (H8).
 * @throws AppError 402 insufficient_balance
 */
export async function sellDay(
  t: App,
  start: SaleStart,
  sold: { subscription: Subscription; tariff: Tariff; priceKopeks: number },
  /** By the service itself: a row of the dashboard feed, and a saved order of something else stays. */
  isAutomatic = false,
): Promise<CompletedSale> {
  const { buyer } = start;
  const { subscription, tariff, priceKopeks } = sold;
  const now = t.clock.now();
  const keepsRest = !subscription.isTrial || subscriptionSettingsOf(t).trialAddRemainingDaysToPaid;
  const endDate = addDays(keepsRest && !isPast(subscription, now) ? subscription.endDate : now, 1);
  return completeSale(t, start, {
    quote: { finalKopeks: priceKopeks, offerDiscountKopeks: 0 },
    product: 'daily',
    changes: {
      status: 'active',
      isDailyPaused: false,
      lastDailyChargeAt: now,
      endDate,
      ...(subscription.isTrial ? { isTrial: false } : {}),
    },
    dropsPurchases: false,
    serverPrices: {},
    conversion: subscription.isTrial ? { trialDurationDays: durationDays(subscription), firstPaidPeriodDays: 1 } : null,
    description: text(buyer.language, 'subscriptions.transaction_daily', { tariff_name: tariff.name }),
    refusal: () => lacksDay(t, buyer, priceKopeks),
    event: (balanceAfter) => (isAutomatic ? renewalEvent(subscription, endDate, balanceAfter) : null),
    ...(isAutomatic ? { endsCarts: [] } : {}),
    tariffName: tariff.name,
    isTerm: true,
    marksPaid: true,
    resetsTraffic: false,
    sendsMail: false,
  });
}

function renewalEvent(subscription: Subscription, endDate: Date, balanceAfter: number): SaleRecord['event'] {
  return {
    type: 'renewal',
    extra: {
      extended_days: 1,
      previous_end_date: subscription.endDate.toISOString(),
      new_end_date: endDate.toISOString(),
      payment_method: 'balance',
      balance_after: balanceAfter,
    },
  };
}

/** The refusal of a day that the balance does not cover. */
export function lacksDay(t: App, buyer: Buyer, requiredKopeks: number): AppError {
  const label = (kopeks: number) => formatPrice(kopeks, t.settings.get('PRICE_ROUNDING_ENABLED'));
  return refuse('insufficient_balance', 402, {
    code: 'insufficient_balance',
    message: text(buyer.language, 'errors.insufficient_balance_daily', {
      required: label(requiredKopeks),
      balance: label(buyer.balanceKopeks),
    }),
    required: requiredKopeks,
    balance: buyer.balanceKopeks,
  });
}
