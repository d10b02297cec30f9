import type { App } from '../../../core/app.ts';
import type { AppError } from '../../../core/errors.ts';
import { rublesOf } from '../../../core/money.ts';
import { accountKey } from '../../ledger/post-movement.ts';
import type { QuoteTotals } from '../../pricing/types.ts';
import { sendPush } from '../../provisioning/request-provisioning.ts';
import { SUBSCRIPTION_ACTIVATED, SUBSCRIPTION_RENEWED } from '../events.ts';
import { type SoldOrder, saleFacts } from '../order.ts';
import { columnsOf } from '../repo.ts';
import { cartKey } from '../saved-cart.ts';
import type { SubscriptionChanges, SubscriptionDetails, TrafficPurchase } from '../types.ts';
import { notifyAdminsOfSale } from './notify-admins.ts';
import { notifySale } from './notify-sale.ts';
import { writeSale } from './repo.ts';
import type { SaleRow } from './sale-row.ts';
import { type GivenQuote, type QuotedSale, requireQuoted } from './signed-quote.ts';
import type { SaleStart } from './types.ts';

/** A priced sale under the locks of `lockSaleStart`. */
export interface PricedSale {
  order: SoldOrder;
  changes: SubscriptionChanges;
  dropsPurchases: boolean;
  /** As in `SaleRow`. */
  serverPrices: SaleRow['server_prices'];
  /** A trial became paid (spec 02 H8). */
  conversion: { trialDurationDays: number; firstPaidPeriodDays: number } | null;
  /** The user counts as one who had a paid subscription (spec 02 section 3). */
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
  /** Whether users without a messenger get an e-mail (spec 02 section 5.16). */
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
