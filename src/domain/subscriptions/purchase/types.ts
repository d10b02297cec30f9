import type { ServerSquad, Tariff } from '../../catalog/types.ts';
import type { ContraAccount } from '../../ledger/types.ts';
import type { PricedUser } from '../../pricing/types.ts';
import type { SavedCart, Subscription, SubscriptionChanges, TrafficPurchase } from '../types.ts';
import type { BuyerRow } from './repo.ts';

/** What is sold, as the ledger distinguishes it. */
export type SalesProduct = Extract<ContraAccount, { kind: 'sales_revenue' }>['product'];

/** A user as far as buying and showing a subscription are concerned. */
export interface Buyer extends BuyerRow, PricedUser {}

/** What a sale starts from, read under the lock of the user's row, then of the subscription's, then of the tariffs'. */
export interface SaleStart {
  buyer: Buyer;
  subscription: Subscription | null;
  /** Of the subscription; null for a classic one. */
  currentTariff: Tariff | null;
  isCurrentTariffDaily: boolean;
  /** The tariff that is to be bought, active or not; null when none is ordered, or there is no such tariff. */
  orderedTariff: Tariff | null;
  /** Every server, where `SaleNeeds` asked for them; else empty. */
  servers: readonly ServerSquad[];
  /** What `SaleNeeds.reads` answered; null without it. */
  read: unknown;
}

/** What a sale needs besides the user and the subscription. */
export interface SaleNeeds {
  /** The id as the client sent it; the tariff cannot be deleted before the transaction ends (spec 02 H18). */
  orderedTariffId?: number;
  /** The current tariff cannot be deleted before the transaction ends. */
  locksCurrentTariff?: boolean;
  /** Servers: always, when the subscription has no tariff, or when the ordered tariff names none. Default: never. */
  servers?: 'always' | 'without_tariff' | 'for_open_tariff';
  /**
   * What else is read under the locks: the call of a VOLATILE plpgsql function that answers jsonb. Its parameters begin at $10. A constant
   * text, so that there are few statements to prepare.
   */
  reads?: { sql: string; values: readonly unknown[] };
}

/** What a paid sale writes. */
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
  /** As what it is charged; null = nothing is charged, and no row is added to the transactions. */
  product: SalesProduct | null;
  /** Shown in the list of transactions, and in the log of a discount that is used up. */
  description: string;
  /** The panel sets the used traffic back to zero. */
  resetsTraffic: boolean;
  /** The panel removes the user's devices. */
  resetsDevices: boolean;
  /** Row of the dashboard feed; null = none. */
  event: { type: 'purchase' | 'renewal' | 'activation'; extra: Record<string, unknown> } | null;
}
