import type { ServerSquad, Tariff } from '../../catalog/types.ts';
import type { PricedUser } from '../../pricing/types.ts';
import type { Subscription } from '../types.ts';
import type { BuyerRow } from './repo.ts';

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
   * What else is read under the locks: the call of a VOLATILE plpgsql function that returns jsonb. Its parameters begin at $10. A constant
   * text, so that there are few statements to prepare.
   */
  reads?: { sql: string; values: readonly unknown[] };
}
