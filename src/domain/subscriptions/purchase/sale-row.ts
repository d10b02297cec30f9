import type { ContraAccount } from '../../ledger/types.ts';
import type { SavedCart } from '../types.ts';

/** What is sold, as the ledger distinguishes it. */
export type SalesProduct = Extract<ContraAccount, { kind: 'sales_revenue' }>['product'];

/** A sale as `complete_sale()` in prisma/sql/sales.sql accepts it: these keys and no others. */
export interface SaleRow {
  user_id: number;
  /** Null = the changes are a new subscription. */
  subscription_id: number | null;
  /** Columns of subscriptions, see `CHANGED_FIELDS`. */
  changes: Record<string, unknown>;
  /** The panel sets the used traffic back to zero. */
  resets_traffic: boolean;
  /** The panel removes the user's devices. */
  resets_devices: boolean;
  amount_kopeks: number;
  /** The account of the revenue and what the list of transactions shows; null = nothing is charged, and no row is added there. */
  charge: { kind: 'sales_revenue'; key: string; description: string } | null;
  /** Row of the dashboard feed; null = none. */
  event: { type: 'purchase' | 'renewal' | 'activation'; extra: Record<string, unknown> } | null;
  drops_purchases: boolean;
  /** Expiry notices of the old dates are forgotten. */
  forgets_notices: boolean;
  /** The user counts as one who had a paid subscription. */
  marks_paid: boolean;
  /** The one-shot personal discount is used up. */
  consumes_offer: boolean;
  /** A traffic package to add. */
  traffic_purchase: { traffic_gb: number; expires_at: Date } | null;
  cart_key: string;
  /** The saved orders that this sale fulfils or outdates; null = any. */
  ends_carts: readonly SavedCart['cart_mode'][] | null;
  /** What each server is recorded to have cost by this sale, kopeks by squad uuid; connected squads without an entry cost 0. */
  server_prices: Readonly<Record<string, number>>;
  /** A trial became paid (spec 02 H8). */
  conversion: { trial_duration_days: number; first_paid_period_days: number } | null;
}

/** The keys of a `SaleRow`; a test compares them with those that the SQL function knows. */
export const SALE_KEYS = Object.keys({
  user_id: true,
  subscription_id: true,
  changes: true,
  resets_traffic: true,
  resets_devices: true,
  amount_kopeks: true,
  charge: true,
  event: true,
  drops_purchases: true,
  forgets_notices: true,
  marks_paid: true,
  consumes_offer: true,
  traffic_purchase: true,
  cart_key: true,
  ends_carts: true,
  server_prices: true,
  conversion: true,
} satisfies Record<keyof SaleRow, true>);
