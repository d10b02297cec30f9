/** Arithmetic on kopeks. Amounts are integers; only labels and `_rubles` fields have a fraction (spec 00, Money). */

const KOPEKS_IN_RUBLE = 100;
/** Percentages may have up to four decimals (`12.5`); they are scaled to an integer before they are applied to an amount. */
const PERCENT_SCALE = 10_000;

function assertKopeks(amount: number): void {
  if (!Number.isSafeInteger(amount)) throw new RangeError('An amount must be a whole number of kopeks');
}

/** The `_rubles` field of an amount, for answers only. */
export function rublesOf(kopeks: number): number {
  return kopeks / KOPEKS_IN_RUBLE;
}

/**
 * `floor(amount * percent / 100)`, exact for every safe integer.
 * @param amount kopeks, not negative
 * @param percent clamped to 0..100
 */
export function percentOf(amount: number, percent: number): number {
  assertKopeks(amount);
  if (amount < 0 || Number.isNaN(percent)) throw new RangeError('A percentage is taken of an amount that is not negative');
  const scaled = Math.round(Math.min(Math.max(percent, 0), 100) * PERCENT_SCALE);
  const product = amount * scaled;
  const divisor = 100 * PERCENT_SCALE;
  // The product of two integers is exact below 2^53, and so is its remainder; above, BigInt takes over.
  if (Number.isSafeInteger(product)) return (product - (product % divisor)) / divisor;
  return Number((BigInt(amount) * BigInt(scaled)) / BigInt(divisor));
}

/** The amount less a discount of `percent`; the discount is rounded down, so rounding never lowers the price. */
export function applyPercent(amount: number, percent: number): number {
  return amount - percentOf(amount, percent);
}

/**
 * Price label, e.g. `150 ₽` (spec 02 section 2.5). Kopeks are never dropped, because the label names what is charged (08 C6).
 * @param isRoundingEnabled setting PRICE_ROUNDING_ENABLED: kopeks have two digits, `48.50 ₽`. Otherwise zeros at the end are cut,
 * `48.5 ₽`
 */
export function formatPrice(kopeks: number, isRoundingEnabled: boolean): string {
  assertKopeks(kopeks);
  const size = Math.abs(kopeks);
  const rest = size % KOPEKS_IN_RUBLE;
  const whole = (size - rest) / KOPEKS_IN_RUBLE;
  const digits = String(rest).padStart(2, '0');
  const label = rest === 0 ? String(whole) : `${whole}.${isRoundingEnabled ? digits : digits.replace(/0$/, '')}`;
  return `${kopeks < 0 ? '-' : ''}${label} ₽`;
}
