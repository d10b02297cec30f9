import type { App } from '../../../core/app.ts';
import { rublesOf } from '../../../core/money.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import type { QuoteTotals } from '../../pricing/types.ts';
import { requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { InsufficientFundsError } from '../errors.ts';
import { SUBSCRIPTION_ACTIVATED, SUBSCRIPTION_RENEWED } from '../events.ts';
import { cartKey } from '../saved-cart.ts';
import type { SavedCart, SubscriptionDetails } from '../types.ts';
import { tellSale } from './notify-sale.ts';
import { writeSale } from './repo.ts';
import type { SaleRecord, SaleStart } from './types.ts';

/** A priced sale under the locks of `lockSaleStart`. */
export interface PricedSale extends Pick<SaleRecord, 'changes' | 'dropsPurchases' | 'serverPrices' | 'conversion'> {
  quote: QuoteTotals;
  product: 'tariff' | 'classic';
  /** Shown in the list of transactions. */
  description: string;
  /** Shown when the money does not suffice, and what is then saved. */
  refusal: (missingKopeks: number) => { message: string; cart: SavedCart };
  event: (balanceAfterKopeks: number) => SaleRecord['event'];
  tariffName: string | null;
  /** The panel sets the used traffic back to zero. */
  resetsTraffic: boolean;
  /** Whether users without a messenger are told by mail (spec 02 section 5.16). */
  isTold: boolean;
}

export interface CompletedSale {
  details: SubscriptionDetails;
  balanceKopeks: number;
  transactionId: number;
}

/**
 * Charges and grants, all in the caller's transaction (spec 02 H7): the movement, the subscription with everything that hangs
 * on it, the request to bring the panel in step, the owner's event and mail.
 * @throws InsufficientFundsError 402; nothing is changed then
 */
export async function completeSale(t: App, start: SaleStart, sale: PricedSale): Promise<CompletedSale> {
  const { buyer, subscription } = start;
  const { finalKopeks } = sale.quote;
  if (buyer.balanceKopeks < finalKopeks) throw insufficient(sale, finalKopeks - buyer.balanceKopeks);
  const posting = await postMovement(t, {
    userId: buyer.id,
    type: 'subscription_payment',
    amountKopeks: 0 - finalKopeks,
    counter: { kind: 'sales_revenue', product: sale.product },
    paymentMethod: 'balance',
    description: sale.description,
  });
  if (posting.outcome === 'insufficient') throw insufficient(sale, finalKopeks - posting.balanceKopeks);
  if (posting.outcome !== 'posted') throw new Error(`a charge under the user's lock ended as ${posting.outcome}`);

  const details = await writeSale(
    t.db,
    {
      buyer,
      subscription,
      changes: sale.changes,
      dropsPurchases: sale.dropsPurchases,
      consumesOffer: sale.quote.offerDiscountKopeks > 0,
      serverPrices: sale.serverPrices,
      conversion: sale.conversion,
      amountKopeks: finalKopeks,
      transactionId: posting.transactionId,
      event: sale.event(posting.balanceKopeks),
    },
    cartKey(buyer.id),
    t.clock.now(),
  );
  await requestProvisioning(t, details.subscription.id, { resetTraffic: sale.resetsTraffic });
  const endDate = details.subscription.endDate.toISOString();
  const owner = { audience: 'user', userId: buyer.id } as const;
  if (subscription === null) {
    await t.events.emit(SUBSCRIPTION_ACTIVATED, { expires_at: endDate, tariff_name: sale.tariffName ?? '' }, owner);
  } else {
    const amounts = { amount_kopeks: finalKopeks, amount_rubles: rublesOf(finalKopeks) };
    await t.events.emit(SUBSCRIPTION_RENEWED, { new_expires_at: endDate, ...amounts }, owner);
  }
  if (sale.isTold) await tellSale(t, buyer, details.subscription, { isNew: subscription === null, tariffName: sale.tariffName });
  return { details, balanceKopeks: posting.balanceKopeks, transactionId: posting.transactionId };
}

function insufficient(sale: PricedSale, missingKopeks: number): InsufficientFundsError {
  return new InsufficientFundsError({ ...sale.refusal(missingKopeks), missingKopeks });
}
