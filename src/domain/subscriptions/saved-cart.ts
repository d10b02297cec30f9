import type { App } from '../../core/app.ts';
import { put } from '../../core/short-lived.ts';
import { InsufficientFundsError } from './purchase/insufficient-funds.ts';

/** Key of a user's saved order. */
export function cartKey(userId: number): string {
  return `user_cart:${userId}`;
}

/**
 * Runs a sale; when it is refused for insufficient funds, saves its order and throws the refusal again (spec 02 section 5.15).
 * The refused sale is rolled back by then, therefore the order is saved in a statement of its own. A cart that cannot be saved never
 * changes the answer.
 */
export async function keepCartOnRefusal<T>(app: App, userId: number, purchase: () => Promise<T>): Promise<T> {
  try {
    return await purchase();
  } catch (error) {
    if (error instanceof InsufficientFundsError) {
      try {
        await put(app, cartKey(userId), error.cart, app.settings.get('CART_TTL_SECONDS'));
      } catch (failure) {
        // Any failure: the refusal of the purchase is the answer.
        app.log.warn({ err: failure, userId }, 'a cart could not be saved');
      }
    }
    throw error;
  }
}
