import type { App } from '../../../core/app.ts';
import { lockTariff } from '../../catalog/find-tariff.ts';
import type { Tariff } from '../../catalog/types.ts';
import { deliverTariff } from '../../subscriptions/deliver-tariff.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { periodPrice } from '../landings/rules.ts';
import { markGranted } from './repo.ts';
import type { GuestPurchase } from './types.ts';

/** The tariff of a purchase, locked for share, if it is still sold for that period (spec 03 section 8.3); null = it cannot be given. */
export async function deliverableTariff(t: App, purchase: GuestPurchase): Promise<Tariff | null> {
  const tariff = purchase.tariffId === null ? null : await lockTariff(t, purchase.tariffId);
  return tariff && periodPrice(tariff, purchase.periodDays) !== null ? tariff : null;
}

/**
 * Writes the subscription of a locked purchase, once, because the mark is part of the same transaction. The panel's link follows later.
 * @param current the recipient's subscription, locked; it is replaced
 */
export async function grant(
  t: App,
  purchase: GuestPurchase,
  { userId, current, tariff }: { userId: number; current: Subscription | null; tariff: Tariff },
): Promise<void> {
  if (!(await markGranted(t.db, purchase.id, t.clock.now()))) throw new Error(`purchase ${purchase.id} was granted before`);
  await deliverTariff(t, userId, current, {
    tariff,
    days: purchase.periodDays,
    amountKopeks: purchase.amountKopeks,
    // A row of the feed names movements of its own user only; a gift from the cabinet was paid by its buyer.
    transactionId: purchase.source === 'cabinet' ? null : purchase.transactionId,
    paymentMethod: purchase.paymentMethod,
    isGift: purchase.isGift,
  });
}
