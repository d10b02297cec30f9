import type { App } from '../../../core/app.ts';
import { type AppError, refusal } from '../../../core/errors.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import type { Tariff } from '../../catalog/types.ts';
import { userNotFound } from '../../identity/errors.ts';
import { accountKey } from '../../ledger/post-movement.ts';
import type { KeyClaim, Opened } from '../../ledger/run-once.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { sendMail } from '../../messaging/send-mail.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';
import type { QuoteTotals } from '../../pricing/types.ts';
import { sendPush } from '../../provisioning/request-provisioning.ts';
import { SUBSCRIPTION_ACTIVATED, SUBSCRIPTION_RENEWED } from '../events.ts';
import { type SoldOrder, saleFacts } from '../order.ts';
import { columnsOf } from '../repo.ts';
import { type SubscriptionView, viewSubscription } from '../rules/view.ts';
import { cartKey } from '../saved-cart.ts';
import { pricingSettingsOf } from '../settings.ts';
import type { Subscription, SubscriptionChanges, SubscriptionDetails, TrafficPurchase } from '../types.ts';
import { openSaleStart, writeSale } from './repo.ts';
import type { SaleRow } from './sale-row.ts';
import { type GivenQuote, type QuotedSale, requireQuoted } from './signed-quote.ts';
import type { Buyer, SaleNeeds, SaleStart } from './types.ts';

/** A priced sale under the locks of `lockSaleStart`. */
export interface PricedSale {
  order: SoldOrder;
  changes: SubscriptionChanges;
  dropsPurchases: boolean;
  /** As in `SaleRow`. */
  serverPrices: SaleRow['server_prices'];
  /** A trial became paid (spec 02 H8). */
  conversion: { trialDurationDays: number; firstPaidPeriodDays: number } | null;
  /** The user counts as one who had a paid subscription. */
  marksPaid: boolean;
  /** A traffic package to add. Default: none. */
  trafficPurchase?: Pick<TrafficPurchase, 'trafficGb' | 'expiresAt'> | null;
  /** No saved order is outdated by it. Default: those that `saleFacts` names are. */
  keepsCarts?: boolean;
  quote: Pick<QuoteTotals, 'finalKopeks' | 'offerDiscountKopeks'>;
  /** The order as its preview quotes it, and the quote that the client sent back, null = none. Default: it has no quotes. */
  quoted?: Pick<QuotedSale, 'order' | 'delivered'> & { given: GivenQuote | null };
  /** Shown in the list of transactions. */
  description: string;
  /** The answer when the money does not suffice. */
  refusal: (missingKopeks: number) => AppError;
  event: (balanceAfterKopeks: number) => SaleRow['event'];
  tariffName: string | null;
  /** Time was bought: notices of the old end are deleted, the owner is notified of the new one. */
  isTerm: boolean;
  /** The panel sets the used traffic back to zero. */
  resetsTraffic: boolean;
  /** The panel removes the user's devices. Default: it does not. */
  resetsDevices?: boolean;
  /** Whether users without a messenger get an e-mail. */
  sendsMail: boolean;
}

/** What traffic and devices bought in the middle of a period leave as it is: dates, trial, notices, the dashboard feed. */
export const ADD_ON = {
  serverPrices: {},
  conversion: null,
  event: () => null,
  tariffName: null,
  isTerm: false,
  marksPaid: false,
  resetsTraffic: false,
  sendsMail: false,
} satisfies Partial<PricedSale>;

export interface CompletedSale {
  details: SubscriptionDetails;
  balanceKopeks: number;
  /** Null = nothing was charged. */
  transactionId: number | null;
}

/**
 * Charges and grants, all in the caller's transaction (spec 02 H7): the movement, the subscription with everything that depends
 * on it, the request to update the panel, the owner's event and mail.
 * @throws AppError 402, the sale's own refusal, and those of `requireQuoted`; nothing is changed then
 */
