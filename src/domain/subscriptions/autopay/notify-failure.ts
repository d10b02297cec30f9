import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS } from '../../../core/clock.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import { appendEvent } from '../../activity/record-event.ts';
import { recipientOf } from '../../messaging/notify-user.ts';
import { text } from '../../messaging/texts.ts';
import { AUTOPAY_FAILED, AUTOPAY_INSUFFICIENT_FUNDS } from '../events.ts';
import { notifyOwner } from '../notify-owner.ts';
import type { Buyer } from '../purchase/types.ts';
import { hasFailedSince, recordRefusal } from './repo.ts';

const REPEATED_AFTER_MS = 6 * HOUR_MS;

/**
 * Notifies the owner that the balance is too low for autopay; kopeks. At most once in six hours, by the row of the dashboard feed (spec 02
 * H23), which the segment `autopay_failed` reads too. In the caller's transaction.
 */
export async function notifyInsufficientFunds(
  t: App,
  buyer: Buyer,
  subscriptionId: number,
  requiredKopeks: number,
): Promise<void> {
  if (await hasFailedSince(t.db, buyer.id, addMs(t.clock.now(), -REPEATED_AFTER_MS))) return;
  await recordFailure(t, buyer, subscriptionId, 'insufficient_funds', requiredKopeks);
  await t.events.emit(
    AUTOPAY_INSUFFICIENT_FUNDS,
    {
      ...{ required_kopeks: requiredKopeks, required_rubles: rublesOf(requiredKopeks) },
      ...{ balance_kopeks: buyer.balanceKopeks, balance_rubles: rublesOf(buyer.balanceKopeks) },
    },
    { audience: 'user', userId: buyer.id },
  );
  await notifyOwner(t, recipientOf(buyer), 'autopay_insufficient_funds', {
    required_amount: formatPrice(requiredKopeks, false),
    current_balance: formatPrice(buyer.balanceKopeks, false),
  });
}

/**
 * Notifies the owner that autopay cannot renew because no period of the plan is for sale. Once until the next paid term, because neither
 * waiting nor a top-up changes that. In the caller's transaction.
 */
export async function notifyNoPeriod(t: App, buyer: Buyer, subscriptionId: number): Promise<void> {
  if (!(await recordRefusal(t.db, subscriptionId, buyer.id, t.clock.now()))) return;
  await recordFailure(t, buyer, subscriptionId, 'period_unavailable', null);
  await notifyOwner(t, recipientOf(buyer), 'autopay_failed', {
    reason: text(buyer.language, 'messages.autopay_period_unavailable'),
  });
}

/** Adds the failure to the dashboard feed and emits the event. */
async function recordFailure(
  t: App,
  buyer: Buyer,
  subscriptionId: number,
  reason: 'insufficient_funds' | 'period_unavailable',
  amountKopeks: number | null,
): Promise<void> {
  await appendEvent(t, {
    ...{ eventType: 'autopay_failed', userId: buyer.id, subscriptionId, amountKopeks, currency: 'RUB' },
    extra: { reason, balance: buyer.balanceKopeks },
  });
  await t.events.emit(AUTOPAY_FAILED, { reason }, { audience: 'user', userId: buyer.id });
}
