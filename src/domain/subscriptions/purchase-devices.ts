import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { formatPrice, rublesOf } from '../../core/money.ts';
import { findTariff } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { type AddOnQuote, type DeviceTerms, deviceTerms, quoteDevices } from '../pricing/addons.ts';
import { devicesLabel } from '../pricing/periods.ts';
import type { PricedUser, PricingSettings } from '../pricing/types.ts';
import { noSubscription } from './errors.ts';
import { DEVICES_PURCHASED } from './events.ts';
import type { Choice, OrderOf } from './order.ts';
import { ADD_ON, completeSale, openSale, requireBuyer } from './purchase/complete-sale.ts';
import { insufficientFundsForDevices, requireBuyerDetails } from './purchase/insufficient-funds.ts';
import { type GivenQuote, type QuotedSale, readGivenQuote, signQuote } from './purchase/signed-quote.ts';
import type { Buyer, SaleStart } from './purchase/types.ts';
import { isPast } from './rules/status.ts';
import { cartOf, keepCartOnRefusal } from './saved-cart.ts';
import { pricingSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

export const noSubscriptionRefusal = refusal('no_subscription', 400, 'У вас нет подписки');
const devicesLimitExceeded = refusal('devices_limit_exceeded', 400, 'Maximum number of devices: {max}');
const devicesUnavailable = refusal('devices_unavailable', 400, 'Buying devices is not available');
const subscriptionInactive = refusal('subscription_inactive', 400, 'The subscription is not active');
export const DEVICES_REFUSES = [devicesLimitExceeded, devicesUnavailable, subscriptionInactive];

/** Devices that were bought; kopeks, and labels of the same amounts. */
export interface PurchasedDevices extends AddOnDiscount {
  /** In the user's language. */
  message: string;
  devicesAdded: number;
  newDeviceLimit: number;
  priceKopeks: number;
  priceLabel: string;
  balanceKopeks: number;
  balanceLabel: string;
}

/** What more devices would cost; kopeks, and labels of the same amounts. */
export interface AvailableDevices {
  available: true;
  devices: number;
  /** The total divided by the number, rounded down. */
  pricePerDeviceKopeks: number;
  pricePerDeviceLabel: string;
  totalPriceKopeks: number;
  totalPriceLabel: string;
  currentDeviceLimit: number;
  /** Null = no maximum. */
  maxDeviceLimit: number | null;
  canAdd: number | null;
  daysLeft: number;
  /** Of one device for 30 days, before any discount. */
  baseDevicePriceKopeks: number;
  /** These three only when something was taken off. */
  discountPercent?: number;
  discountKopeks?: number;
  baseTotalPriceKopeks?: number;
  /** Signed; see `requireQuoted`. */
  quote: string;
}

/** Why no devices are sold, in the user's language; the numbers only when there is a maximum. */
export interface UnavailableDevices {
  available: false;
  reason: string;
  currentDeviceLimit?: number;
  maxDeviceLimit?: number;
  canAdd?: number;
}

/**
 * Buys devices for the rest of the paid time from the balance, once per idempotency key (spec 02 section 5.5). The limit is checked under
 * the lock, so two purchases at once never exceed the maximum together. When the balance is too small, the order is saved as the cart.
 * @param request.devices how many to add, 1..100
 * @param noneStatus status of the refusal without a subscription: the two endpoints of the cabinet differ
 * @throws AppError 403 restricted | 400 or 404 no_subscription | 400 subscription_inactive, devices_unavailable, devices_limit_exceeded | 402 |
 * those of `requireQuoted`
 */
export async function purchaseDevices(
  app: App,
  actor: UserActor,
  request: Choice<'devices'> & { quote?: string | null | undefined; idempotencyKey: string | null },
  noneStatus: 400 | 404 = 400,
): Promise<PurchasedDevices> {
  const { quote, idempotencyKey, ...input } = request;
  const given = await readGivenQuote(app, quote);
  return keepCartOnRefusal(app, actor.userId, () =>
    runOnceFrom(
      app,
      actor,
      { key: idempotencyKey, operation: 'subscription.devices', input },
      (t, claim) => openSale(t, actor.userId, {}, claim),
      (t, start) => sellDevices(t, start, { kind: 'devices', ...input }, { noneStatus, given }),
    ),
  );
}

/** What so many devices would cost, or why none are sold. Never writes. @throws AppError 404 */
export async function readDevicePrice(
  app: App,
  actor: UserActor,
  devices: number,
): Promise<AvailableDevices | UnavailableDevices> {
  const found = await requireBuyerDetails(app, actor);
  const { buyer } = found;
  const subscription = found.details?.subscription;
  if (!subscription) return { available: false, reason: text(buyer.language, 'errors.subscription_not_active_now') };
  const tariff = subscription.tariffId === null ? null : await findTariff(app, subscription.tariffId);
  const plan = planFor(app, buyer, { subscription, tariff }, devices);
  if (plan.kind === 'refusal') return { available: false, reason: reasonOf(buyer, plan), ...boundsOf(subscription, plan) };
  const label = (kopeks: number) => formatPrice(kopeks, app.settings.get('PRICE_ROUNDING_ENABLED'));
  const { quote, terms, canAdd } = plan;
  const perDevice = Math.floor(quote.finalKopeks / devices);
  const { basePriceKopeks, ...discount } = addOnDiscount(quote);
  return {
    available: true,
    devices,
    pricePerDeviceKopeks: perDevice,
    pricePerDeviceLabel: label(perDevice),
    totalPriceKopeks: quote.finalKopeks,
    totalPriceLabel: label(quote.finalKopeks),
    currentDeviceLimit: subscription.deviceLimit,
    maxDeviceLimit: terms.maxDevices,
    canAdd,
    daysLeft: quote.days,
    baseDevicePriceKopeks: terms.unitKopeks,
    ...(basePriceKopeks === undefined ? {} : { ...discount, baseTotalPriceKopeks: basePriceKopeks }),
    quote: await signQuote(app, {
      ...{ ...quotedDevices(subscription, { kind: 'devices', devices }), userId: buyer.id, priceKopeks: quote.finalKopeks },
    }),
  };
}

/** The sale itself in the caller's transaction: also for orders that run by themselves after a top-up (spec 02 section 6). */
export async function purchaseDevicesInTransaction(t: App, userId: number, order: OrderOf<'devices'>): Promise<PurchasedDevices> {
  return sellDevices(t, (await openSale(t, userId)).start, order, {});
}

/** The sale itself; the caller has opened it and decided how many. */
export async function sellDevices(
  t: App,
  opened: SaleStart | null,
  order: OrderOf<'devices'>,
  { noneStatus = 400, given = null }: { noneStatus?: 400 | 404; given?: GivenQuote | null },
): Promise<PurchasedDevices> {
  const { devices } = order;
  const start = requireBuyer(opened);
  const { buyer, subscription } = start;
  if (!subscription) {
    if (noneStatus === 404) throw noSubscription();
    throw noSubscriptionRefusal({ detail: text(buyer.language, 'errors.subscription_missing') });
  }
  const { quote } = offerDevices(t, buyer, { subscription, tariff: start.currentTariff }, devices);
  const description = describeDevices(buyer, devices);
  const newLimit = subscription.deviceLimit + devices;
  const totalKopeks = quote.finalKopeks;
  const sale = await completeSale(t, start, {
    ...ADD_ON,
    order,
    quote: { finalKopeks: quote.finalKopeks, offerDiscountKopeks: 0 },
    quoted: { ...quotedDevices(subscription, order), given },
    changes: { deviceLimit: newLimit },
    dropsPurchases: false,
    description,
    refusal: (missingKopeks) =>
      insufficientFundsForDevices(buyer, totalKopeks, cartOf({ ...order, quote }, { totalKopeks, missingKopeks, description })),
  });
  const paid = { amount_kopeks: quote.finalKopeks, amount_rubles: rublesOf(quote.finalKopeks) };
  const owner = { audience: 'user', userId: buyer.id } as const;
  await t.events.emit(DEVICES_PURCHASED, { devices_added: devices, new_device_limit: newLimit, ...paid }, owner);
  const label = (kopeks: number) => formatPrice(kopeks, t.settings.get('PRICE_ROUNDING_ENABLED'));
  return {
    message: text(buyer.language, 'subscriptions.devices_bought', { devices: devicesLabel(devices, buyer.language) }),
    devicesAdded: devices,
    newDeviceLimit: newLimit,
    priceKopeks: quote.finalKopeks,
    priceLabel: label(quote.finalKopeks),
    balanceKopeks: sale.balanceKopeks,
    balanceLabel: label(sale.balanceKopeks),
    ...addOnDiscount(quote),
  };
}

/** @throws AppError 400 why these devices are not sold, in the user's language */
export function offerDevices(app: App, buyer: Buyer, target: DeviceTarget, devices: number): DeviceOffer {
  const plan = planFor(app, buyer, target, devices);
  if (plan.kind === 'offer') return plan;
  const { language } = buyer;
  if ('max' in plan) throw devicesLimitExceeded({ detail: text(language, 'errors.devices_maximum', { max: plan.max }) });
  if (plan.reason === 'off') throw devicesUnavailable({ detail: text(language, 'errors.devices_purchase_off') });
  throw subscriptionInactive({ detail: text(language, 'errors.subscription_inactive') });
}

function quotedDevices({ deviceLimit }: Subscription, order: OrderOf<'devices'>): Pick<QuotedSale, 'order' | 'delivered'> {
  return { order, delivered: { newDeviceLimit: deviceLimit + order.devices } };
}

/** Devices for which subscription, and its tariff. */
interface DeviceTarget {
  subscription: Subscription;
  tariff: Tariff | null;
}

function planFor(app: App, buyer: Buyer, { subscription, tariff }: DeviceTarget, devices: number) {
  const context = { user: buyer, settings: pricingSettingsOf(app), now: app.clock.now() };
  return planDevices(subscription, tariff, devices, context);
}

function reasonOf(buyer: Buyer, refusal: DeviceRefusal): string {
  switch (refusal.reason) {
    case 'inactive':
      return text(buyer.language, 'errors.subscription_not_active_now');
    case 'off':
      return text(buyer.language, 'errors.devices_purchase_off');
    case 'maximum':
      return text(buyer.language, 'errors.devices_maximum_reached', { max: refusal.max });
    default:
      return text(buyer.language, 'errors.devices_can_add', { max: refusal.canAdd });
  }
}

function boundsOf(subscription: Subscription, refusal: DeviceRefusal): Partial<UnavailableDevices> {
  if (!('max' in refusal)) return {};
  return { currentDeviceLimit: subscription.deviceLimit, maxDeviceLimit: refusal.max, canAdd: refusal.canAdd };
}

/** What the list of transactions shows, in the user's language. */
export function describeDevices(buyer: Pick<Buyer, 'language'>, devices: number): string {
  return text(buyer.language, 'subscriptions.transaction_devices', { devices: devicesLabel(devices, buyer.language) });
}

/** Why no devices are sold; the caller has the texts. */
type DeviceRefusal =
  | { kind: 'refusal'; reason: 'inactive' | 'off'; terms: DeviceTerms }
  | { kind: 'refusal'; reason: 'maximum' | 'too_many'; terms: DeviceTerms; canAdd: number; max: number };

type DeviceOffer = { kind: 'offer'; quote: AddOnQuote; terms: DeviceTerms; canAdd: number | null };

/**
 * Whether more devices are sold and at what price: the one rule of price, purchase and saved cart in both areas (spec 02 section 5.5, H28).
 * @param devices how many to add, 1 or more
 * @param tariff the tariff of the subscription; null for a classic one
 */
function planDevices(
  subscription: Pick<Subscription, 'status' | 'endDate' | 'deviceLimit'>,
  tariff: Tariff | null,
  devices: number,
  context: { user: PricedUser; settings: PricingSettings; now: Date },
): DeviceOffer | DeviceRefusal {
  const { user, settings, now } = context;
  const terms = deviceTerms(tariff, settings);
  const isLive = subscription.status === 'active' || subscription.status === 'trial';
  if (!isLive || isPast(subscription, now)) return { kind: 'refusal', reason: 'inactive', terms };
  if (terms.unitKopeks <= 0) return { kind: 'refusal', reason: 'off', terms };
  const currentLimit = subscription.deviceLimit;
  const max = terms.maxDevices;
  const canAdd = max === null ? null : Math.max(0, max - currentLimit);
  if (max !== null && canAdd !== null && devices > canAdd) {
    return { kind: 'refusal', reason: canAdd === 0 ? 'maximum' : 'too_many', terms, canAdd, max };
  }
  const { endDate } = subscription;
  const quote = quoteDevices({ terms, currentLimit, newLimit: currentLimit + devices, endDate, user, settings, now });
  return { kind: 'offer', quote, terms, canAdd };
}

/** What was taken off the price of an add-on; kopeks. Without a discount none of the fields is there. */
export interface AddOnDiscount {
  discountPercent?: number;
  discountKopeks?: number;
  /** The price before the discount. */
  basePriceKopeks?: number;
}

/** The fields of the discount of a quote. */
export function addOnDiscount(quote: AddOnQuote): AddOnDiscount {
  if (quote.discountKopeks <= 0) return {};
  return {
    discountPercent: quote.discountPercent,
    discountKopeks: quote.discountKopeks,
    basePriceKopeks: quote.originalKopeks,
  };
}
