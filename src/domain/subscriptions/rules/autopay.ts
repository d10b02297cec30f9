import { addDays, addMs, HOUR_MS } from '../../../core/clock.ts';
import type { SaleStart } from '../purchase/types.ts';
import type { Subscription } from '../types.ts';
import { daysLeft } from './status.ts';
import { autopayPeriod, quoteRenewal, type RenewalInput } from './terms.ts';

/** `due`: for the job. `expired`: for a top-up. `card`: for a top-up by a saved card that pays the renewal (spec 03 section 5.2). */
export type AutopayScope = 'due' | 'expired' | 'card';

/** For how long after its end the job still renews a subscription. */
export const GRACE_HOURS = 2;

/** For how long after its end saved cards are still charged for the renewal. */
export const CARD_HOURS = 48;

/** For how long after its end a top-up still renews a subscription (spec 02 section 6, step 3). */
const EXPIRED_HOURS = 30 * 24;

const HOURS_AFTER_END: Record<AutopayScope, number> = { due: GRACE_HOURS, expired: EXPIRED_HOURS, card: CARD_HOURS };

/** A subscription that the panel reported on within this time is renewed in the job's next round (spec 02 section 1.3). */
export const PANEL_PAUSE_SECONDS = 60;

const DEFAULT_LEAD_DAYS = 3;
export const MAX_LEAD_DAYS = 30;

/**
 * Whether autopay renews the subscription now (spec 02 sections 6 and 13, H23): at most as many whole days left as the owner has set, or past
 * its end by a limited time; no trials, no daily tariffs, no blocked or restricted users. A top-up has no next round and does not wait for
 * the panel, which may report the end in the minute in which the owner pays. autopay/repo.ts selects the same rows
 * for the job and for saved cards.
 */
export function isAutopayDue(
  start: Pick<SaleStart, 'buyer' | 'subscription' | 'isCurrentTariffDaily'>,
  now: Date,
  scope: AutopayScope,
): boolean {
  const { buyer, subscription, isCurrentTariffDaily } = start;
  if (!subscription?.autopayEnabled || subscription.isTrial || isCurrentTariffDaily) return false;
  if (buyer.status !== 'active' || buyer.restrictionSubscription) return false;
  const { status, endDate, autopayDaysBefore, lastWebhookUpdateAt } = subscription;
  if (status !== 'active' && status !== 'expired') return false;
  if (endDate <= addMs(now, -HOURS_AFTER_END[scope] * HOUR_MS)) return false;
  if (scope === 'expired') return endDate <= now;
  const leadDays = Math.min(autopayDaysBefore || DEFAULT_LEAD_DAYS, MAX_LEAD_DAYS);
  if (endDate >= addDays(now, leadDays + 1)) return false;
  return lastWebhookUpdateAt === null || lastWebhookUpdateAt <= addMs(now, -PANEL_PAUSE_SECONDS * 1000);
}

/** What autopay would do with a subscription that is due: nothing, nothing because no period is for sale, or a renewal at this price. */
type AutopayPlan =
  | { kind: 'nothing' }
  | { kind: 'no_period' }
  | {
      kind: 'renewal';
      periodDays: number;
      /** Above 0. */
      priceKopeks: number;
    };

/** Period and price of the renewal by autopay (spec 02 section 13), for the job and for what pays it beforehand. */
export function planAutopay(input: RenewalInput & { subscription: Pick<Subscription, 'endDate'> }): AutopayPlan {
  const periodDays = autopayPeriod(input.tariff, input.settings);
  if (periodDays === null) return { kind: 'no_period' };
  // More than a whole period is left: a lead that is longer than the period must not buy one period after the other.
  if (daysLeft(input.subscription, input.now) >= periodDays) return { kind: 'nothing' };
  const quote = quoteRenewal(input, periodDays);
  if (quote.kind === 'refusal' || quote.finalKopeks <= 0) return { kind: 'nothing' };
  return { kind: 'renewal', periodDays, priceKopeks: quote.finalKopeks };
}
