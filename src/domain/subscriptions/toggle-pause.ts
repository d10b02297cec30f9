import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { refuse } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { lockTariff } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { userNotFound } from '../identity/errors.ts';
import { runOnce } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { noSubscription } from './errors.ts';
import { completeSale } from './purchase/complete-sale.ts';
import { lockSaleStart } from './purchase/repo.ts';
import type { Buyer, SaleStart } from './purchase/types.ts';
import type { WireObject } from './purchase-options.ts';
import { durationDays } from './purchase-tariff.ts';
import { update } from './repo.ts';
import { isPast, isStopped } from './rules/status.ts';
import { recurringDailyPrice } from './rules/view.ts';
import { pricingSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

/**
 * Pauses or resumes a daily subscription, once per idempotency key (spec 02 section 5.12). Pausing costs nothing and the panel is not
 * told. Resuming asks for a day's price on the balance; one that was stopped or ran out pays it now and runs again from this moment, in
 * the same transaction (H22); what was left of the paid time is kept (H10).
 * @returns the answer of `POST /cabinet/subscription/pause`
 * @throws AppError 404 | 400 no_tariff, not_daily_tariff, daily_price_invalid | 402 insufficient_balance | 403 restricted
 */
export function togglePause(app: App, actor: UserActor, idempotencyKey: string | null): Promise<WireObject> {
  const once = { key: idempotencyKey, operation: 'subscription.pause', input: {} };
  return runOnce(app, actor, once, (t) => toggle(t, actor.userId));
}

async function toggle(t: App, userId: number): Promise<WireObject> {
  const start = await lockSaleStart(t.db, userId);
  if (!start) throw userNotFound();
  const { buyer, subscription } = start;
  if (!subscription) throw noSubscription();
  const tariff = subscription.tariffId === null ? null : await lockTariff(t, subscription.tariffId);
  if (!tariff) throw refuse('no_tariff', 400, 'Subscription has no tariff');
  if (!tariff.isDaily) throw refuse('not_daily_tariff', 400, 'Pause is only available for daily tariffs');
  const now = t.clock.now();
  const isResume = subscription.isDailyPaused || isStopped(subscription.status);
  if (!isResume) {
    await update(t.db, subscription.id, { isDailyPaused: true }, { now });
    return answerOf(t, buyer, { isPaused: true, balanceKopeks: buyer.balanceKopeks });
  }
  const priceKopeks = dayPrice(t, buyer, tariff);
  if (isStopped(subscription.status) || isPast(subscription, now)) {
    const balanceKopeks = await sellDay(t, start, subscription, tariff, priceKopeks);
    return answerOf(t, buyer, { isPaused: false, balanceKopeks });
  }
  if (buyer.balanceKopeks < priceKopeks) throw lacksDay(t, buyer, priceKopeks);
  await update(t.db, subscription.id, { isDailyPaused: false }, { now });
  return answerOf(t, buyer, { isPaused: false, balanceKopeks: buyer.balanceKopeks });
}

/** @throws AppError 400 for a tariff without a price: a day is never given away (H1) */
function dayPrice(t: App, buyer: Buyer, tariff: Tariff): number {
  if (tariff.dailyPriceKopeks <= 0) throw refuse('daily_price_invalid', 400, 'Daily tariff has invalid price');
  return recurringDailyPrice(tariff, buyer, pricingSettingsOf(t));
}

/** Charges the first day and starts it. @returns the balance afterwards, kopeks */
async function sellDay(
  t: App,
  start: SaleStart,
  subscription: Subscription,
  tariff: Tariff,
  priceKopeks: number,
): Promise<number> {
  const { buyer } = start;
  if (buyer.restrictionSubscription) {
    throw refuse('subscription_restricted', 403, 'Subscription renewal is restricted for this account');
  }
  const now = t.clock.now();
  const from = isPast(subscription, now) ? now : subscription.endDate;
  const sale = await completeSale(t, start, {
    quote: { finalKopeks: priceKopeks, offerDiscountKopeks: 0 },
    product: 'daily',
    changes: {
      status: 'active',
      isDailyPaused: false,
      lastDailyChargeAt: now,
      endDate: addDays(from, 1),
      ...(subscription.isTrial ? { isTrial: false } : {}),
    },
    dropsPurchases: false,
    serverPrices: {},
    conversion: subscription.isTrial ? { trialDurationDays: durationDays(subscription), firstPaidPeriodDays: 1 } : null,
    description: text(buyer.language, 'subscriptions.transaction_daily', { tariff_name: tariff.name }),
    refusal: () => lacksDay(t, buyer, priceKopeks),
    event: () => null,
    tariffName: tariff.name,
    isTerm: true,
    marksPaid: true,
    resetsTraffic: false,
    isTold: false,
  });
  return sale.balanceKopeks;
}

function lacksDay(t: App, buyer: Buyer, requiredKopeks: number) {
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

function answerOf(t: App, buyer: Buyer, state: { isPaused: boolean; balanceKopeks: number }): WireObject {
  return {
    success: true,
    message: text(buyer.language, state.isPaused ? 'subscriptions.paused' : 'subscriptions.resumed'),
    is_paused: state.isPaused,
    balance_kopeks: state.balanceKopeks,
    balance_label: formatPrice(state.balanceKopeks, t.settings.get('PRICE_ROUNDING_ENABLED')),
  };
}
