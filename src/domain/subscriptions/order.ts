import type { SalesProduct } from './purchase/sale-row.ts';
import type { SavedCart } from './types.ts';

/**
 * What is bought: one type from the request to the sale. Quotes, saved orders, gifts, guests' purchases and sales carry it; the stored form of a
 * saved order is made and read in `saved-cart.ts`. Periods are days, traffic is GB.
 */
type Order =
  /** A subscription of chosen parts; `trafficGb` 0 = unlimited. */
  | { kind: 'classic'; periodDays: number; trafficGb: number; squadUuids: string[]; devices: number }
  /** `trafficGb` picked by the buyer; null = the tariff's own limit. A daily tariff is bought for one day. */
  | { kind: 'tariff'; tariffId: number; periodDays: number; trafficGb: number | null }
  /** A further period of the subscription that the buyer has. */
  | { kind: 'renewal'; periodDays: number }
  /** Another tariff for the rest of the time. */
  | { kind: 'switch'; tariffId: number }
  /** A day of the daily tariff that the buyer has. */
  | { kind: 'day' }
  /** A package on top of the limit; 0 = the unlimited one. */
  | { kind: 'traffic'; gb: number }
  /** Another package instead of the present one; 0 = unlimited. */
  | { kind: 'traffic_switch'; gb: number }
  /** How many to add. */
  | { kind: 'devices'; devices: number }
  /** All that are connected afterwards. */
  | { kind: 'servers'; squadUuids: string[] }
  | { kind: 'trial' }
  /** A tariff that a user gives. */
  | { kind: 'gift'; tariffId: number; periodDays: number }
  /** A tariff that a guest buys on a sales page, for themselves or another person. */
  | { kind: 'landing'; tariffId: number; periodDays: number };

export type OrderOf<Kind extends Order['kind']> = Extract<Order, { kind: Kind }>;

/** What the buyer chooses in a request whose kind is known. It is what repeats of an idempotency key are compared by. */
export type Choice<Kind extends Order['kind']> = Omit<OrderOf<Kind>, 'kind'>;

/** A sold tariff as stored until it is delivered; null = the tariff was deleted meanwhile. */
export type StoredOrder = Omit<OrderOf<'gift' | 'landing'>, 'tariffId'> & { tariffId: number | null };

/** Bought from the balance for the buyer's own subscription, by `completeSale`. */
export type SoldOrder = Exclude<Order, OrderOf<'gift' | 'landing'>>;

/** Of which a preview signs a price. */
export type QuotableOrder = OrderOf<'classic' | 'tariff' | 'renewal' | 'switch' | 'traffic' | 'devices' | 'gift'>;

/** Saved when the balance does not cover it, and bought after a top-up. */
export type SavableOrder = OrderOf<'classic' | 'tariff' | 'renewal' | 'traffic' | 'devices'>;

/** How a kind of order is written by `complete_sale()`. */
interface SaleFacts {
  /** As the ledger distinguishes it. */
  product: SalesProduct;
  /** The saved orders that it fulfils or outdates; null = any. */
  endsCarts: readonly SavedCart['cart_mode'][] | null;
  /** Nothing to pay leaves a row of 0 among the transactions. */
  hasFreeRow: boolean;
}

const SALE_FACTS: Record<SoldOrder['kind'], SaleFacts> = {
  classic: { product: 'classic', endsCarts: null, hasFreeRow: true },
  tariff: { product: 'tariff', endsCarts: null, hasFreeRow: true },
  renewal: { product: 'tariff', endsCarts: null, hasFreeRow: true },
  switch: { product: 'tariff', endsCarts: null, hasFreeRow: true },
  day: { product: 'daily', endsCarts: null, hasFreeRow: true },
  traffic: { product: 'traffic', endsCarts: ['add_traffic'], hasFreeRow: true },
  traffic_switch: { product: 'traffic', endsCarts: ['add_traffic'], hasFreeRow: false },
  devices: { product: 'devices', endsCarts: ['add_devices'], hasFreeRow: true },
  servers: { product: 'servers', endsCarts: [], hasFreeRow: false },
  trial: { product: 'trial', endsCarts: null, hasFreeRow: false },
};

/** @param hasTariff whether the subscription that is renewed has a tariff: a renewal is sold as what it renews */
export function saleFacts({ kind }: SoldOrder, hasTariff: boolean): SaleFacts {
  const facts = SALE_FACTS[kind];
  return kind === 'renewal' && !hasTariff ? { ...facts, product: 'classic' } : facts;
}
