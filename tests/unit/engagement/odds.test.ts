import { describe, expect, test } from 'vitest';
import {
  draw,
  expectedRtp,
  type OddsPrize,
  probabilitiesOf,
  rotationDegrees,
} from '../../../src/domain/engagement/wheel/wheel.ts';

const SPINS = 1_000_000;

/** A seeded generator (mulberry32): the same million spins in every run. */
function seeded(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  // 47 bits out of two draws.
  const unit = () => (next() * 2 ** 15 + (next() >>> 17)) / 2 ** 47;
  return {
    bytes: (length: number) => Buffer.alloc(length),
    int: (min: number, max: number) => min + Math.floor(unit() * (max - min)),
  };
}

const prize = (prizeValueKopeks: number, manualProbability: number | null = null): OddsPrize => ({
  prizeValueKopeks,
  manualProbability,
});

/** Critical values of chi-square at 0.1 % by degrees of freedom. */
const CHI_SQUARE = [0, 10.828, 13.816, 16.266, 18.467, 20.515, 22.458, 24.322, 26.124];

const TABLES: { name: string; spinKopeks: number; rtpPercent: number; prizes: OddsPrize[] }[] = [
  { name: 'few prizes above the price', spinKopeks: 1_300, rtpPercent: 80, prizes: [prize(3_000), prize(5_000), prize(0)] },
  {
    name: 'the usual mixture',
    spinKopeks: 1_300,
    rtpPercent: 80,
    prizes: [prize(2_000), prize(3_000), prize(5_000), prize(7_500), prize(10_000), prize(0)],
  },
  {
    name: 'several blanks',
    spinKopeks: 660,
    rtpPercent: 50,
    prizes: [prize(1_000), prize(0), prize(4_000), prize(0), prize(2_500)],
  },
  {
    name: 'manual chances among automatic ones',
    spinKopeks: 2_600,
    rtpPercent: 90,
    prizes: [prize(2_000, 0.25), prize(6_000), prize(9_000), prize(0, 0.1), prize(0)],
  },
  { name: 'a full payout', spinKopeks: 13_000, rtpPercent: 100, prizes: [prize(20_000), prize(40_000), prize(60_000), prize(0)] },
];

describe('fairness of the wheel (13.3)', () => {
  test.each(TABLES)('$name: a million spins pay out rtp_percent, each prize as often as its chance says', (table) => {
    const { prizes, spinKopeks, rtpPercent } = table;
    const chances = probabilitiesOf(prizes, spinKopeks, rtpPercent);
    const random = seeded(20_261_121);
    const counts = prizes.map(() => 0);
    for (let spin = 0; spin < SPINS; spin++) counts[draw(chances, random)]! += 1;
    const paid = counts.reduce((total, count, index) => total + count * prizes[index]!.prizeValueKopeks, 0);
    const target = (SPINS * spinKopeks * rtpPercent) / 100;
    expect(Math.abs(paid - target) / target).toBeLessThan(0.01);
    const expected = chances.map((chance) => chance * SPINS);
    const statistic = counts.reduce((total, count, index) => total + (count - expected[index]!) ** 2 / expected[index]!, 0);
    expect(statistic).toBeLessThan(CHI_SQUARE[prizes.length - 1]!);
    // And each prize on its own, against all others.
    for (const [index, count] of counts.entries()) {
      const p = chances[index]!;
      expect((count - SPINS * p) ** 2 / (SPINS * p * (1 - p))).toBeLessThan(CHI_SQUARE[1]!);
    }
  });

  test('the check detects chances that are wrong by one percent', () => {
    const { prizes, spinKopeks, rtpPercent } = TABLES[0]!;
    const chances = probabilitiesOf(prizes, spinKopeks, rtpPercent);
    const random = seeded(1);
    let hits = 0;
    for (let spin = 0; spin < SPINS; spin++) if (draw(chances, random) === 2) hits += 1;
    const wrong = chances[2]! * 1.01;
    expect((hits - SPINS * wrong) ** 2 / (SPINS * wrong * (1 - wrong))).toBeGreaterThan(CHI_SQUARE[1]!);
  });
});

