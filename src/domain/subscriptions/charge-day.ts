import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import type { Tariff } from '../catalog/types.ts';
import { text } from '../messaging/texts.ts';
import { type CompletedSale, completeSale } from './purchase/complete-sale.ts';
import { insufficientFundsForDay } from './purchase/insufficient-funds.ts';
import type { SaleRow } from './purchase/sale-row.ts';
import type { SaleStart } from './purchase/types.ts';
import { daysUsed, isPast } from './rules/status.ts';
import { subscriptionSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

/**
 * Charges a day of a daily tariff and makes the subscription active, in the caller's transaction under the locks of `lockSaleStart`: both or
 * neither (spec 02 H22). The rest of the paid time is added (H10), that of a trial only when the setting says so (H8).
 * @throws AppError 402 insufficient_balance
 */
export async function chargeDayInTransaction(
  t: App,
  start: SaleStart,
  sold: { subscription: Subscription; tariff: Tariff; priceKopeks: number },
  /** Without the user: adds a row to the dashboard feed, and leaves a saved order of something else. */
  isAutomatic = false,
): Promise<CompletedSale> {
  const { buyer } = start;
  const { subscription, tariff, priceKopeks } = sold;
  const now = t.clock.now();
  const keepsRest = !subscription.isTrial || subscriptionSettingsOf(t).trialAddRemainingDaysToPaid;
  const endDate = addDays(keepsRest && !isPast(subscription, now) ? subscription.endDate : now, 1);
  return completeSale(t, start, {
    order: { kind: 'day' },
    quote: { finalKopeks: priceKopeks, offerDiscountKopeks: 0 },
    changes: {
      status: 'active',
      isDailyPaused: false,
      lastDailyChargeAt: now,
      endDate,
      ...(subscription.isTrial ? { isTrial: false } : {}),
    },
    dropsPurchases: false,
    serverPrices: {},
    conversion: subscription.isTrial ? { trialDurationDays: daysUsed(subscription, now), firstPaidPeriodDays: 1 } : null,
    description: text(buyer.language, 'subscriptions.transaction_daily', { tariff_name: tariff.name }),
    refusal: () => insufficientFundsForDay(t, buyer, priceKopeks),
    event: (balanceAfter) => (isAutomatic ? renewalEvent(subscription, endDate, balanceAfter) : null),
    keepsCarts: isAutomatic,
    tariffName: tariff.name,
    isTerm: true,
    marksPaid: true,
    resetsTraffic: false,
    sendsMail: false,
  });
}

function renewalEvent(subscription: Subscription, endDate: Date, balanceAfter: number): SaleRow['event'] {
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
