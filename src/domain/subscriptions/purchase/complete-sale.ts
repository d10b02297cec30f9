import type { App } from '../../../core/app.ts';
import type { AppError } from '../../../core/errors.ts';
import { rublesOf } from '../../../core/money.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import type { ContraAccount } from '../../ledger/types.ts';
import type { QuoteTotals } from '../../pricing/types.ts';
import { requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { SUBSCRIPTION_ACTIVATED, SUBSCRIPTION_RENEWED } from '../events.ts';
import { cartKey } from '../saved-cart.ts';
import type { SubscriptionDetails } from '../types.ts';
import { notifySale } from './notify-sale.ts';
import { recordConsumedOffer } from './record-consumed-offer.ts';
import { writeSale } from './repo.ts';
import type { Buyer, SaleRecord, SaleStart } from './types.ts';

/** A priced sale under the locks of `lockSaleStart`. */
export interface PricedSale
  extends Pick<SaleRecord, 'changes' | 'dropsPurchases' | 'serverPrices' | 'conversion' | 'marksPaid'>,
    Partial<Pick<SaleRecord, 'trafficPurchase' | 'endsCarts'>> {
  quote: Pick<QuoteTotals, 'finalKopeks' | 'offerDiscountKopeks'>;
  product: SalesProduct;
  /** Nothing to pay leaves no row among the transactions either. Default: a row of 0. */
  skipsFreeRow?: boolean;
  /** Shown in the list of transactions. */
  description: string;
  /** The answer when the money does not suffice. */
  refusal: (missingKopeks: number) => AppError;
  event: (balanceAfterKopeks: number) => SaleRecord['event'];
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

type SalesProduct = Extract<ContraAccount, { kind: 'sales_revenue' }>['product'];

export interface CompletedSale {
  details: SubscriptionDetails;
  balanceKopeks: number;
  /** Null = nothing was charged. */
  transactionId: number | null;
}

/**
 * Charges and grants, all in the caller's transaction (spec 02 H7): the movement, the subscription with everything that depends
 * on it, the request to update the panel, the owner's event and mail.
 * @throws AppError 402, the sale's own refusal; nothing is changed then
 */
export async function completeSale(t: App, start: SaleStart, sale: PricedSale): Promise<CompletedSale> {
  const { buyer, subscription } = start;
  const { finalKopeks } = sale.quote;
  const posting = await charge(t, buyer, sale);
  const consumesOffer = sale.quote.offerDiscountKopeks > 0;
  if (consumesOffer) {
    const { description } = sale;
    await recordConsumedOffer(t, { userId: buyer.id, description, amountKopeks: finalKopeks, paidBy: 'balance' });
  }
  const details = await writeSale(
    t.db,
    {
      buyer,
      subscription,
      changes: sale.changes,
      dropsPurchases: sale.dropsPurchases,
      trafficPurchase: sale.trafficPurchase ?? null,
      forgetsNotices: sale.isTerm,
      marksPaid: sale.marksPaid,
      endsCarts: sale.endsCarts ?? null,
      consumesOffer,
      serverPrices: sale.serverPrices,
      conversion: sale.conversion,
      amountKopeks: finalKopeks,
      transactionId: posting.transactionId,
      event: sale.event(posting.balanceKopeks),
    },
    cartKey(buyer.id),
    t.clock.now(),
  );
  await requestProvisioning(t, details.subscription.id, {
    resetTraffic: sale.resetsTraffic,
    resetDevices: sale.resetsDevices ?? false,
  });
  if (sale.isTerm) await announceTerm(t, start, sale, details);
  if (sale.sendsMail)
    await notifySale(t, buyer, details.subscription, { isNew: subscription === null, tariffName: sale.tariffName });
  return { details, balanceKopeks: posting.balanceKopeks, transactionId: posting.transactionId };
}

async function charge(t: App, buyer: Buyer, sale: PricedSale): Promise<{ transactionId: number | null; balanceKopeks: number }> {
  const { finalKopeks } = sale.quote;
  if (buyer.balanceKopeks < finalKopeks) throw sale.refusal(finalKopeks - buyer.balanceKopeks);
  if (finalKopeks === 0 && sale.skipsFreeRow) return { transactionId: null, balanceKopeks: buyer.balanceKopeks };
  const posting = await postMovement(t, {
    userId: buyer.id,
    type: 'subscription_payment',
    amountKopeks: 0 - finalKopeks,
    contra: { kind: 'sales_revenue', product: sale.product },
    paymentMethod: 'balance',
    description: sale.description,
  });
  if (posting.outcome === 'insufficient') throw sale.refusal(finalKopeks - posting.balanceKopeks);
  if (posting.outcome !== 'posted') throw new Error(`a charge under the user's lock ended as ${posting.outcome}`);
  return posting;
}

async function announceTerm(t: App, { buyer, subscription }: SaleStart, sale: PricedSale, details: SubscriptionDetails) {
  const endDate = details.subscription.endDate.toISOString();
  const owner = { audience: 'user', userId: buyer.id } as const;
  // An order that was never paid was no subscription yet.
  if (subscription === null || subscription.status === 'pending') {
    await t.events.emit(SUBSCRIPTION_ACTIVATED, { expires_at: endDate, tariff_name: sale.tariffName ?? '' }, owner);
  } else {
    const { finalKopeks } = sale.quote;
    const amounts = { amount_kopeks: finalKopeks, amount_rubles: rublesOf(finalKopeks) };
    await t.events.emit(SUBSCRIPTION_RENEWED, { new_expires_at: endDate, ...amounts }, owner);
  }
}