describe('chances', () => {
  const total = (chances: number[]) => chances.reduce((sum, chance) => sum + chance, 0);

  test('always sum to 1 and never leave 0..1, whatever the table', () => {
    const random = seeded(7);
    for (let round = 0; round < 3_000; round++) {
      const prizes = Array.from({ length: random.int(1, 9) }, () =>
        prize(random.int(0, 3) === 0 ? 0 : random.int(1, 100_000), random.int(0, 3) === 0 ? random.int(0, 101) / 100 : null),
      );
      const spinKopeks = random.int(1, 50_000);
      const rtpPercent = random.int(0, 101);
      const chances = probabilitiesOf(prizes, spinKopeks, rtpPercent);
      expect(total(chances)).toBeCloseTo(1, 9);
      for (const chance of chances) expect(chance).toBeGreaterThanOrEqual(-1e-12);
      const hasBlank = prizes.some((one) => !one.manualProbability && one.prizeValueKopeks === 0);
      const hasManual = prizes.some((one) => one.manualProbability);
      if (hasBlank && !hasManual) expect(expectedRtp(prizes, chances, spinKopeks)).toBeLessThanOrEqual(rtpPercent + 1e-6);
    }
  });

  // T = 1040: weights of 2.08, 1.04 and 1, which pay 2 · 1040 of 4.12, or 39 % of a spin.
  const belowTarget = [prize(500), prize(1_000), prize(0)];

  test('the weight is the payout target over the value, and one for a blank', () => {
    const chances = probabilitiesOf(belowTarget, 1_300, 80);
    expect(chances.map((chance) => chance * 4.12)).toEqual([2.08, 1.04, 1].map((weight) => expect.closeTo(weight, 9)));
  });

  test('weights that pay less than the target are not scaled up to it', () => {
    const chances = probabilitiesOf(belowTarget, 1_300, 80);
    expect(expectedRtp(belowTarget, chances, 1_300)).toBeCloseTo((2_080 / 4.12 / 1_300) * 100, 9);
  });

  test('manual ones stay, 0 means automatic, and a full sum leaves the automatic ones out', () => {
    expect(probabilitiesOf([prize(0, 0.3), prize(0, 0), prize(0)], 100, 50)).toEqual(
      [0.3, 0.35, 0.35].map((chance) => expect.closeTo(chance, 9)),
    );
    expect(probabilitiesOf([prize(10, 0.8), prize(10, 0.8), prize(0)], 100, 50)).toEqual([0.5, 0.5, 0]);
    expect(probabilitiesOf([prize(10, 0.2)], 100, 50)).toEqual([1]);
  });

  test('without a blank the payout follows the weights, and so does the expected value', () => {
    const prizes = [prize(5_000), prize(10_000)];
    const chances = probabilitiesOf(prizes, 1_000, 80);
    expect(chances).toEqual([expect.closeTo(2 / 3, 9), expect.closeTo(1 / 3, 9)]);
    expect(expectedRtp(prizes, chances, 1_000)).toBeCloseTo(666.67, 1);
  });

  test('0 percent pays nothing while there is a blank', () => {
    expect(probabilitiesOf([prize(100), prize(0), prize(0)], 1_000, 0)).toEqual([0, 0.5, 0.5]);
  });

  test('no prizes at all is an error', () => {
    expect(() => probabilitiesOf([], 1_000, 80)).toThrow(RangeError);
  });

  test('a chance of 0 is never drawn, not even at the bounds', () => {
    const at = (value: number) => ({ bytes: Buffer.alloc, int: () => value });
    expect(draw([0, 1, 0], at(0))).toBe(1);
    expect(draw([0, 1, 0], at(2 ** 47 - 1))).toBe(1);
    expect(draw([0, 0.999_999, 0], at(2 ** 47 - 1))).toBe(1);
  });
});

test('the picture stops inside the sector of the prize', () => {
  const random = seeded(3);
  for (let round = 0; round < 1_000; round++) {
    const count = random.int(1, 13);
    const index = random.int(0, count);
    const degrees = rotationDegrees(index, count, random);
    expect(degrees).toBeGreaterThan(360 * 5);
    expect(degrees).toBeLessThan(360 * 9 + 1);
    const stop = (((360 - (degrees % 360)) % 360) + 360) % 360;
    expect(Math.floor(stop / (360 / count))).toBe(index);
  }
});
