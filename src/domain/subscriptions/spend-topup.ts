import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { take } from '../../core/short-lived.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { renewEnded } from './autopay/renew-due.ts';
import { buyDevices } from './buy-devices.ts';
import { buyTraffic } from './buy-traffic.ts';
import { resumeDaily } from './daily/charge-days.ts';
import { findHolding } from './purchase/repo.ts';
import { buyClassic } from './purchase-classic.ts';
import { buyTariff } from './purchase-tariff.ts';
import { renewSubscription } from './renew-subscription.ts';
import { cartKey, readCart } from './saved-cart.ts';
import type { SavedCart } from './types.ts';

/**
 * What a new balance is used for, first match wins (spec 02 section 6): a daily subscription that stopped goes on; a saved order is
 * bought when the operator wants that, else its owner hears how it stands; without an order, autopay renews what ended a while ago.
 * Safe to run again: each of them finds done what was done.
 */
export async function spendTopup(app: App, userId: number): Promise<void> {
  if (await resumeDaily(app, userId)) return;
  const cart = await readCart(app, userId);
  if (cart === null) return renewEnded(app, userId);
  if (cart.total_price <= 0) return;
  if (app.settings.get('AUTO_PURCHASE_AFTER_TOPUP_ENABLED') && (await isBought(app, userId))) return;
  await tellCart(app, userId);
}

/**
 * Takes the order away before it is bought, so that two top-ups at once buy it once. An order that lacks the money is saved again by its
 * sale; one that can be sold no more is gone.
 */
async function isBought(app: App, userId: number): Promise<boolean> {
  const subscription = (await findHolding(app.db, userId))?.details?.subscription;
  if (subscription?.status === 'disabled') {
    await take(app, cartKey(userId));
    return false;
  }
  const cart = await take<SavedCart>(app, cartKey(userId));
  if (cart === null || (cart.cart_mode === 'extend' && cart.subscription_id !== subscription?.id)) return false;
  try {
    await buy(app, { kind: 'user', userId }, cart);
    return true;
  } catch (error) {
    if (!isAppError(error)) throw error;
    app.log.info({ userId, cartMode: cart.cart_mode, code: error.code }, 'a saved order was not bought after a top-up');
    return false;
  }
}

/** The very sale that the owner asked for, at today's price and by today's rules. */
function buy(app: App, actor: UserActor, cart: SavedCart): Promise<unknown> {
  const once = { idempotencyKey: null };
  switch (cart.cart_mode) {
    case 'extend':
      return renewSubscription(app, actor, { periodDays: cart.period_days, ...once });
    case 'tariff_purchase': {
      const { tariff_id: tariffId, period_days: periodDays, custom_traffic_gb: trafficGb } = cart;
      return buyTariff(app, actor, { tariffId, periodDays, trafficGb, ...once });
    }
    case 'daily_tariff_purchase':
      return buyTariff(app, actor, { tariffId: cart.tariff_id, periodDays: 1, trafficGb: null, ...once });
    case 'add_devices':
      return buyDevices(app, actor, { devices: cart.devices_to_add, ...once });
    case 'add_traffic':
      return buyTraffic(app, actor, { gb: cart.traffic_gb, ...once });
    case 'subscription_purchase': {
      const { period_id: periodId, period_days: periodDays, traffic_gb: trafficGb, countries: squadUuids, devices } = cart;
      return buyClassic(app, actor, { selection: { periodId, periodDays, trafficGb, squadUuids, devices }, ...once });
    }
  }
}

/** Whether the balance covers the order now; only owners with a messenger are told. */
async function tellCart(app: App, userId: number): Promise<void> {
  const [holding, cart] = [await findHolding(app.db, userId), await readCart(app, userId)];
  if (!holding || !cart || holding.buyer.messengerId === null) return;
  const { messengerId, language, balanceKopeks } = holding.buyer;
  const missing = cart.total_price - balanceKopeks;
  const values = { total: formatPrice(cart.total_price, false), balance: formatPrice(balanceKopeks, false) };
  const html =
    missing > 0
      ? htmlText(language, 'messages.topup_cart_missing', { ...values, missing: formatPrice(missing, false) })
      : htmlText(language, 'messages.topup_cart_covered', values);
  await inTransaction(app, (t) => sendMessage(t, { messengerId, html }));
}
