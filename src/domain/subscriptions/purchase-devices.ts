import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refuse } from '../../core/errors.ts';
import { formatPrice, rublesOf } from '../../core/money.ts';
import { findTariff } from '../catalog/find-tariff.ts';
import { userNotFound } from '../identity/errors.ts';
import { runOnce } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { devicesLabel } from '../pricing/labels.ts';
import { noSubscription } from './errors.ts';
import { DEVICES_PURCHASED } from './events.ts';
import { beginSale } from './purchase/begin-sale.ts';
import { ADD_ON, completeSale } from './purchase/complete-sale.ts';
import { insufficientFundsForDevices } from './purchase/insufficient-funds.ts';
import { findHolding } from './purchase/repo.ts';
import type { Buyer } from './purchase/types.ts';
import type { WireObject } from './purchase-options.ts';
import { discountFields } from './purchase-traffic.ts';
import { type DeviceOffer, type DeviceRefusal, planDevices } from './rules/device-order.ts';
import { keepCartOnRefusal } from './saved-cart.ts';
import { pricingSettingsOf } from './settings.ts';
import type { SavedCart, Subscription } from './types.ts';

export interface DeviceOrder {
  /** How many to add, 1..100. */
  devices: number;
}

/**
 * Buys devices for the rest of the paid time from the balance, once per idempotency key (spec 02 section 5.5). The limit is judged under
 * the lock, so two purchases at once never pass the maximum together. Lack of money saves the order as the cart.
 * @param noneStatus of the refusal without subscription: the two doors of the cabinet differ
 * @returns the answer of `POST /cabinet/subscription/devices/purchase`
 * @throws AppError 403 restricted | 400 or 404 no_subscription | 400 subscription_inactive, devices_unavailable, devices_limit_exceeded | 402
 */
export function purchaseDevices(
  app: App,
  actor: UserActor,
  order: DeviceOrder & { idempotencyKey: string | null },
  noneStatus: 400 | 404 = 400,
): Promise<WireObject> {
  const { idempotencyKey, ...input } = order;
  return keepCartOnRefusal(app, actor.userId, () =>
    runOnce(app, actor, { key: idempotencyKey, operation: 'subscription.devices', input }, (t) =>
      purchaseDevicesInTransaction(t, actor.userId, input.devices, noneStatus),
    ),
  );
}

/**
 * What so many devices would cost, or why none are sold (spec 02 section 5.1). Never writes.
 * @returns the answer of `GET /cabinet/subscription/devices/price`
 */
export async function readDevicePrice(app: App, actor: UserActor, devices: number): Promise<WireObject> {
  const holding = await findHolding(app.db, actor.userId);
  if (!holding) throw userNotFound();
  const { buyer } = holding;
  const subscription = holding.details?.subscription;
  if (!subscription) return { available: false, reason: text(buyer.language, 'errors.subscription_not_active_now') };
  const judged = await judge(app, buyer, subscription, devices);
  if (judged.kind === 'refusal') return { available: false, reason: wordsOf(buyer, judged), ...boundsOf(subscription, judged) };
  const label = (kopeks: number) => formatPrice(kopeks, app.settings.get('PRICE_ROUNDING_ENABLED'));
  const { quote, terms, canAdd } = judged;
  const perDevice = Math.floor(quote.finalKopeks / devices);
  const { base_price_kopeks: base, ...discount } = discountFields(quote);
  return {
    available: true,
    devices,
    price_per_device_kopeks: perDevice,
    price_per_device_label: label(perDevice),
    total_price_kopeks: quote.finalKopeks,
    total_price_label: label(quote.finalKopeks),
    current_device_limit: subscription.deviceLimit,
    max_device_limit: terms.maxDevices,
    can_add: canAdd,
    days_left: quote.days,
    base_device_price_kopeks: terms.unitKopeks,
    ...(base === undefined ? {} : { ...discount, base_total_price_kopeks: base }),
  };
}

