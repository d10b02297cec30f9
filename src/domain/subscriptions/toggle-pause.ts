import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refuse } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { lockTariff } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { userNotFound } from '../identity/errors.ts';
import { runOnce } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { chargeDayInTransaction } from './charge-day.ts';
import { noSubscription } from './errors.ts';
import { insufficientFundsForDay } from './purchase/insufficient-funds.ts';
import { lockSaleStart } from './purchase/repo.ts';
import type { Buyer, SaleStart } from './purchase/types.ts';
import type { WireObject } from './purchase-options.ts';
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
    const balanceKopeks = await resume(t, start, subscription, tariff, priceKopeks);
    return answerOf(t, buyer, { isPaused: false, balanceKopeks });
  }
  if (buyer.balanceKopeks < priceKopeks) throw insufficientFundsForDay(t, buyer, priceKopeks);
  await update(t.db, subscription.id, { isDailyPaused: false }, { now });
  return answerOf(t, buyer, { isPaused: false, balanceKopeks: buyer.balanceKopeks });
}

/** @throws AppError 400 for a tariff without a price: a day is never given away (spec 02 H1) */
function dayPrice(t: App, buyer: Buyer, tariff: Tariff): number {
  if (tariff.dailyPriceKopeks <= 0) throw refuse('daily_price_invalid', 400, 'Daily tariff has invalid price');
  return recurringDailyPrice(tariff, buyer, pricingSettingsOf(t));
}

/** Charges the first day and starts it. @returns the balance afterwards, kopeks */
async function resume(
  t: App,
  start: SaleStart,
  subscription: Subscription,
  tariff: Tariff,
  priceKopeks: number,
): Promise<number> {
  if (start.buyer.restrictionSubscription) {
    throw refuse('subscription_restricted', 403, 'Subscription renewal is restricted for this account');
  }
  const sale = await chargeDayInTransaction(t, start, { subscription, tariff, priceKopeks });
  return sale.balanceKopeks;
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
