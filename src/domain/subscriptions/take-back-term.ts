import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { applyManualChange } from './manual/manual-changes.ts';
import { lockSaleStart } from './purchase/repo.ts';
import { RENEWAL_NEEDS } from './renew-subscription.ts';
import { autopayPeriod, quoteRenewal } from './rules/renewal.ts';
import { ENDED_BY_DECISION, isPast } from './rules/status.ts';
import { pricingSettingsOf } from './settings.ts';

/** What happens to a subscription when money that it was bought with is taken back: nothing, it loses days of that worth, or it ends. */
export type TakeBackRule = 'keep' | 'shorten' | 'end';

/** What `takeBackTerm` did. */
export interface TakenBack {
  subscriptionId: number;
  /** Days that were taken off the end; the subscription is over when they were all. */
  days: number;
  isOver: boolean;
}

/**
 * Takes back the term that returned money had paid for (03a section 0.5): the days that the money buys at the price of the next renewal,
 * rounded up, or the whole rest. Trials and subscriptions that are over are left as they are. The panel is updated after commit. In the
 * caller's transaction; locks the user, then the subscription.
 * @param kopeks money that was returned to the payer and had been spent
 * @returns null when nothing was changed
 */
export async function takeBackTerm(
  t: App,
  userId: number,
  kopeks: number,
  rule: Exclude<TakeBackRule, 'keep'>,
): Promise<TakenBack | null> {
  const start = await lockSaleStart(t.db, userId, RENEWAL_NEEDS);
  const now = t.clock.now();
  const subscription = start?.subscription;
  if (!start || !subscription || subscription.isTrial || isPast(subscription, now)) return null;
  const days = rule === 'end' ? null : daysWorth(t, start, kopeks);
  const endDate = days === null ? now : addDays(subscription.endDate, -days);
  const isOver = endDate <= now;
  await applyManualChange(t, subscription.id, {
    changes: isOver ? { status: 'expired', endDate: now, ...ENDED_BY_DECISION } : { endDate },
    forgetsNotices: true,
  });
  const taken =
    (subscription.endDate.getTime() - (isOver ? now : endDate).getTime()) / (addDays(now, 1).getTime() - now.getTime());
  return { subscriptionId: subscription.id, days: Math.ceil(taken), isOver };
}

/** Days that the money buys; null = no price is known, so that the whole rest is taken. */
function daysWorth(t: App, start: NonNullable<Awaited<ReturnType<typeof lockSaleStart>>>, kopeks: number): number | null {
  const { buyer, subscription, currentTariff: tariff, servers } = start;
  const settings = pricingSettingsOf(t);
  const periodDays = autopayPeriod(tariff, settings);
  if (periodDays === null || !subscription) return null;
  const quote = quoteRenewal({ subscription, tariff, servers, user: buyer, settings, now: t.clock.now() }, periodDays);
  if (quote.kind === 'refusal' || quote.finalKopeks <= 0) return null;
  return Math.ceil((kopeks * periodDays) / quote.finalKopeks);
}
