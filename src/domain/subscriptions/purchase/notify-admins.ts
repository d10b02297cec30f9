import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';
import type { Subscription } from '../types.ts';
import { dayOf } from './notify-sale.ts';
import type { SaleRow } from './sale-row.ts';
import type { SaleStart } from './types.ts';

/** Each kind of sale has its topic; its title is the text `subscriptions.admin_<kind>`. */
const TOPICS = {
  trial: 'ADMIN_NOTIFICATIONS_TRIALS_TOPIC_ID',
  purchase: 'ADMIN_NOTIFICATIONS_PURCHASES_TOPIC_ID',
  first_purchase: 'ADMIN_NOTIFICATIONS_PURCHASES_TOPIC_ID',
  switch: 'ADMIN_NOTIFICATIONS_PURCHASES_TOPIC_ID',
  renewal: 'ADMIN_NOTIFICATIONS_RENEWALS_TOPIC_ID',
  add_on: 'ADMIN_NOTIFICATIONS_ADDONS_TOPIC_ID',
} as const;

interface NoticedSale {
  event: SaleRow['event'];
  isTerm: boolean;
  amountKopeks: number;
  balanceAfterKopeks: number;
  description: string;
  tariffName: string | null;
}

/**
 * Notifies the administrators' chat of a sale, in the caller's transaction and without a statement of its own: one place for every
 * operation that sells (spec 02 section 5.16). A resumed daily tariff is no sale to report.
 */
export async function notifyAdminsOfSale(t: App, { buyer, subscription }: SaleStart, after: Subscription, sale: NoticedSale) {
  const kind = kindOf(sale, buyer.hasHadPaidSubscription);
  const chat = kind && adminChat(t, TOPICS[kind]);
  if (!kind || !chat) return;
  const language = t.settings.get('DEFAULT_LANGUAGE');
  const html = htmlText(language, 'subscriptions.admin_sale', {
    title: text(language, `subscriptions.admin_${kind}`),
    user: `#${buyer.id} (${buyer.messengerId ?? buyer.email ?? '—'})`,
    description: sale.description,
    tariff_name: sale.tariffName ?? '—',
    amount: formatPrice(sale.amountKopeks, false),
    balance: formatPrice(sale.balanceAfterKopeks, false),
    expires_at: dayOf(after.endDate),
    traffic: changeOf(subscription?.trafficLimitGb, after.trafficLimitGb, (gb) => (gb === 0 ? '∞' : String(gb))),
    devices: changeOf(subscription?.deviceLimit, after.deviceLimit, String),
  });
  await sendMessage(t, { ...chat, html });
}

function kindOf({ event, isTerm }: NoticedSale, hasPaidBefore: boolean): keyof typeof TOPICS | null {
  if (event === null) return isTerm ? null : 'add_on';
  if (event.type === 'activation') return 'trial';
  if (event.type === 'renewal') return 'renewal';
  if (event.extra.purchase_type === 'tariff_switch') return 'switch';
  return hasPaidBefore ? 'purchase' : 'first_purchase';
}

/** `100 → 150`, or one value where nothing changed. */
function changeOf(before: number | undefined, after: number, label: (value: number) => string): string {
  return before === undefined || before === after ? label(after) : `${label(before)} → ${label(after)}`;
}
