import type { Random } from '../../../core/random.ts';

/** The chances of the wheel (spec 04 section 13.3), pure. */

export interface OddsPrize {
  /** Kopeks. */
  prizeValueKopeks: number;
  manualProbability: number | null;
}

const MIN_WEIGHT = 0.01;
/** Steps of a draw: the precision of a double, within the range of the random source. */
const DRAW_STEPS = 2 ** 47;

const isManual = (prize: OddsPrize) => prize.manualProbability !== null && prize.manualProbability > 0;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/**
 * The chance of each prize, in the order given; they sum to 1. Manual chances stay; the rest is distributed by weight; where that
 * would pay out more than `rtpPercent` and a prize without value can take the difference, the prizes with value are scaled down.
 * @param spinKopeks value of the payment
 * @throws RangeError without prizes
 */
export function probabilitiesOf(prizes: readonly OddsPrize[], spinKopeks: number, rtpPercent: number): number[] {
  if (prizes.length === 0) throw new RangeError('A wheel without prizes has no chances');
  const target = (spinKopeks * rtpPercent) / 100;
  const manual = prizes.map((prize) => (isManual(prize) ? prize.manualProbability! : 0));
  const manualSum = sum(manual);
  const rest = Math.max(0, 1 - manualSum);
  const weights = prizes.map((prize) => (isManual(prize) ? 0 : weightOf(prize, target)));
  const weightSum = sum(weights);
  if (weightSum === 0 || rest === 0) return manual.map((chance) => chance / manualSum);
  const chances = prizes.map((_, index) => manual[index]! + (weights[index]! / weightSum) * rest);
  return scaleToTarget(prizes, normalise(chances), target);
}

function weightOf({ prizeValueKopeks }: OddsPrize, target: number): number {
  return prizeValueKopeks > 0 ? Math.max(target / prizeValueKopeks, MIN_WEIGHT) : 1;
}

function normalise(chances: readonly number[]): number[] {
  const total = sum(chances);
  return chances.map((chance) => chance / total);
}

function scaleToTarget(prizes: readonly OddsPrize[], chances: number[], target: number): number[] {
  const paidBy = (takes: (prize: OddsPrize) => boolean) =>
    sum(prizes.map((prize, index) => (takes(prize) ? chances[index]! * prize.prizeValueKopeks : 0)));
  const isBlank = (prize: OddsPrize) => !isManual(prize) && prize.prizeValueKopeks === 0;
  const blanks = prizes.filter(isBlank).length;
  const automatic = paidBy((prize) => !isManual(prize));
  const fixed = paidBy(isManual);
  if (fixed + automatic <= target || blanks === 0 || automatic === 0) return chances;
  const scale = Math.max(0, target - fixed) / automatic;
  const scaled = prizes.map((prize, index) => (isManual(prize) || isBlank(prize) ? chances[index]! : chances[index]! * scale));
  const freed = 1 - sum(scaled);
  return prizes.map((prize, index) => scaled[index]! + (isBlank(prize) ? freed / blanks : 0));
}

/** Average payout of these chances, in percent of the price of the spin; 0 for a free spin. */
export function expectedRtp(prizes: readonly OddsPrize[], chances: readonly number[], spinKopeks: number): number {
  const paid = sum(prizes.map((prize, index) => chances[index]! * prize.prizeValueKopeks));
  return spinKopeks > 0 ? (paid / spinKopeks) * 100 : 0;
}

/** Index of the drawn prize: the first whose cumulated chance reaches a uniform number above 0 and up to 1. */
export function draw(chances: readonly number[], random: Random): number {
  const threshold = (random.int(0, DRAW_STEPS) + 1) / DRAW_STEPS;
  let cumulated = 0;
  for (const [index, chance] of chances.entries()) {
    cumulated += chance;
    if (cumulated >= threshold) return index;
  }
  // Rounding can make the sum of the chances slightly less than 1.
  return chances.findLastIndex((chance) => chance > 0);
}

/** Rotation that stops at prize `index` of `count`: 5 to 8 whole turns, then into its sector. */
export function rotationDegrees(index: number, count: number, random: Random): number {
  const sector = 360 / count;
  const jitter = (random.int(-300, 301) / 1_000) * sector;
  return 360 * random.int(5, 9) + 360 - (index + 0.5) * sector + jitter;
}
