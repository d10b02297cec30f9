import type { App } from '../../core/app.ts';
import { applyManualChange } from './manual/manual-changes.ts';
import { extendSubscription } from './rules/extend.ts';
import { pricingSettingsOf, subscriptionSettingsOf } from './settings.ts';
import type { Subscription, SubscriptionChanges } from './types.ts';

/**
 * Adds days to a locked subscription of any status, without charging (spec 04 section 7.1): the new end is `days` after the old one, or
 * after now when that has passed; a trial becomes a full subscription and a stopped one active. In the caller's transaction; the panel is
 * updated after commit. The caller records that the user has had a paid subscription.
 * @param days above 0
 */
export async function grantDays(t: App, subscription: Subscription, days: number): Promise<Subscription> {
  const { changes, ...options } = freeExtension(t, subscription, days);
  // An order that was never paid has no days yet; these are its first.
  const started: SubscriptionChanges = subscription.status === 'pending' ? { status: 'active' } : {};
  return applyManualChange(t, subscription.id, {
    ...options,
    changes: { ...changes, ...started, isTrial: false },
    panelResets: { resetTraffic: t.settings.get('RESET_TRAFFIC_ON_PAYMENT') },
  });
}

/**
 * What an extension by days without charging changes (spec 02 section 3.1). Not a paid extension, which would start a trial anew and drop
 * its remaining days. The tariff stays, so that it does not matter whether it is a daily one.
 * @param days above 0
 */
export function freeExtension(app: App, subscription: Subscription, days: number) {
  const { changes, dropsPurchases } = extendSubscription(
    subscription,
    { days, isPaid: false },
    {
      now: app.clock.now(),
      settings: subscriptionSettingsOf(app),
      pricing: pricingSettingsOf(app),
      isCurrentTariffDaily: false,
    },
  );
  return { changes, dropsPurchases, forgetsNotices: true };
}
