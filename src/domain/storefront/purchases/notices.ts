import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { findUserById } from '../../identity/find-user.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { sendMail } from '../../messaging/send-mail.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';
import { takePassword } from './repo.ts';
import { recipientOf } from './rules.ts';
import type { FailureReason, GuestPurchase } from './types.ts';
import '../../identity/ports.ts';
import '../../messaging/ports.ts';

/** `delivered`: the subscription runs. `waiting`: the recipient has to consent first. */
export type RecipientNotice = 'delivered' | 'waiting';

/**
 * Notifies the recipient (spec 03 section 8.3), in the caller's transaction: by mail to an address, in the messenger for a gift.
 * Texts of the buyer are escaped (H23). The buyer of a gift gets nothing that opens the recipient's account.
 */
export async function notifyRecipient(
  t: App,
  purchase: GuestPurchase,
  notice: RecipientNotice,
  tariffName: string,
): Promise<void> {
  const recipient = recipientOf(purchase);
  if (recipient?.type === 'email') return mailRecipient(t, purchase, recipient.value, notice, tariffName);
  if (recipient?.type === 'messenger' && purchase.isGift) await messageRecipient(t, purchase, notice, tariffName);
}

async function mailRecipient(
  t: App,
  purchase: GuestPurchase,
  to: string,
  notice: RecipientNotice,
  tariffName: string,
): Promise<void> {
  const user = purchase.userId === null ? null : await findUserById(t, purchase.userId);
  const language = user?.language ?? purchase.language;
  // The recipient of a gift has a token of its own, with which to consent (spec 10 U4).
  const page = successUrl(t, purchase.isGift ? purchase.recipientToken : purchase.token);
  const type =
    notice === 'waiting' ? 'guest_activation_required' : purchase.isGift ? 'guest_gift_received' : 'guest_subscription_delivered';
  const password = await passwordFor(t, purchase);
  const params = {
    tariff_name: tariffName,
    period_days: purchase.order.periodDays,
    success_page_url: notice === 'waiting' && purchase.isGift ? `${page}?activate=1` : page,
    subscription_url: purchase.subscriptionUrl ?? '',
    is_gift: String(purchase.isGift),
    gift_message: purchase.giftMessage ?? '',
    is_existing_user: String(!purchase.accountCreated),
    cabinet_url: cabinetUrl(t),
    cabinet_email: to,
    cabinet_password: password ?? '',
  };
  await sendMail(t, { to, language, type, params });
  if (password !== null) await sendMail(t, { to, language, type: 'guest_cabinet_credentials', params });
}

/**
 * The password of an account that the purchase created, for its mails; with them it is deleted from the purchase.
 * @returns null when there is none, or no mail can be sent
 */
async function passwordFor(t: App, purchase: GuestPurchase): Promise<string | null> {
  if (!purchase.accountCreated || !t.ports.mail.isConfigured()) return null;
  return takePassword(t.db, purchase.id);
}

async function messageRecipient(t: App, purchase: GuestPurchase, notice: RecipientNotice, tariffName: string): Promise<void> {
  const user = purchase.userId === null ? null : await findUserById(t, purchase.userId);
  if (!user?.messengerId) return;
  const isWaiting = notice === 'waiting';
  const html = htmlText(user.language, isWaiting ? 'gifts.gift_waiting' : 'gifts.gift_delivered', {
    tariff_name: tariffName,
    period_days: purchase.order.periodDays,
    sender: purchase.buyer.value,
    message: purchase.giftMessage ?? '',
  });
  const button = { text: text(user.language, 'gifts.gift_activate'), callbackData: `gift_activate:${purchase.id}` };
  const link = { text: text(user.language, 'gifts.gift_open'), url: `${successUrl(t, purchase.recipientToken)}?activate=1` };
  const buttons = cabinetUrl(t) === '' ? [[button]] : [[button], [link]];
  await sendMessage(t, { messengerId: user.messengerId, html, ...(isWaiting ? { buttons } : {}) });
}

/** Sends the outcome of a purchase to the administrators' chat; in the caller's transaction. */
export async function notifyAdmins(
  t: App,
  purchase: GuestPurchase,
  outcome: 'admin_delivered' | 'admin_waiting',
  tariffName: string,
): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_PURCHASES_TOPIC_ID');
  if (chat === null) return;
  const values = { ...contactsOf(t, purchase), tariff_name: tariffName, period_days: purchase.order.periodDays };
  await sendMessage(t, { ...chat, html: htmlText(t.settings.get('DEFAULT_LANGUAGE'), `gifts.${outcome}`, values) });
}

/**
 * Alerts the administrators that a person has to act: money was taken and nothing was given, or the panel returns no link (spec 03 H21).
 * The log line is written even where no chat is set. In the caller's transaction.
 */
export async function alertAdmins(t: App, purchase: GuestPurchase, reason: FailureReason | 'links_missing'): Promise<void> {
  const { id, paymentId, amountKopeks } = purchase;
  t.log.error(
    { alarm: `guest_purchase_${reason}`, purchaseId: id, paymentId, amountKopeks },
    'a guest purchase needs manual action',
  );
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
  if (chat === null) return;
  const language = t.settings.get('DEFAULT_LANGUAGE');
  const html = htmlText(language, 'gifts.admin_alert', {
    ...contactsOf(t, purchase),
    reason: text(language, `gifts.reason_${reason}`),
    method: purchase.paymentMethod ?? '—',
    payment_id: paymentId ?? '—',
    advice: text(language, reason === 'links_missing' ? 'gifts.advice_panel' : 'gifts.advice_refund'),
  });
  await sendMessage(t, { ...chat, html });
}

function contactsOf(t: App, purchase: GuestPurchase) {
  return {
    what: text(t.settings.get('DEFAULT_LANGUAGE'), `gifts.what_${purchase.order.kind}`),
    purchase_id: purchase.id,
    amount: formatPrice(purchase.amountKopeks, false),
    buyer: purchase.buyer.value,
    recipient: recipientOf(purchase)?.value ?? '—',
  };
}

/** The page of the cabinet that shows a purchase. */
export function successUrl(app: App, token: string): string {
  return `${cabinetUrl(app)}/buy/success/${token}`;
}

/** The cabinet's own address, without a slash at the end. */
export function cabinetUrl(app: App): string {
  return app.settings.get('CABINET_URL').replace(/\/+$/, '');
}

/** Link to the bot, for a recipient who has not used it; null while its name is unknown. */
export function botLink(app: App): string | null {
  const name = app.ports.messengerIdentity.botUsername();
  return name ? app.ports.messenger.linkTo(name) : null;
}
