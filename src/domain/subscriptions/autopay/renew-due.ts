import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { forEachPage } from '../../../core/jobs/for-each-page.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import { recipientOf } from '../../messaging/notify-user.ts';
import { recordMonitoring } from '../../monitoring/record-event.ts';
import { AUTOPAY_SUCCESS } from '../events.ts';
import { notifyOwner } from '../notify-owner.ts';
import { dayOf } from '../purchase/notify-sale.ts';
import { lockSaleStart } from '../purchase/repo.ts';
import type { Buyer, SaleStart } from '../purchase/types.ts';
import { RENEWAL_NEEDS, sellRenewal } from '../renew-subscription.ts';
import { type AutopayScope, isAutopayDue } from '../rules/autopay.ts';
import { planAutopay } from '../rules/autopay-plan.ts';
import { pricingSettingsOf } from '../settings.ts';
import { notifyInsufficientFunds, notifyNoPeriod } from './notify-failure.ts';
import { type AutopayCandidate, listDue } from './repo.ts';

/**
 * Job `subscriptions.autopay`: renews from the balance the subscriptions that end soon and have autopay on (spec 02 section 13, H23).
 * Each is renewed in its own transaction and checked again under the lock, so that several instances renew it once and a failure affects
 * no other subscription.
 */
export async function renewDue(app: App): Promise<void> {
  let [processed, failed] = [0, 0];
  await forEachPage<AutopayCandidate>(app, {
    list: (after, limit) => listDue(app.db, app.clock.now(), after, limit),
    each: async ({ userId }) => {
      const result = await renewOne(app, userId);
      if (result === 'renewed') processed++;
      if (result === 'not_renewed') failed++;
    },
    failure: ({ id }) => {
      failed++;
      return ['a subscription could not be renewed by autopay', { subscriptionId: id }];
    },
  });
  await recordMonitoring(app, 'autopayments_processed', { processed, failed });
}

/** `not_renewed`: due, but without a period to sell or without enough money. */
type RenewalResult = 'renewed' | 'not_renewed' | 'nothing_due';

/**
 * After a top-up, in the caller's transaction: renews a subscription that ended at most 30 days ago and has autopay on, when the balance
 * covers it (spec 02 section 6, H12).
 * @param start with `RENEWAL_NEEDS`
 */
export async function renewEndedFrom(t: App, start: SaleStart): Promise<void> {
  await renewFrom(t, start, 'expired');
}

/**
 * After a top-up by a saved card, which paid for a renewal (spec 03 section 5.2): renews a subscription that has ended, also one that the
 * job no longer takes. One that still runs is left to the job.
 * @param claim marks the top-up as spent in the same transaction; false = it was spent before
 */
export async function renewEnded(app: App, userId: number, claim: (t: App) => Promise<boolean>): Promise<void> {
  await inTransaction(app, async (t) => {
    const start = await lockSaleStart(t.db, userId, RENEWAL_NEEDS);
    if (start && (await claim(t))) await renewEndedFrom(t, start);
  });
}

function renewOne(app: App, userId: number): Promise<RenewalResult> {
  return inTransaction(app, async (t) => {
    const start = await lockSaleStart(t.db, userId, RENEWAL_NEEDS);
    return start ? renewFrom(t, start, 'due') : 'nothing_due';
  });
}

async function renewFrom(t: App, start: SaleStart, scope: AutopayScope): Promise<RenewalResult> {
  const { buyer, subscription, currentTariff: tariff, servers } = start;
  const now = t.clock.now();
  if (!subscription || !isAutopayDue(start, now, scope)) return 'nothing_due';
  const plan = planAutopay({ subscription, tariff, servers, user: buyer, settings: pricingSettingsOf(t), now });
  if (plan.kind === 'nothing') return 'nothing_due';
  if (plan.kind === 'no_period') {
    if (scope === 'due') await notifyNoPeriod(t, buyer, subscription.id);
    return 'not_renewed';
  }
  const { periodDays, priceKopeks } = plan;
  if (buyer.balanceKopeks < priceKopeks) {
    if (scope === 'due') await notifyInsufficientFunds(t, buyer, subscription.id, priceKopeks);
    return 'not_renewed';
  }
  const { newEndDate } = await sellRenewal(t, start, { kind: 'renewal', periodDays }, { isAutopay: true });
  await notifySuccess(t, buyer, priceKopeks, newEndDate);
  return 'renewed';
}

async function notifySuccess(t: App, buyer: Buyer, amountKopeks: number, endDate: Date): Promise<void> {
  const amount_rubles = rublesOf(amountKopeks);
  await t.events.emit(
    AUTOPAY_SUCCESS,
    { amount_kopeks: amountKopeks, amount_rubles, new_expires_at: endDate.toISOString() },
    { audience: 'user', userId: buyer.id },
  );
  const formatted_amount = formatPrice(amountKopeks, false);
  await notifyOwner(t, recipientOf(buyer), 'autopay_success', {
    formatted_amount,
    amount_rubles,
    new_expires_at: dayOf(endDate),
  });
}