export async function completeSale(t: App, start: SaleStart, sale: PricedSale): Promise<CompletedSale> {
  const { buyer, subscription } = start;
  const { finalKopeks } = sale.quote;
  if (sale.quoted) {
    const { given, ...quoted } = sale.quoted;
    requireQuoted(given, { ...quoted, userId: buyer.id, priceKopeks: finalKopeks }, t.clock.now());
  }
  if (buyer.balanceKopeks < finalKopeks) throw sale.refusal(finalKopeks - buyer.balanceKopeks);
  const { product, endsCarts, hasFreeRow } = saleFacts(sale.order, start.currentTariff !== null);
  const isCharged = finalKopeks > 0 || hasFreeRow;
  const balanceAfter = buyer.balanceKopeks - finalKopeks;
  const event = sale.event(balanceAfter);
  // complete_sale() records the events of the movement, behind those that were sent before.
  await t.db.effects?.write();
  const account = { kind: 'sales_revenue', product } as const;
  const { conversion, trafficPurchase = null } = sale;
  const row: SaleRow = {
    user_id: buyer.id,
    subscription_id: subscription?.id ?? null,
    changes: columnsOf(sale.changes),
    resets_traffic: sale.resetsTraffic,
    resets_devices: sale.resetsDevices ?? false,
    amount_kopeks: finalKopeks,
    charge: isCharged ? { kind: account.kind, key: accountKey(account), description: sale.description } : null,
    event,
    drops_purchases: sale.dropsPurchases,
    forgets_notices: sale.isTerm,
    marks_paid: sale.marksPaid,
    consumes_offer: sale.quote.offerDiscountKopeks > 0,
    traffic_purchase: trafficPurchase && { traffic_gb: trafficPurchase.trafficGb, expires_at: trafficPurchase.expiresAt },
    cart_key: cartKey(buyer.id),
    ends_carts: sale.keepsCarts ? [] : endsCarts,
    server_prices: sale.serverPrices,
    conversion: conversion && {
      trial_duration_days: conversion.trialDurationDays,
      first_paid_period_days: conversion.firstPaidPeriodDays,
    },
  };
  const log = { description: sale.description, now: t.clock.now() };
  const { outcome, transactionId, balanceKopeks, saved } = await writeSale(t.db, row, log);
  if (outcome === 'insufficient') throw sale.refusal(finalKopeks - balanceKopeks!);
  if (saved === null) throw new Error(`a charge under the user's lock ended as ${outcome}`);
  await sendPush(t, saved.subscription.id);
  if (sale.isTerm) await announceTerm(t, start, sale, saved);
  if (sale.sendsMail)
    await notifySale(t, buyer, saved.subscription, {
      isNew: subscription === null || subscription.isTrial,
      tariffName: sale.tariffName,
    });
  const { isTerm, description, tariffName } = sale;
  const noticed = { event, isTerm, description, tariffName, amountKopeks: finalKopeks, balanceAfterKopeks: balanceAfter };
  await notifyAdminsOfSale(t, start, saved.subscription, noticed);
  return { details: saved, balanceKopeks: balanceAfter, transactionId };
}

async function announceTerm(t: App, { buyer, subscription }: SaleStart, sale: PricedSale, details: SubscriptionDetails) {
  const endDate = details.subscription.endDate.toISOString();
  const owner = { audience: 'user', userId: buyer.id } as const;
  // An order that was never paid was no subscription yet, and what follows a trial is the first one that is paid (08 C4).
  if (subscription === null || subscription.status === 'pending' || subscription.isTrial) {
    await t.events.emit(SUBSCRIPTION_ACTIVATED, { expires_at: endDate, tariff_name: sale.tariffName ?? '' }, owner);
  } else {
    const { finalKopeks } = sale.quote;
    const amounts = { amount_kopeks: finalKopeks, amount_rubles: rublesOf(finalKopeks) };
    await t.events.emit(SUBSCRIPTION_RENEWED, { new_expires_at: endDate, ...amounts }, owner);
  }
}

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
 * operation that sells. A resumed daily tariff is no sale to report.
 */
