import type { App } from '../../../core/app.ts';
import { sendMail } from '../../messaging/send-mail.ts';
import '../events.ts';
import type { Subscription } from '../types.ts';
import type { Buyer } from './types.ts';

/**
 * Notifies users with a verified e-mail and without a messenger of a purchase: an e-mail, and `notification.{type}` with the same
 * context on their sockets (spec 02 sections 5.16 and 6). Both belong to the caller's transaction. Blocked and deleted users, whose
 * saved order a late payment may still buy, are not notified (spec 05 section 9.3).
 */
export async function notifySale(
  t: App,
  buyer: Buyer,
  subscription: Subscription,
  sale: { isNew: boolean; tariffName: string | null },
): Promise<void> {
  if (buyer.status !== 'active' || buyer.messengerId !== null || buyer.email === null || !buyer.emailVerified) return;
  const type = sale.isNew ? 'subscription_activated' : 'subscription_renewed';
  const date = dayOf(subscription.endDate);
  const context = {
    expires_at: date,
    new_expires_at: date,
    traffic_limit_gb: subscription.trafficLimitGb,
    device_limit: subscription.deviceLimit,
    tariff_name: sale.tariffName ?? '',
  };
  await sendMail(t, { to: buyer.email, language: buyer.language, type, params: context });
  await t.events.emit(`notification.${type}`, context, { audience: 'user', userId: buyer.id });
}

/** `dd.mm.yyyy` in UTC. */
export function dayOf(moment: Date): string {
  const [year, month, day] = moment.toISOString().slice(0, 10).split('-');
  return `${day}.${month}.${year}`;
}
