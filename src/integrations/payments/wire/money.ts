/** Amounts as providers write them (03a section 0.2): exact decimals, never floating point. */

/** Kopeks as decimal rubles with two places: 12345 becomes `123.45`. */
export function rublesText(kopeks: number): string {
  return `${Math.trunc(kopeks / 100)}.${String(kopeks % 100).padStart(2, '0')}`;
}

/** Kopeks as the shortest decimal rubles: 50000 becomes `500`, 50050 `500.5`. */
export function shortRublesText(kopeks: number): string {
  return rublesText(kopeks)
    .replace(/\.00$/, '')
    .replace(/(\.\d)0$/, '$1');
}

/**
 * A decimal of the wire in kopeks. `500`, `500.0` and `500.00` are equal; zeros beyond two places are accepted.
 * @returns null for anything else: a sign, an exponent, separators, fractions of a kopek
 */
export function kopeksFromText(text: string): number | null {
  const match = /^(\d{1,12})(?:\.(\d{1,2})(0*))?$/.exec(text);
  return match ? Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')) : null;
}
