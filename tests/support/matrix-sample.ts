import { createHash } from 'node:crypto';

/** Set by `npm test` and `npm run test:all`, which print it. Unset, every case is tried: a file that is run by its name, and `-- --every`. */
const seed = process.env.MATRIX_SEED;
/** Set by `npm run test:all`, which tries every case but of the longest matrices. */
const isAll = process.env.MATRIX_ALL !== undefined;

/** One case in so many is tried by `npm test`; of the longest matrices a quarter of that. */
const ONE_IN = 6;

/**
 * The cases of a large matrix that this run tries. Which ones depends on the seed and on the name of the case alone, so that another case
 * that is added or left out changes nothing for the others.
 * @param nameOf different for each case
 * @param oneInOfAll of the longest matrices one in so many is enough for `npm run test:all`
 * @returns in their order
 */
export function sampleOf<T>(cases: readonly T[], nameOf: (one: T) => string, oneInOfAll = 1): T[] {
  const oneIn = isAll ? oneInOfAll : oneInOfAll > 1 ? 4 * ONE_IN : ONE_IN;
  if (seed === undefined || oneIn === 1) return [...cases];
  const rankOf = (one: T) =>
    createHash('sha1')
      .update(`${seed} ${nameOf(one)}`)
      .digest('hex');
  const chosen = new Set(
    cases
      .map((one) => ({ one, rank: rankOf(one) }))
      .sort((a, b) => (a.rank < b.rank ? -1 : 1))
      .slice(0, Math.ceil(cases.length / oneIn))
      .map(({ one }) => one),
  );
  return cases.filter((one) => chosen.has(one));
}

/**
 * The least share of the cases tried for which something must be true, where it must be of `share` of all of them: less for a sample, by
 * more than four times what chance makes of it.
 */
export function leastShare(share: number, tried: number, all: number): number {
  return tried === all ? share : share - 1.5 / Math.sqrt(tried);
}

/** How much of something large a test makes. @param sample in `npm test`: the least that has all that `whole` shows */
export function amountOf(whole: number, sample: number): number {
  return seed === undefined || isAll ? whole : sample;
}
