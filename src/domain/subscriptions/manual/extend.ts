import { refuse } from '../../../core/errors.ts';
import { findTariff } from '../../catalog/find-tariff.ts';
import { extendSubscription } from '../rules/extend.ts';
import { pricingSettingsOf, subscriptionSettingsOf } from '../settings.ts';
import { checkEnd } from './bounds.ts';
import type { SubscriptionAction } from './types.ts';

/** Adds days from the end, or from now when that is over; what has stopped goes on (spec 01 section 11.2, spec 02 section 3.1). */
export const extend: SubscriptionAction = async (t, subscription, { days }) => {
  if (days === null) throw refuse('days_required', 400, 'Days must be a positive integer');
  const tariff = subscription.tariffId === null ? null : await findTariff(t, subscription.tariffId);
  const now = t.clock.now();
  const { changes, dropsPurchases } = extendSubscription(
    subscription,
    { days, isPaid: false },
    {
      now,
      settings: subscriptionSettingsOf(t),
      pricing: pricingSettingsOf(t),
      isCurrentTariffDaily: tariff?.isDaily ?? false,
    },
  );
  checkEnd('days', days, changes.endDate ?? subscription.endDate, now);
  return {
    changes,
    dropsPurchases,
    forgetsNotices: true,
    wishes: { resetTraffic: changes.trafficUsedGb === 0 },
    message: `Subscription extended by ${days} days`,
  };
};
