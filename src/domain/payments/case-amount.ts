import { formatPrice } from '../../core/money.ts';
import type { PaymentCase } from './types.ts';

/** The amount of a case for an administrator, in its currency (none is roubles): `48.5 ₽`, `12.00 USD`, or `—` when none is known. */
export function caseAmount({ amountKopeks, currency }: Pick<PaymentCase, 'amountKopeks' | 'currency'>): string {
  if (amountKopeks === null) return '—';
  return currency === null || currency === 'RUB'
    ? formatPrice(amountKopeks, false)
    : `${(amountKopeks / 100).toFixed(2)} ${currency}`;
}
