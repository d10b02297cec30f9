import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { put } from '../../core/short-lived.ts';
import { findTariff } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { text } from '../messaging/texts.ts';
import { trafficLabel } from '../pricing/periods.ts';
import { requireBuyerDetails } from './purchase/insufficient-funds.ts';
import type { Buyer } from './purchase/types.ts';
import { describeDevices, offerDevices } from './purchase-devices.ts';
import { quoteTraffic } from './purchase-traffic.ts';
import { cartKey, cartOf } from './saved-cart.ts';
import type { SavedCart, Subscription } from './types.ts';

export const noSubscriptionForCart = refusal('no_subscription', 400, 'У вас нет подписки');

/**
 * Saves a traffic package as the user's order, at the price and by the rules of its purchase (spec 02 section 5.15, H5).
 * @throws AppError 400 no_subscription and what the purchase refuses | 404 tariff_not_found
 */
export async function saveTrafficCart(app: App, actor: UserActor, gb: number): Promise<void> {
  const { buyer, subscription } = await subscriptionOf(app, actor);
  const quote = quoteTraffic(app, buyer, { subscription, tariff: await tariffOf(app, subscription) }, gb);
  const totalKopeks = quote.finalKopeks;
  const missingKopeks = Math.max(0, totalKopeks - buyer.balanceKopeks);
  const traffic = trafficLabel(gb, buyer.language);
  const description = text(buyer.language, 'subscriptions.transaction_traffic', { traffic });
  await save(app, buyer, cartOf({ kind: 'traffic', gb, subscription, quote }, { totalKopeks, missingKopeks, description }));
}

/** The same for devices. @throws AppError 400 no_subscription and what the purchase refuses */
export async function saveDevicesCart(app: App, actor: UserActor, devices: number): Promise<void> {
  const { buyer, subscription } = await subscriptionOf(app, actor);
  const { quote } = offerDevices(app, buyer, { subscription, tariff: await tariffOf(app, subscription) }, devices);
  const totalKopeks = quote.finalKopeks;
  const missingKopeks = Math.max(0, totalKopeks - buyer.balanceKopeks);
  await save(
    app,
    buyer,
    cartOf({ kind: 'devices', devices, quote }, { totalKopeks, missingKopeks, description: describeDevices(buyer, devices) }),
  );
}

async function subscriptionOf(app: App, actor: UserActor): Promise<{ buyer: Buyer; subscription: Subscription }> {
  const found = await requireBuyerDetails(app, actor);
  const { buyer, details } = found;
  if (!details) throw noSubscriptionForCart({ detail: text(buyer.language, 'errors.subscription_missing') });
  return { buyer, subscription: details.subscription };
}

function save(app: App, buyer: Buyer, cart: SavedCart): Promise<void> {
  return put(app, cartKey(buyer.id), cart, app.settings.get('CART_TTL_SECONDS'));
}

function tariffOf(app: App, { tariffId }: Subscription): Promise<Tariff | null> {
  return tariffId === null ? Promise.resolve(null) : findTariff(app, tariffId);
}
