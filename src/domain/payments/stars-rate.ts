/** Converts Stars to kopeks and back (spec 03 section 2.5) in integers only: the rate is read as an exact decimal fraction. */

/** Rubles per star as a fraction of integers. */
interface Rate {
  numerator: bigint;
  denominator: bigint;
}

const DECIMAL = /^(\d{1,9})(?:\.(\d{1,9}))?$/;

/** @throws RangeError for a rate that is not a decimal above zero with at most nine places */
function parseRate(rateRub: number | string): Rate {
  const match = DECIMAL.exec(String(rateRub).trim());
  const fraction = match?.[2] ?? '';
  const numerator = match ? BigInt(`${match[1]}${fraction}`) : 0n;
  if (numerator === 0n) throw new RangeError('The Stars rate must be a decimal above zero');
  return { numerator, denominator: 10n ** BigInt(fraction.length) };
}

/** Quotient of two positive numbers, halves up. */
function divideHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

/**
 * Stars to ask for: `max(1, ceil(rubles / rate))`, so that they are worth at least the kopeks that are credited for them (03a section 1).
 * @param kopeks whole kopeks, not negative
 * @param rateRub rubles per star (`MESSENGER_STARS_RATE_RUB`)
 */
export function starsForKopeks(kopeks: number, rateRub: number | string): number {
  const { numerator, denominator } = parseRate(rateRub);
  const divisor = 100n * numerator;
  const stars = (BigInt(kopeks) * denominator + divisor - 1n) / divisor;
  return stars < 1n ? 1 : Number(stars);
}

/**
 * What stars without a stored price are worth: `stars * rate`, halves up to kopeks.
 * @param stars whole stars actually paid, not negative
 * @param rateRub rubles per star
 */
export function kopeksForStars(stars: number, rateRub: number | string): number {
  const { numerator, denominator } = parseRate(rateRub);
  return Number(divideHalfUp(BigInt(stars) * 100n * numerator, denominator));
}

/**
 * Kopeks that a price in stars takes from the balance: `trunc(stars * rate * 100)` (spec 04 section 13.2).
 * @param stars whole stars, not negative
 * @param rateRub rubles per star
 */
export function kopeksForStarsFloor(stars: number, rateRub: number | string): number {
  const { numerator, denominator } = parseRate(rateRub);
  return Number((BigInt(stars) * 100n * numerator) / denominator);
}
