import type { App } from '../../core/app.ts';
import { formatPrice } from '../../core/money.ts';
import { recipientOf } from '../messaging/notify-user.ts';
import type { MessengerButton } from '../messaging/ports.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import { notifyOwner } from './notify-owner.ts';
import type { SavableOrder } from './order.ts';
import { findBuyerDetails } from './purchase/repo.ts';
import type { Buyer } from './purchase/types.ts';
import { orderOfCart } from './saved-cart.ts';
import type { SavedCart } from './types.ts';

/** Messages to the owner of a saved order after a top-up. All of them are queued in the caller's transaction. */

/** The saved orders whose purchase sends an e-mail to owners without a messenger (spec 02 sections 5.9 and 5.10). */
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

/** Buttons to the order, the balance and the menu: in the mini-app if one is configured, else callbacks of the bot's menu (spec 05 section 7). */
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
