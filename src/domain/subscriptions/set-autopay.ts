import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { userNotFound } from '../identity/errors.ts';
import { text } from '../messaging/texts.ts';
import { noSubscription } from './errors.ts';
import { lockSaleStart } from './purchase/repo.ts';
import { update } from './repo.ts';

export const autopayNotForDaily = refusal('autopay_not_for_daily', 400, 'Autopay is not available for daily subscriptions');

/**
 * Sets autopay: renewal from the balance, without the user (spec 02 section 5.6).
 * @param enabled null = unchanged
 * @param daysBefore 1..30; null = unchanged
 * @throws AppError 404 `No subscription found` | 400 when switched on for a daily tariff
 */
export function setAutopay(app: App, actor: UserActor, enabled: boolean | null, daysBefore: number | null) {
  return inTransaction(app, async (t) => {
    const start = await lockSaleStart(t.db, actor.userId);
    if (!start) throw userNotFound();
    if (!start.subscription) throw noSubscription();
    if (enabled && start.isCurrentTariffDaily) throw autopayNotForDaily();
    const changes = {
      // The owner's own answer: an administrator who activates the subscription later does not take it back (spec 10 X8).
      ...(enabled === null ? {} : { autopayEnabled: enabled, cancelEndedAutopay: false }),
      ...(daysBefore === null ? {} : { autopayDaysBefore: daysBefore }),
    };
    const saved = await update(t.db, start.subscription.id, changes, { now: t.clock.now() });
    return {
      message: text(start.buyer.language, saved.autopayEnabled ? 'messages.autopay_on' : 'messages.autopay_off'),
      subscriptionId: saved.id,
      autopayEnabled: saved.autopayEnabled,
      autopayDaysBefore: saved.autopayDaysBefore,
    };
  });
}

/** Days before the end that are offered for autopay besides those in use. */
const OFFERED = [1, 3, 7, 14];

/** What may be picked as autopay's lead: the usual ones, the default and the current one, ascending (spec 02 section 12.2). */
export function autopayDayOptions(defaultDays: number, currentDays: number | null): number[] {
  const all = new Set([...OFFERED, defaultDays, ...(currentDays === null ? [] : [currentDays])]);
  return [...all].filter((days) => days > 0).sort((a, b) => a - b);
}
