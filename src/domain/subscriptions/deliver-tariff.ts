import type { App } from '../../core/app.ts';
import { recordEvent } from '../activity/record-event.ts';
import { effectiveSquadsOf } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { recordPaidSubscription } from '../identity/record-paid-subscription.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { autopayDefaults } from './autopay-defaults.ts';
import { SUBSCRIPTION_ACTIVATED } from './events.ts';
import { insert, linkServers, update } from './repo.ts';
import { replaceSubscription } from './rules/replace.ts';
import type { Subscription } from './types.ts';

/** A tariff that was paid for outside the balance; days, kopeks. */
export interface TariffDelivery {
  tariff: Tariff;
  days: number;
  amountKopeks: number;
  /** The revenue row. */
  transactionId: number | null;
  paymentMethod: string | null;
  isGift: boolean;
}

/**
 * Starts a paid tariff anew for a locked user, over whatever subscription there was: dates, limits, squads and used traffic begin
 * again, the links are removed until the panel gives new ones (spec 03 section 8.3). The caller decides whether a running subscription
 * may be replaced. In the caller's transaction; the panel is updated after commit.
 * @param current the user's subscription, locked
 */
export async function deliverTariff(
  t: App,
  userId: number,
  current: Subscription | null,
  delivery: TariffDelivery,
): Promise<Subscription> {
  const { tariff, days } = delivery;
  const now = t.clock.now();
  const terms = { days, isTrial: false, trafficLimitGb: tariff.trafficLimitGb, deviceLimit: tariff.deviceLimit };
  const squads = await effectiveSquadsOf(t, tariff);
  const changes = { ...replaceSubscription({ ...terms, squads }, [], now), tariffId: tariff.id };
  const saved = current
    ? await update(t.db, current.id, changes, { now, dropsPurchases: true, forgetsNotices: true })
    : await insert(t.db, userId, { ...changes, ...autopayDefaults(t) }, now);
  await linkServers(t.db, saved.id, now);
  // Who received a gift has not paid: codes for a first purchase, referrals and campaigns count who did (spec 10 X5).
  if (!delivery.isGift) await recordPaidSubscription(t, userId);
  await requestProvisioning(t, saved.id, { resetTraffic: true });
  await recordEvent(
    t,
    { kind: 'system', name: 'gifts' },
    {
      eventType: 'purchase',
      userId,
      subscriptionId: saved.id,
      transactionId: delivery.transactionId,
      amountKopeks: delivery.amountKopeks,
      currency: 'RUB',
      message: null,
      occurredAt: null,
      extra: { period_days: days, payment_method: delivery.paymentMethod, is_gift: delivery.isGift },
    },
  );
  const started = { expires_at: saved.endDate.toISOString(), tariff_name: tariff.name };
  await t.events.emit(SUBSCRIPTION_ACTIVATED, started, { audience: 'user', userId });
  return saved;
}
