import type { App } from '../../core/app.ts';
import { formatPrice } from '../../core/money.ts';
import { put } from '../../core/short-lived.ts';
import type { Tariff } from '../catalog/types.ts';
import type { MessengerButton } from '../messaging/ports.ts';
import { recipientOf, sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import type { AddOnQuote } from '../pricing/addons.ts';
import type { ClassicQuote } from '../pricing/classic-price.ts';
import type { TariffQuote } from '../pricing/tariff-price.ts';
import { notifyOwner } from './notify-owner.ts';
import type { OrderOf, SavableOrder } from './order.ts';
import { InsufficientFundsError } from './purchase/insufficient-funds.ts';
import { findBuyerDetails } from './purchase/repo.ts';
import type { Buyer } from './purchase/types.ts';
import type { SavedCart, Subscription, SubscriptionChanges } from './types.ts';

/** Key of a user's saved order. */
export function cartKey(userId: number): string {
  return `user_cart:${userId}`;
}

/** An order that the balance does not cover, with what its stored form shows besides it. */
export type UnpaidOrder =
  | OrderOf<'classic'>
  | (OrderOf<'renewal'> & { subscription: Subscription; quote: TariffQuote | ClassicQuote })
  | (OrderOf<'tariff'> & { tariff: Tariff; changes: SubscriptionChanges })
  | (OrderOf<'traffic'> & { subscription: Pick<Subscription, 'id'>; quote: AddOnQuote })
  | (OrderOf<'devices'> & { quote: AddOnQuote });

/** Price, the part of it that is missing, and what the list of transactions would show; kopeks. */
export interface UnpaidPrice {
  totalKopeks: number;
  missingKopeks: number;
  description: string;
}

/** The stored form of an order (spec 02 section 5.15); the only place that makes it. */
export function cartOf(order: UnpaidOrder, { totalKopeks, missingKopeks, description }: UnpaidPrice): SavedCart {
  const common = { source: 'cabinet', total_price: totalKopeks, missing_amount: missingKopeks, description } as const;
  switch (order.kind) {
    case 'renewal': {
      const { subscription, quote } = order;
      return {
        ...common,
        cart_mode: 'extend',
        subscription_id: subscription.id,
        tariff_id: subscription.tariffId,
        period_days: order.periodDays,
        discount_percent: quote.base.discountPercent,
        consume_promo_offer: quote.offerDiscountKopeks > 0,
        traffic_limit_gb: subscription.trafficLimitGb,
        device_limit: subscription.deviceLimit,
        allowed_squads: subscription.connectedSquads,
      };
    }
    case 'tariff': {
      const { tariff, changes } = order;
      const limits = {
        tariff_id: tariff.id,
        traffic_limit_gb: changes.trafficLimitGb ?? tariff.trafficLimitGb,
        device_limit: changes.deviceLimit ?? tariff.deviceLimit,
        allowed_squads: changes.connectedSquads ?? tariff.allowedSquads,
      };
      if (tariff.isDaily) {
        const daily = { is_daily: true, daily_price_kopeks: tariff.dailyPriceKopeks } as const;
        return { ...common, ...limits, ...daily, cart_mode: 'daily_tariff_purchase' };
      }
      const { periodDays, trafficGb } = order;
      return { ...common, ...limits, cart_mode: 'tariff_purchase', period_days: periodDays, custom_traffic_gb: trafficGb };
    }
    case 'classic':
      return {
        ...common,
        cart_mode: 'subscription_purchase',
        period_id: `days:${order.periodDays}`,
        period_days: order.periodDays,
        traffic_gb: order.trafficGb,
        countries: order.squadUuids,
        devices: order.devices,
      };
    case 'traffic':
      return {
        ...common,
        cart_mode: 'add_traffic',
        subscription_id: order.subscription.id,
        traffic_gb: order.gb,
        ...addOnKeys(order.quote),
      };
    case 'devices':
      return { ...common, cart_mode: 'add_devices', devices_to_add: order.devices, ...addOnKeys(order.quote) };
  }
}

function addOnKeys(quote: AddOnQuote) {
  return {
    price_kopeks: quote.finalKopeks,
    base_price_kopeks: quote.originalKopeks,
    discount_percent: quote.discountPercent,
  };
}

/**
 * The order of a stored row, also of one that an earlier release or the imported service has stored; the only place that reads it.
 * @returns null for a row from which no order can be read
 */
export function orderOfCart(cart: SavedCart): SavableOrder | null {
  switch (cart.cart_mode) {
    case 'extend':
      return complete({ kind: 'renewal', periodDays: cart.period_days });
    case 'tariff_purchase': {
      // Rows of the imported service have no choice of traffic.
      const trafficGb = cart.custom_traffic_gb ?? null;
      return complete({ kind: 'tariff', tariffId: cart.tariff_id, periodDays: cart.period_days, trafficGb });
    }
    case 'daily_tariff_purchase':
      return complete({ kind: 'tariff', tariffId: cart.tariff_id, periodDays: 1, trafficGb: null });
    case 'subscription_purchase': {
      const { period_days: periodDays, traffic_gb: trafficGb, countries: squadUuids, devices } = cart;
      return complete({ kind: 'classic', periodDays, trafficGb, squadUuids, devices });
    }
    case 'add_traffic':
      return complete({ kind: 'traffic', gb: cart.traffic_gb });
    case 'add_devices':
      return complete({ kind: 'devices', devices: cart.devices_to_add });
    default:
      return null;
  }
}

/** Null when a field is missing or not of its type: the row is JSON that another program may have written. */
function complete<O extends SavableOrder>(order: O): O | null {
  const isRead = ([field, value]: [string, unknown]) => {
    if (field === 'kind' || (field === 'trafficGb' && value === null)) return true;
    if (field === 'squadUuids') return Array.isArray(value) && value.every((uuid) => typeof uuid === 'string');
    return Number.isSafeInteger(value);
  };
  return Object.entries(order).every(isRead) ? order : null;
}

/**
 * Runs a sale; when it is refused for insufficient funds, saves its order and throws the refusal again.
 * The refused sale is rolled back by then, therefore the order is saved in a statement of its own. A cart that cannot be saved never
 * changes the answer.
 */
export async function keepCartOnRefusal<T>(app: App, userId: number, purchase: () => Promise<T>): Promise<T> {
  try {
    return await purchase();
  } catch (error) {
    if (error instanceof InsufficientFundsError) {
      try {
        await put(app, cartKey(userId), error.cart, app.settings.get('CART_TTL_SECONDS'));
      } catch (failure) {
        // Any failure: the refusal of the purchase is the answer.
        app.log.warn({ err: failure, userId }, 'a cart could not be saved');
      }
    }
    throw error;
  }
}

// Messages to the owner of a saved order after a top-up. All of them are queued in the caller's transaction.

/** The saved orders whose purchase sends an e-mail to owners without a messenger. */
const MAILED_BY_SALE: ReadonlySet<SavableOrder['kind'] | undefined> = new Set(['tariff', 'classic'] as const);

/** Tells the owner what was bought automatically (spec 02 section 5.16), unless the purchase itself sent an e-mail. */
export async function notifyOrderBought(t: App, before: Buyer, cart: SavedCart): Promise<void> {
  if (before.messengerId === null && MAILED_BY_SALE.has(orderOfCart(cart)?.kind)) return;
  const { buyer } = (await findBuyerDetails(t.db, before.id))!;
  await notifyOwner(t, recipientOf(buyer), 'order_bought', {
    description: cart.description,
    formatted_amount: formatPrice(before.balanceKopeks - buyer.balanceKopeks, false),
    formatted_balance: formatPrice(buyer.balanceKopeks, false),
  });
}

/** Tells the owner that the order was deleted and that the money is on the balance. */
export function notifyOrderRefused(t: App, buyer: Buyer, cart: SavedCart): Promise<void> {
  return notifyOwner(t, recipientOf(buyer), 'order_refused', {
    description: cart.description,
    formatted_balance: formatPrice(buyer.balanceKopeks, false),
  });
}

/** Tells the owner whether the balance covers the order now; only one with a messenger (spec 02 section 6, step 2). */
export async function notifySavedOrder(t: App, { messengerId, language, balanceKopeks }: Buyer, cart: SavedCart): Promise<void> {
  if (messengerId === null) return;
  const missing = cart.total_price - balanceKopeks;
  const values = { total: formatPrice(cart.total_price, false), balance: formatPrice(balanceKopeks, false) };
  const html =
    missing > 0
      ? htmlText(language, 'messages.topup_cart_missing', { ...values, missing: formatPrice(missing, false) })
      : htmlText(language, 'messages.topup_cart_covered', values);
  await sendMessage(t, { messengerId, html, buttons: cartButtons(t, language) });
}

/** Buttons to the order, the balance and the menu: in the mini-app if one is configured, else callbacks of the bot's menu. */
function cartButtons(t: App, language: string): MessengerButton[][] {
  const miniApp = t.settings.get('MINIAPP_CUSTOM_URL').trim().replace(/\/+$/, '');
  const button = (key: TextKey, path: string, callbackData: string): MessengerButton[] => [
    miniApp.startsWith('https://')
      ? { text: text(language, key), webAppUrl: `${miniApp}${path}` }
      : { text: text(language, key), callbackData },
  ];
  return [
    button('messages.button_checkout', '/subscription', 'return_to_saved_cart'),
    button('messages.button_balance', '/balance', 'menu_balance'),
    button('messages.button_menu', '', 'back_to_menu'),
  ];
}