/** The sale itself in the caller's transaction: also for orders that run by themselves after a top-up (spec 02 section 6). */
export async function purchaseDevicesInTransaction(
  t: App,
  userId: number,
  devices: number,
  noneStatus: 400 | 404 = 400,
): Promise<WireObject> {
  const start = await beginSale(t, userId);
  const { buyer, subscription } = start;
  if (!subscription) {
    if (noneStatus === 404) throw noSubscription();
    throw refuse('no_subscription', 400, text(buyer.language, 'errors.subscription_missing'));
  }
  const { quote } = await offerDevices(t, buyer, subscription, devices);
  const description = describeDevices(buyer, devices);
  const newLimit = subscription.deviceLimit + devices;
  const sale = await completeSale(t, start, {
    ...ADD_ON,
    quote: { finalKopeks: quote.finalKopeks, offerDiscountKopeks: 0 },
    product: 'devices',
    changes: { deviceLimit: newLimit },
    dropsPurchases: false,
    endsCarts: ['add_devices'],
    description,
    refusal: (missing) =>
      insufficientFundsForDevices(buyer, quote.finalKopeks, devicesCart(devices, quote, missing, description)),
  });
  const paid = { amount_kopeks: quote.finalKopeks, amount_rubles: rublesOf(quote.finalKopeks) };
  const owner = { audience: 'user', userId } as const;
  await t.events.emit(DEVICES_PURCHASED, { devices_added: devices, new_device_limit: newLimit, ...paid }, owner);
  const label = (kopeks: number) => formatPrice(kopeks, t.settings.get('PRICE_ROUNDING_ENABLED'));
  return {
    success: true,
    message: text(buyer.language, 'subscriptions.devices_bought', { devices: devicesLabel(devices, buyer.language) }),
    devices_added: devices,
    new_device_limit: newLimit,
    price_kopeks: quote.finalKopeks,
    price_label: label(quote.finalKopeks),
    balance_kopeks: sale.balanceKopeks,
    balance_label: label(sale.balanceKopeks),
    ...discountFields(quote),
  };
}

/** @throws AppError 400 why these devices are not sold, in the user's language */
export async function offerDevices(app: App, buyer: Buyer, subscription: Subscription, devices: number): Promise<DeviceOffer> {
  const judged = await judge(app, buyer, subscription, devices);
  if (judged.kind === 'offer') return judged;
  const { language } = buyer;
  if ('max' in judged) throw refuse('devices_limit_exceeded', 400, text(language, 'errors.devices_maximum', { max: judged.max }));
  if (judged.reason === 'off') throw refuse('devices_unavailable', 400, text(language, 'errors.devices_purchase_off'));
  throw refuse('subscription_inactive', 400, text(language, 'errors.subscription_inactive'));
}

async function judge(app: App, buyer: Buyer, subscription: Subscription, devices: number) {
  const tariff = subscription.tariffId === null ? null : await findTariff(app, subscription.tariffId);
  const context = { user: buyer, settings: pricingSettingsOf(app), now: app.clock.now() };
  return planDevices(subscription, tariff, devices, context);
}

function wordsOf(buyer: Buyer, refusal: DeviceRefusal): string {
  switch (refusal.reason) {
    case 'inactive':
      return text(buyer.language, 'errors.subscription_not_active_now');
    case 'off':
      return text(buyer.language, 'errors.devices_purchase_off');
    case 'maximum':
      return text(buyer.language, 'errors.devices_maximum_reached');
    default:
      return text(buyer.language, 'errors.devices_can_add', { max: refusal.canAdd });
  }
}

function boundsOf(subscription: Subscription, refusal: DeviceRefusal): WireObject {
  if (!('max' in refusal)) return {};
  return {
    current_device_limit: subscription.deviceLimit,
    max_device_limit: refusal.max,
    can_add: refusal.canAdd,
  };
}

export function describeDevices(buyer: Pick<Buyer, 'language'>, devices: number): string {
  return text(buyer.language, 'subscriptions.transaction_devices', { devices: devicesLabel(devices, buyer.language) });
}

export function devicesCart(devices: number, quote: DeviceOffer['quote'], missingKopeks: number, description: string): SavedCart {
  return {
    source: 'cabinet',
    cart_mode: 'add_devices',
    devices_to_add: devices,
    total_price: quote.finalKopeks,
    missing_amount: missingKopeks,
    description,
    price_kopeks: quote.finalKopeks,
    base_price_kopeks: quote.originalKopeks,
    discount_percent: quote.discountPercent,
  };
}
