import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';
import { recipientOf } from './rules.ts';
import type { FailureReason, GuestPurchase } from './types.ts';

/** Sends the outcome of a purchase to the administrators' chat; in the caller's transaction. */
export async function notifyAdmins(
  t: App,
  purchase: GuestPurchase,
  outcome: 'admin_delivered' | 'admin_waiting',
  tariffName: string,
): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_PURCHASES_TOPIC_ID');
  if (chat === null) return;
  const values = { ...contactsOf(t, purchase), tariff_name: tariffName, period_days: purchase.periodDays };
  await sendMessage(t, { ...chat, html: htmlText(t.settings.get('DEFAULT_LANGUAGE'), `gifts.${outcome}`, values) });
}

/**
 * Alerts the administrators that a person has to act: money was taken and nothing was given, or the panel gives no link (spec 03 H21).
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
    what: text(t.settings.get('DEFAULT_LANGUAGE'), `gifts.what_${purchase.source}`),
    purchase_id: purchase.id,
    amount: formatPrice(purchase.amountKopeks, false),
    buyer: purchase.buyer.value,
    recipient: recipientOf(purchase)?.value ?? '—',
  };
}
