import { createHash } from 'node:crypto';

/** Set by `npm test`, which prints it; unset, every case is tried: `npm run test:all`, and a file that is run by its name. */
const seed = process.env.MATRIX_SEED;

/** One case in so many is tried by `npm test`. */
const ONE_IN = 6;

/**
 * The cases of a large matrix that this run tries. Which ones depends on the seed and on the name of the case alone, so that another case
 * that is added or left out changes nothing for the others.
 * @param nameOf different for each case
 * @param isWhole whether a run without a seed tries all of them: not where they are long and another database tries them, too
 * @returns all of them, or a sixth of them (rounded up) in their order
 */
export function sampleOf<T>(cases: readonly T[], nameOf: (one: T) => string, isWhole = true): T[] {
  if (seed === undefined && isWhole) return [...cases];
  const rankOf = (one: T) =>
    createHash('sha1')
      .update(`${seed} ${nameOf(one)}`)
      .digest('hex');
  const chosen = new Set(
    cases
      .map((one) => ({ one, rank: rankOf(one) }))
      .sort((a, b) => (a.rank < b.rank ? -1 : 1))
      .slice(0, Math.ceil(cases.length / ONE_IN))
      .map(({ one }) => one),
  );
  return cases.filter((one) => chosen.has(one));
}

/** How much of something large a test makes. @param sample in `npm test`: the least that has all that `whole` shows */
export function amountOf(whole: number, sample: number): number {
  return seed === undefined ? whole : sample;
}
