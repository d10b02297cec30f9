import type { App } from '../../core/app.ts';
import { peek, put } from '../../core/short-lived.ts';
import { InsufficientFundsError } from './purchase/insufficient-funds.ts';
import type { SavedCart } from './types.ts';

/** Key of a user's saved order. */
export function cartKey(userId: number): string {
  return `user_cart:${userId}`;
}

/** The saved order of a user; null when there is none or its time (`CART_TTL_SECONDS`) is over. */
export function readCart(app: App, userId: number): Promise<SavedCart | null> {
  return peek<SavedCart>(app, cartKey(userId));
}

/**
 * Runs a sale; when it is refused for lack of money, saves its order and passes the refusal on (spec 02 section 5.15).
 * The refused sale is rolled back by then, hence the order is saved in a step of its own. A cart that cannot be saved never
 * changes the answer.
 */
export async function keepCartOnRefusal<T>(app: App, userId: number, sell: () => Promise<T>): Promise<T> {
  try {
    return await sell();
  } catch (error) {
    if (error instanceof InsufficientFundsError) {
      try {
        await put(app, cartKey(userId), error.cart, app.settings.get('CART_TTL_SECONDS'));
      } catch (failure) {
        app.log.warn({ err: failure, userId }, 'a cart could not be saved');
      }
    }
    throw error;
  }
}
