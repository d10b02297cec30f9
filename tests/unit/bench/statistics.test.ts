import { describe, expect, test } from 'vitest';
import {
  growth,
  LatencyCounter,
  median,
  meets,
  mergeBuckets,
  percentileMs,
  summarise,
} from '../../../packages/measures/src/bench/statistics.ts';

const counted = (...latencies: number[]) => {
  const counter = new LatencyCounter();
  for (const ms of latencies) counter.add(ms);
  return counter.buckets();
};

describe('latencies', () => {
  test('percentiles are values that occurred, by the nearest rank', () => {
    const hundred = counted(...Array.from({ length: 100 }, (_, index) => 100 - index));
    expect([0, 0.5, 0.95, 0.99, 1].map((share) => percentileMs(hundred, share))).toEqual([1, 50, 95, 99, 100]);
    expect(percentileMs(counted(7), 0.99)).toBe(7);
    expect(percentileMs([], 0.99)).toBe(0);
  });

  test('hundredths of a millisecond are kept', () => {
    expect(percentileMs(counted(0.123, 0.127), 1)).toBe(0.13);
    expect(counted(0.5, 0.501, 2)).toEqual([
      [50, 2],
      [200, 1],
    ]);
  });

  test('rounds merge into what one round with all requests would be', () => {
    expect(mergeBuckets([counted(1, 2, 3), counted(2, 9), []])).toEqual(counted(1, 2, 2, 3, 9));
  });
});

describe('rounds', () => {
  test('the median is the middle value, or the mean of the two middle ones, in any order', () => {
    expect(median([5, 1, 3])).toBe(3);
    expect(median([10, 1, 3, 2])).toBe(2.5);
    expect(median([4])).toBe(4);
    expect(() => median([])).toThrow('no values');
  });

  test('a summary has the spread', () => {
    expect(summarise([0.5, 0.7, 0.4])).toEqual({ median: 0.5, min: 0.4, max: 0.7 });
  });
});

describe('aims', () => {
  test('bounds are included', () => {
    expect(meets(0.6, { atLeast: 0.6 })).toBe(true);
    expect(meets(0.599, { atLeast: 0.6 })).toBe(false);
    expect(meets(3, { atMost: 3 })).toBe(true);
    expect(meets(3.01, { atMost: 3 })).toBe(false);
  });

  test('growth is the share above the usual', () => {
    expect(growth(10, 12)).toBeCloseTo(0.2);
    expect(growth(10, 9)).toBeCloseTo(-0.1);
    expect(() => growth(0, 1)).toThrow('nothing to compare with');
  });
});
