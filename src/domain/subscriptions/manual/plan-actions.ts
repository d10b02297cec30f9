import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { listSquads } from '../../catalog/find-squads.ts';
import { effectiveSquadsOf, lockTariff } from '../../catalog/find-tariff.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { tariffNotFound } from '../errors.ts';
import { squadsOrFirstAvailable } from '../rules/replace.ts';
import { isPast, isStopped } from '../rules/status.ts';
import type { Subscription } from '../types.ts';
import { insertManually } from './manual-changes.ts';
import type { ActionRequest, SubscriptionAction } from './types.ts';

const tariffIdRequired = refusal('tariff_id_required', 400, 'tariff_id parameter is required');
const autopayRequired = refusal('autopay_required', 400, 'autopay_enabled parameter is required');

/** Actions on the plan of a subscription: creation, tariff and renewal from the balance (spec 01 section 11.2). */

const DEFAULT_DAYS = 30;
const DEFAULT_TRAFFIC_GB = 100;
const DEFAULT_DEVICES = 1;

/**
 * Creates a subscription without charging, for a locked user who has none: the terms of the request, else those of the tariff, else 30
 * days, 100 GB and one device (spec 01 section 11.2). Without a tariff it gets the first available server.
 * @throws AppError 404 'Tariff not found'
 */
export async function createSubscription(t: App, userId: number, request: ActionRequest): Promise<Subscription> {
  const tariff = request.tariffId == null ? null : await lockTariff(t, request.tariffId);
  if (request.tariffId != null && !tariff) throw tariffNotFound();
  const now = t.clock.now();
  return insertManually(t, userId, {
    status: 'active',
    isTrial: request.isTrial ?? false,
    startDate: now,
    endDate: addDays(now, request.days ?? DEFAULT_DAYS),
    trafficLimitGb: request.trafficLimitGb ?? tariff?.trafficLimitGb ?? DEFAULT_TRAFFIC_GB,
    trafficUsedGb: 0,
    deviceLimit: request.deviceLimit ?? tariff?.deviceLimit ?? DEFAULT_DEVICES,
    connectedSquads: tariff ? await effectiveSquadsOf(t, tariff) : squadsOrFirstAvailable([], await listSquads(t)),
    tariffId: tariff?.id ?? null,
  });
}

/**
 * Moves the subscription to another tariff without charging (spec 01 section 11.2): the tariff's traffic, devices and squads replace the
 * old ones, traffic packages are removed, a trial becomes paid unless the tariff is one for trials. Recorded as a payment of 0.
 */
export const changeTariff: SubscriptionAction = async (t, subscription, { tariffId }) => {
  if (tariffId == null) throw tariffIdRequired();
  const tariff = await lockTariff(t, tariffId);
  if (!tariff) throw tariffNotFound();
  const resetsUsed = t.settings.get('RESET_TRAFFIC_ON_TARIFF_SWITCH');
  const cap = tariff.maxDeviceLimit ?? t.settings.get('MAX_DEVICES_LIMIT');
  const squads = await effectiveSquadsOf(t, tariff);
  // One that was paused or cancelled and has ended stays so: the daily service would charge for the new tariff and start it (spec 10 X8).
  const isOver = isStopped(subscription.status) || isPast(subscription, t.clock.now());
  await postMovement(t, {
    userId: subscription.userId,
    type: 'subscription_payment',
    amountKopeks: 0,
    contra: { kind: 'sales_revenue', product: 'tariff' },
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
      ...(tariff.id === subscription.tariffId ? {} : { ...(isOver ? {} : { isDailyPaused: false }), lastDailyChargeAt: null }),
    },
    dropsPurchases: true,
    panelResets: { resetTraffic: resetsUsed },
    message: `Tariff changed to ${tariff.name}`,
  };
};

/** Switches renewal from the balance on or off; the panel has no such setting (spec 01 section 11.2). */
export const toggleAutopay: SubscriptionAction = async (_t, _subscription, { autopayEnabled }) => {
  if (autopayEnabled == null) throw autopayRequired();
  return {
    changes: { autopayEnabled, cancelEndedAutopay: false },
    staysLocal: true,
    message: `Autopay ${autopayEnabled ? 'enabled' : 'disabled'}`,
  };
};
