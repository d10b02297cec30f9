import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { forEachPage } from '../../../core/jobs/for-each-page.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import { recipientOf } from '../../messaging/notify-user.ts';
import { requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { chargeDayInTransaction } from '../charge-day.ts';
import { DAILY_DEBIT } from '../events.ts';
import { notifyOwner } from '../notify-owner.ts';
import { lockSaleStart } from '../purchase/repo.ts';
import type { Buyer, SaleNeeds, SaleStart } from '../purchase/types.ts';
import { update } from '../repo.ts';
import { isPast } from '../rules/status.ts';
import { recurringDailyPrice } from '../rules/view.ts';
import { pricingSettingsOf } from '../settings.ts';
import type { Subscription } from '../types.ts';
import { type DailyCandidate, type DailyWork, isCandidate, listCandidates, recordStop } from './repo.ts';

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
      list: (after, limit) => listCandidates(app.db, work, momentOf(app, work), after?.id ?? 0, limit),
      each: ({ userId }) => chargeDay(app, work, userId),
      failure: ({ id }) => ['a day of a daily subscription could not be charged', { subscriptionId: id, work }],
    });
  }
}

/** Milliseconds between two rounds of the service. */
export function dailyServiceMs(app: App): number {
  return Math.max(1, app.settings.get('DAILY_SUBSCRIPTIONS_CHECK_INTERVAL_MINUTES')) * MINUTE_MS;
}

/** The moment for which candidates are selected. */
function momentOf(app: App, work: DailyWork): Date {
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
    return start !== null && (await isCandidate(t.db, work, momentOf(t, work), userId)) && chargeFrom(t, work, start);
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