async function notifyAdminsOfSale(t: App, { buyer, subscription }: SaleStart, after: Subscription, sale: NoticedSale) {
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

/**
 * Notifies users with a verified e-mail and without a messenger of a purchase: an e-mail, and `notification.{type}` with the same
 * context on their sockets. Both belong to the caller's transaction. Blocked and deleted users, whose
 * saved order a late payment may still buy, are not notified.
 */
async function notifySale(
  t: App,
  buyer: Buyer,
  subscription: Subscription,
  sale: { isNew: boolean; tariffName: string | null },
): Promise<void> {
  if (buyer.status !== 'active' || buyer.messengerId !== null || buyer.email === null || !buyer.emailVerified) return;
  const type = sale.isNew ? 'subscription_activated' : 'subscription_renewed';
  const date = dayOf(subscription.endDate);
  const context = {
    expires_at: date,
    new_expires_at: date,
    traffic_limit_gb: subscription.trafficLimitGb,
    device_limit: subscription.deviceLimit,
    tariff_name: sale.tariffName ?? '',
  };
  await sendMail(t, { to: buyer.email, language: buyer.language, type, params: context });
  await t.events.emit(`notification.${type}`, context, { audience: 'user', userId: buyer.id });
}

/** `dd.mm.yyyy` in UTC. */
export function dayOf(timestamp: Date): string {
  const [year, month, day] = timestamp.toISOString().slice(0, 10).split('-');
  return `${day}.${month}.${year}`;
}

export const subscriptionRestricted = refusal(
  'subscription_restricted',
  403,
  'Subscription purchases are restricted for this account',
);

/**
 * The first statement of everything that is bought from the balance, the same for both areas: claims the idempotency key, locks user,
 * subscription and tariff in this order, and reads what the rules decide from. In the caller's transaction.
 * @param claim null = there is no key
 */
export function openSale(
  t: App,
  userId: number,
  needs: SaleNeeds = {},
  claim: KeyClaim | null = null,
): Promise<Opened<SaleStart | null>> {
  return openSaleStart(t.db, userId, needs, claim);
}

/**
 * Refuses users who may not buy (spec 02 H6), before anything else of the order is judged.
 * @param restricted the message for a user with `restriction_subscription`
 * @throws AppError 404 'User not found' | 403 restricted
 */
export function requireBuyer(
  start: SaleStart | null,
  restricted = 'Subscription purchases are restricted for this account',
): SaleStart {
  if (!start) throw userNotFound();
  if (start.buyer.restrictionSubscription) throw subscriptionRestricted({ detail: restricted });
  return start;
}

/**
 * The subscription as its owner sees it after a sale, for the sale's answer (spec 02 sections 5.7 to 5.11).
 * @param sold.tariff the tariff of the subscription by now; null for a classic one
 * @param sold.usedOffer this very sale used the personal offer up, so that no price shown beside it carries it any more
 */
export function soldSubscription(
  t: App,
  sold: { buyer: Buyer; tariff: Tariff | null; sale: CompletedSale; usedOffer: boolean },
): SubscriptionView {
  const { details } = sold.sale;
  return viewSubscription({
    subscription: details.subscription,
    tariff: sold.tariff,
    purchases: details.purchases,
    squads: details.servers,
    user: sold.usedOffer ? { ...sold.buyer, promoOfferDiscountPercent: 0 } : sold.buyer,
    settings: pricingSettingsOf(t),
    hideSubscriptionLink: t.settings.get('HIDE_SUBSCRIPTION_LINK'),
    defaultTrafficReset: t.settings.get('DEFAULT_TRAFFIC_RESET_STRATEGY'),
    now: t.clock.now(),
  });
}
