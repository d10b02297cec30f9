import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS } from '../../../core/clock.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import { insertEvent } from '../../activity/record-event.ts';
import { recipientOf } from '../../messaging/notify-user.ts';
import { text } from '../../messaging/texts.ts';
import { AUTOPAY_FAILED, AUTOPAY_INSUFFICIENT_FUNDS } from '../events.ts';
import type { Buyer } from '../purchase/types.ts';
import { tellOwner } from '../tell-owner.ts';
import { noteRefusal, wasToldSince } from './repo.ts';

const TOLD_AGAIN_AFTER_MS = 6 * HOUR_MS;

/**
 * Tells the owner that autopay lacks the money; kopeks. At most once in six hours: the row of the feed is the memory (spec 02 H23), and what the
 * segment `autopay_failed` looks for. In the caller's transaction.
 */
export async function tellLack(t: App, buyer: Buyer, subscriptionId: number, requiredKopeks: number): Promise<void> {
  if (await wasToldSince(t.db, buyer.id, addMs(t.clock.now(), -TOLD_AGAIN_AFTER_MS))) return;
  await record(t, buyer, subscriptionId, 'insufficient_funds', requiredKopeks);
  await t.events.emit(
    AUTOPAY_INSUFFICIENT_FUNDS,
    {
      ...{ required_kopeks: requiredKopeks, required_rubles: rublesOf(requiredKopeks) },
      ...{ balance_kopeks: buyer.balanceKopeks, balance_rubles: rublesOf(buyer.balanceKopeks) },
    },
    { audience: 'user', userId: buyer.id },
  );
  await tellOwner(t, recipientOf(buyer), 'autopay_insufficient_funds', {
    required_amount: formatPrice(requiredKopeks, false),
    current_balance: formatPrice(buyer.balanceKopeks, false),
  });
}

/**
 * Tells the owner that autopay has nothing to buy: no period of the plan is on offer. Once until the next paid term, because waiting or
 * topping up mends nothing. In the caller's transaction.
 */
export async function tellRefused(t: App, buyer: Buyer, subscriptionId: number): Promise<void> {
  if (!(await noteRefusal(t.db, subscriptionId, buyer.id, t.clock.now()))) return;
  await record(t, buyer, subscriptionId, 'period_unavailable', null);
  await tellOwner(t, recipientOf(buyer), 'autopay_failed', {
    reason: text(buyer.language, 'messages.autopay_period_unavailable'),
  });
}

async function record(
  t: App,
  buyer: Buyer,
  subscriptionId: number,
  reason: 'insufficient_funds' | 'period_unavailable',
  amountKopeks: number | null,
): Promise<void> {
  const now = t.clock.now();
  await insertEvent(
    t.db,
    {
      ...{ eventType: 'autopay_failed', userId: buyer.id, subscriptionId, transactionId: null, amountKopeks },
      ...{ currency: 'RUB', message: null, occurredAt: now, extra: { reason, balance: buyer.balanceKopeks } },
    },
    now,
  );
  await t.events.emit(AUTOPAY_FAILED, { reason }, { audience: 'user', userId: buyer.id });
}
