import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, addMs, HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { forEachPage } from '../../core/jobs/for-each-page.ts';
import { formatPrice, rublesOf } from '../../core/money.ts';
import type { Tariff } from '../catalog/types.ts';
import { userNotFound } from '../identity/errors.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { recipientOf } from '../messaging/send-message.ts';
import { text } from '../messaging/texts.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import {
  type DailyCandidate,
  type DailyWork,
  deleteExpiredPurchases,
  isCandidate,
  listCandidates,
  listWithExpiredPurchases,
  recordStop,
} from './daily/repo.ts';
import { dailyPriceInvalid, noSubscription, noTariff } from './errors.ts';
import { DAILY_DEBIT, TRAFFIC_RESET } from './events.ts';
import { notifyOwner } from './notify-owner.ts';
import { type CompletedSale, completeSale, openSale } from './purchase/complete-sale.ts';
import { insufficientFundsForDay } from './purchase/insufficient-funds.ts';
import { lockSaleStart } from './purchase/repo.ts';
import type { SaleRow } from './purchase/sale-row.ts';
import type { Buyer, SaleNeeds, SaleStart } from './purchase/types.ts';
import { findById, listPurchases, update } from './repo.ts';
import { daysUsed, isPast, isStopped } from './rules/status.ts';
import { expireTraffic } from './rules/traffic-purchases.ts';
import { recurringDailyPrice } from './rules/view.ts';
import { pricingSettingsOf, subscriptionSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

/**
 * Charges a day of a daily tariff and makes the subscription active, in the caller's transaction under the locks of `lockSaleStart`: both or
 * neither (spec 02 H22). The rest of the paid time is added (H10), that of a trial only when the setting says so (H8).
 * @throws AppError 402 insufficient_balance
 */
async function chargeDayInTransaction(
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

/** A day that ends before the next round is charged in this one, so that paid days follow each other without a gap. */
const MAX_LEAD_MS = HOUR_MS;

/**
 * The charges of the daily service (spec 02 section 13): a subscription that was stopped for insufficient funds is resumed once the balance
 * covers a day, and a day is charged where the paid one is over; when the balance is too low the subscription is stopped. Each is charged
 * in its own transaction and checked again under the lock, so that several instances charge a day once and a failure affects no other
 * subscription.
 */
export async function chargeDays(app: App): Promise<void> {
  for (const work of ['resume', 'charge'] as const) {
    await forEachPage<DailyCandidate>(app, {
      list: (after, limit) => listCandidates(app.db, work, timestampOf(app, work), after?.id ?? 0, limit),
      each: ({ userId }) => chargeDay(app, work, userId),
      failure: ({ id }) => ['a day of a daily subscription could not be charged', { subscriptionId: id, work }],
    });
  }
}

/** Milliseconds between two rounds of the service. */
export function dailyServiceMs(app: App): number {
  return Math.max(1, app.settings.get('DAILY_SUBSCRIPTIONS_CHECK_INTERVAL_MINUTES')) * MINUTE_MS;
}

/** The time for which candidates are selected. */
function timestampOf(app: App, work: DailyWork): Date {
  if (work === 'resume') return app.clock.now();
  return addMs(app.clock.now(), Math.min(dailyServiceMs(app), MAX_LEAD_MS));
}

/** What a charge has to lock and read. */
const NEEDS: SaleNeeds = { locksCurrentTariff: true };

/**
 * After a top-up, in the caller's transaction: resumes a stopped daily subscription when the balance covers a day (spec 02 section 6, step 1),
 * however long ago it was stopped.
 * @param start with the current tariff locked
 * @param isStopped it is disabled, and nobody did that on purpose (spec 10 X2)
 * @returns whether it was resumed
 */
export async function resumeDailyFrom(t: App, start: SaleStart, isStopped: boolean): Promise<boolean> {
  return isResumable(start, isStopped) && chargeFrom(t, 'topup', start);
}

function isResumable({ buyer, subscription, currentTariff }: SaleStart, isStopped: boolean): boolean {
  if (!subscription || !currentTariff?.isDaily || !currentTariff.isActive || currentTariff.dailyPriceKopeks <= 0) return false;
  if (buyer.status !== 'active' || buyer.restrictionSubscription) return false;
  if (subscription.isDailyPaused || subscription.isTrial) return false;
  return subscription.status === 'expired' || subscription.status === 'limited' || isStopped;
}

/** @returns whether a day was charged */
function chargeDay(app: App, work: DailyWork, userId: number): Promise<boolean> {
  return inTransaction(app, async (t) => {
    const start = await lockSaleStart(t.db, userId, NEEDS);
    return start !== null && (await isCandidate(t.db, work, timestampOf(t, work), userId)) && chargeFrom(t, work, start);
  });
}

async function chargeFrom(t: App, work: DailyWork | 'topup', start: SaleStart): Promise<boolean> {
  const { buyer, subscription, currentTariff: tariff } = start;
  if (!subscription || !tariff) return false;
  const priceKopeks = recurringDailyPrice(tariff, buyer, pricingSettingsOf(t));
  if (buyer.balanceKopeks < priceKopeks) {
    if (isStoppedNow(work, subscription, t.clock.now())) await stop(t, buyer, subscription.id, priceKopeks);
    return false;
  }
  const sale = await chargeDayInTransaction(t, start, { subscription, tariff, priceKopeks }, true);
  await notifyDebit(t, buyer, priceKopeks, sale.balanceKopeks);
  return true;
}

/**
 * Whether a subscription with insufficient funds is stopped now: when its paid time is over. Also when another job has marked it as expired
 * already, so that its owner is notified of the reason. A stopped one is not stopped again, and a top-up that is too small stops nothing.
 */
function isStoppedNow(work: DailyWork | 'topup', subscription: Subscription, now: Date): boolean {
  if (work === 'charge') return isPast(subscription, now);
  return work === 'resume' && subscription.status === 'expired';
}

async function stop(t: App, buyer: Buyer, subscriptionId: number, priceKopeks: number): Promise<void> {
  const now = t.clock.now();
  await update(t.db, subscriptionId, { status: 'disabled' }, { now });
  await recordStop(t.db, subscriptionId, buyer.id, now);
  await requestProvisioning(t, subscriptionId);
  await notifyOwner(t, recipientOf(buyer), 'daily_insufficient_funds', {
    required_amount: formatPrice(priceKopeks, false),
    current_balance: formatPrice(buyer.balanceKopeks, false),
  });
}

async function notifyDebit(t: App, buyer: Buyer, amountKopeks: number, balanceKopeks: number): Promise<void> {
  const amounts = { amount_rubles: rublesOf(amountKopeks), new_balance_rubles: rublesOf(balanceKopeks) };
  await t.events.emit(
    DAILY_DEBIT,
    { amount_kopeks: amountKopeks, new_balance_kopeks: balanceKopeks, ...amounts },
    { audience: 'user', userId: buyer.id },
  );
  await notifyOwner(t, recipientOf(buyer), 'daily_debit', {
    formatted_amount: formatPrice(amountKopeks, false),
    formatted_balance: formatPrice(balanceKopeks, false),
    ...amounts,
  });
}

export const notDailyTariff = refusal('not_daily_tariff', 400, 'Pause is only available for daily tariffs');
export const subscriptionRestricted = refusal(
  'subscription_restricted',
  403,
  'Subscription renewal is restricted for this account',
);

/** A daily subscription after the toggle; kopeks. */
interface PauseState {
  /** In the user's language. */
  message: string;
  isPaused: boolean;
  balanceKopeks: number;
  balanceLabel: string;
}

/**
 * Pauses or resumes a daily subscription, once per idempotency key (spec 02 section 5.12). Pausing costs nothing and changes
 * nothing at the panel. Resuming requires a day's price on the balance; a subscription that was stopped or ran out is charged now and is
 * active from now on, in the same transaction (H22); the rest of the paid time is added (H10).
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

/**
 * Removes expired traffic purchases from the limits, here and at the panel, and notifies the owners (spec 02 section 13, daily service,
 * step 3). Each subscription is changed in its own transaction and read again under the lock, so that several instances do it once.
 */
function expirePurchasedTraffic(app: App): Promise<void> {
  return forEachPage<number>(app, {
    list: (after, limit) => listWithExpiredPurchases(app.db, app.clock.now(), after ?? 0, limit),
    each: (subscriptionId) => expirePurchases(app, subscriptionId),
    failure: (subscriptionId) => ['expired traffic purchases could not be removed from the limit', { subscriptionId }],
  });
}

async function expirePurchases(app: App, subscriptionId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const found = await findById(t.db, subscriptionId);
    const start = found && (await lockSaleStart(t.db, found.userId));
    const subscription = start?.subscription;
    if (!start || !subscription || subscription.id !== subscriptionId) return;
    const now = t.clock.now();
    const expiry = expireTraffic(subscription, await listPurchases(t.db, subscriptionId), now);
    if (expiry === null) return;
    await deleteExpiredPurchases(t.db, subscriptionId, now);
    const saved = await update(t.db, subscriptionId, expiry.changes, { now });
    await requestProvisioning(t, subscriptionId);
    const { buyer } = start;
    await t.events.emit(TRAFFIC_RESET, {}, { audience: 'user', userId: buyer.id });
    const resetGb = expiry.expired.reduce((sum, purchase) => sum + purchase.trafficGb, 0);
    await notifyOwner(t, recipientOf(buyer), 'traffic_reset', { reset_gb: resetGb, current_limit_gb: saved.trafficLimitGb });
  });
}

/** The daily service (job `subscriptions.daily`, spec 02 section 13), unless it is switched off. */
export async function runDailyService(app: App): Promise<void> {
  if (!app.settings.get('DAILY_SUBSCRIPTIONS_ENABLED')) return;
  await chargeDays(app);
  await expirePurchasedTraffic(app);
}
