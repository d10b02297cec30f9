import { refuse } from '../../../core/errors.ts';
import { effectiveSquadsOf, lockTariff } from '../../catalog/find-tariff.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import type { SubscriptionAction } from './types.ts';

/**
 * Puts the subscription on another tariff without charging (spec 01 section 11.2): its traffic, devices and squads replace the old
 * ones, traffic packages go, a trial becomes paid unless the tariff is one for trials. Recorded as a payment of 0.
 */
export const changeTariff: SubscriptionAction = async (t, subscription, { tariffId }) => {
  if (tariffId === null) throw refuse('tariff_id_required', 400, 'tariff_id parameter is required');
  const tariff = await lockTariff(t, tariffId);
  if (!tariff) throw refuse('tariff_not_found', 404, 'Tariff not found');
  const resetsUsed = t.settings.get('RESET_TRAFFIC_ON_TARIFF_SWITCH');
  const cap = tariff.maxDeviceLimit ?? t.settings.get('MAX_DEVICES_LIMIT');
  const squads = await effectiveSquadsOf(t, tariff);
  await postMovement(t, {
    userId: subscription.userId,
    type: 'subscription_payment',
    amountKopeks: 0,
    counter: { kind: 'sales_revenue', product: 'tariff' },
    paymentMethod: 'balance',
    description: `Tariff changed by administrator: ${tariff.name}`,
  });
  return {
    changes: {
      tariffId: tariff.id,
      trafficLimitGb: tariff.trafficLimitGb,
      purchasedTrafficGb: 0,
      trafficResetAt: null,
      deviceLimit: cap > 0 ? Math.min(tariff.deviceLimit, cap) : tariff.deviceLimit,
      ...(squads.length > 0 ? { connectedSquads: squads } : {}),
      ...(subscription.isTrial && !tariff.isTrialAvailable ? { isTrial: false } : {}),
      ...(resetsUsed ? { trafficUsedGb: 0 } : {}),
      ...(tariff.id === subscription.tariffId ? {} : { isDailyPaused: false, lastDailyChargeAt: null }),
    },
    dropsPurchases: true,
    wishes: { resetTraffic: resetsUsed },
    message: `Tariff changed to ${tariff.name}`,
  };
};
