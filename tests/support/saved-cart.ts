import type { App } from '../../src/core/app.ts';
import { peek } from '../../src/core/short-lived.ts';
import { cartKey } from '../../src/domain/subscriptions/saved-cart.ts';
import type { SavedCart } from '../../src/domain/subscriptions/types.ts';

/** The saved order of a user; null when there is none or it is older than `CART_TTL_SECONDS`. */
export function readCart(app: App, userId: number): Promise<SavedCart | null> {
  return peek<SavedCart>(app, cartKey(userId));
}
