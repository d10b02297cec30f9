import type { PricedUser } from '../../pricing/types.ts';
import type { SavedCart, Subscription, SubscriptionChanges, TrafficPurchase } from '../types.ts';
import type { BuyerRow } from './repo.ts';

/** A user as far as buying and showing a subscription are concerned. */
export interface Buyer extends BuyerRow, PricedUser {}

/** What a sale starts from, all of it read under the lock of the user's row, then of the subscription's. */
export interface SaleStart {
  buyer: Buyer;
  subscription: Subscription | null;
  isCurrentTariffDaily: boolean;
}

/** What a paid sale writes besides the money. */
export interface SaleRecord {
  buyer: Buyer;
  /** Null = the fields are a new subscription. */
  subscription: Subscription | null;
  changes: SubscriptionChanges;
  dropsPurchases: boolean;
  /** A traffic package to add. */
  trafficPurchase: Pick<TrafficPurchase, 'trafficGb' | 'expiresAt'> | null;
  /** Expiry notices of the old dates are forgotten (spec 02 section 3.1). */
  forgetsNotices: boolean;
  /** The user counts as one who had a paid subscription (spec 02 section 3). */
  marksPaid: boolean;
  /** The saved orders that this sale fulfils or outdates; null = any. */
  endsCarts: readonly SavedCart['cart_mode'][] | null;
  /** The one-shot personal discount is used up. */
  consumesOffer: boolean;
  /** What each server is recorded to have cost by this sale, kopeks by squad uuid; connected squads without an entry cost 0. */
  serverPrices: Readonly<Record<string, number>>;
  /** A trial became paid (spec 02 H8). */
  conversion: { trialDurationDays: number; firstPaidPeriodDays: number } | null;
  amountKopeks: number;
  /** Null = nothing was charged. */
  transactionId: number | null;
  /** Row of the dashboard feed; null = none. */
  event: { type: 'purchase' | 'renewal' | 'activation'; extra: Record<string, unknown> } | null;
}
