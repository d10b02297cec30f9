import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import type { Tariff } from '../catalog/types.ts';
import { userNotFound } from '../identity/errors.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { chargeDayInTransaction } from './charge-day.ts';
import { dailyPriceInvalid, noSubscription, noTariff } from './errors.ts';
import { insufficientFundsForDay } from './purchase/insufficient-funds.ts';
import { openSale } from './purchase/open-sale.ts';
import type { Buyer, SaleStart } from './purchase/types.ts';
import { update } from './repo.ts';
import { isPast, isStopped } from './rules/status.ts';
import { recurringDailyPrice } from './rules/view.ts';
import { pricingSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

export const notDailyTariff = refusal('not_daily_tariff', 400, 'Pause is only available for daily tariffs');
export const subscriptionRestricted = refusal(
  'subscription_restricted',
  403,
  'Subscription renewal is restricted for this account',
);

/** A daily subscription after the toggle; kopeks. */
export interface PauseState {
  /** In the user's language. */
  message: string;
  isPaused: boolean;
  balanceKopeks: number;
  balanceLabel: string;
}

/**
 * Pauses or resumes a daily subscription, once per idempotency key (spec 02 section 5.12). Pausing costs nothing and changes
 * nothing at the panel. Resuming requires a day's price on the balance; a subscription that was stopped or ran out is charged now and is
 * active from this moment, in the same transaction (H22); the rest of the paid time is added (H10).
 * @throws AppError 404 | 400 no_tariff, not_daily_tariff, daily_price_invalid | 402 insufficient_balance | 403 restricted
 */
export function togglePause(app: App, actor: UserActor, idempotencyKey: string | null): Promise<PauseState> {
  const once = { key: idempotencyKey, operation: 'subscription.pause', input: {} };
  return runOnceFrom(app, actor, once, (t, claim) => openSale(t, actor.userId, { locksCurrentTariff: true }, claim), toggle);
}

async function toggle(t: App, start: SaleStart | null): Promise<PauseState> {
  if (!start) throw userNotFound();
  const { buyer, subscription, currentTariff: tariff } = start;
  if (!subscription) throw noSubscription();
  if (!tariff) throw noTariff();
  if (!tariff.isDaily) throw notDailyTariff();
  const now = t.clock.now();
  const isResume = subscription.isDailyPaused || isStopped(subscription.status);
  if (!isResume) {
    await update(t.db, subscription.id, { isDailyPaused: true }, { now });
    return stateAfter(t, buyer, { isPaused: true, balanceKopeks: buyer.balanceKopeks });
  }
  const priceKopeks = dayPrice(t, buyer, tariff);
  if (isStopped(subscription.status) || isPast(subscription, now)) {
    const balanceKopeks = await resume(t, start, subscription, tariff, priceKopeks);
    return stateAfter(t, buyer, { isPaused: false, balanceKopeks });
  }
  if (buyer.balanceKopeks < priceKopeks) throw insufficientFundsForDay(t, buyer, priceKopeks);
  await update(t.db, subscription.id, { isDailyPaused: false }, { now });
  return stateAfter(t, buyer, { isPaused: false, balanceKopeks: buyer.balanceKopeks });
}

/** @throws AppError 400 for a tariff without a price: a day is never free (spec 02 H1) */
function dayPrice(t: App, buyer: Buyer, tariff: Tariff): number {
  if (tariff.dailyPriceKopeks <= 0) throw dailyPriceInvalid();
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
  if (start.buyer.restrictionSubscription) throw subscriptionRestricted();
  const sale = await chargeDayInTransaction(t, start, { subscription, tariff, priceKopeks });
  return sale.balanceKopeks;
}

function stateAfter(t: App, buyer: Buyer, state: { isPaused: boolean; balanceKopeks: number }): PauseState {
  return {
    message: text(buyer.language, state.isPaused ? 'subscriptions.paused' : 'subscriptions.resumed'),
    isPaused: state.isPaused,
    balanceKopeks: state.balanceKopeks,
    balanceLabel: formatPrice(state.balanceKopeks, t.settings.get('PRICE_ROUNDING_ENABLED')),
  };
}
