/** The arithmetic of the benchmark: latencies in buckets, medians of rounds, comparison with an aim. */

/** Latencies counted in hundredths of a millisecond: [hundredths, how many], in rising order. */
export type Buckets = [hundredths: number, count: number][];

const STEPS_PER_MS = 100;

export class LatencyCounter {
  readonly #counts = new Map<number, number>();

  /** @param ms above zero */
  add(ms: number): void {
    const step = Math.max(0, Math.round(ms * STEPS_PER_MS));
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
  }

  buckets(): Buckets {
    return [...this.#counts].sort(([a], [b]) => a - b);
  }
}

/** The latency in ms that `share` (0..1) of the requests did not exceed, by the nearest-rank method; 0 without requests. */
export function percentileMs(buckets: Buckets, share: number): number {
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let rank = Math.max(1, Math.ceil(total * share));
  for (const [step, count] of buckets) {
    rank -= count;
    if (rank <= 0) return step / STEPS_PER_MS;
  }
  return 0;
}

/** All requests of several rounds as one. */
export function mergeBuckets(rounds: readonly Buckets[]): Buckets {
  const counts = new Map<number, number>();
  for (const [step, count] of rounds.flat()) counts.set(step, (counts.get(step) ?? 0) + count);
  return [...counts].sort(([a], [b]) => a - b);
}

/** Middle value; the mean of the two middle ones when they are even in number. @throws Error without values */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('no values');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export interface Summary {
  median: number;
  min: number;
  max: number;
}

/** @throws Error without values */
export function summarise(values: readonly number[]): Summary {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** An aim of the benchmark (docs/performance.md): the value must be at least, or at most, this. */
export interface Aim {
  atLeast?: number;
  atMost?: number;
}

export function meets(value: number, aim: Aim): boolean {
  return value >= (aim.atLeast ?? Number.NEGATIVE_INFINITY) && value <= (aim.atMost ?? Number.POSITIVE_INFINITY);
}

/** By how much `changed` exceeds `usual`, as a share: 0.2 = 20 % more. @throws Error when `usual` is not above zero */
export function growth(usual: number, changed: number): number {
  if (usual <= 0) throw new Error('nothing to compare with');
  return changed / usual - 1;
}
