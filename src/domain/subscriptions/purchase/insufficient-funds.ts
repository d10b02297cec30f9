import type { App } from '../../../core/app.ts';
import { type AppError, refuse } from '../../../core/errors.ts';
import { formatPrice } from '../../../core/money.ts';
import { text } from '../../messaging/texts.ts';
import { InsufficientFundsError } from '../errors.ts';
import type { SavedCart } from '../types.ts';
import type { Buyer } from './types.ts';

/**
 * The one 402 of everything that is paid from the balance, `{code: 'insufficient_funds', message, missing_amount}`; kopeks.
 * @param cart the order to keep for a later top-up (`keepCartOnRefusal` saves it); null = nothing is kept
 */
export function insufficientFunds(
  t: App,
  buyer: Pick<Buyer, 'language'>,
  missingKopeks: number,
  cart: SavedCart | null,
): AppError {
  const missing = formatPrice(missingKopeks, t.settings.get('PRICE_ROUNDING_ENABLED'));
  const message = text(buyer.language, 'errors.insufficient_funds', { missing });
  if (cart !== null) return new InsufficientFundsError({ message, missingKopeks, cart });
  return refuse('insufficient_funds', 402, { code: 'insufficient_funds', message, missing_amount: missingKopeks });
}
