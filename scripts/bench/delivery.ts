/** Compares events as they were committed with the frames that a socket received. */
import { type Buckets, LatencyCounter } from './statistics.ts';

/** Number of an event, and when: the commit was answered, or the frame arrived (`machineMs`). */
export type Timed = [number: number, atMs: number];

export interface Delivery {
  /** From the answer to the commit to the frame; 0 when the frame came first. */
  latencies: Buckets;
  lost: number;
  /** Frames beyond the first one of their event. */
  doubled: number;
  /** Frames after a later event of the same user. */
  outOfOrder: number;
}

/**
 * @param arrivals in the order in which they came; frames of other events than the committed ones are left out
 * @param userOf user of an event; the numbers of one user's events rise in the order of their commits
 */
export function assessDelivery(
  committed: readonly Timed[],
  arrivals: readonly Timed[],
  userOf: (number: number) => number,
): Delivery {
  const commitTimes = new Map(committed);
  const seen = new Set<number>();
  const lastOfUser = new Map<number, number>();
  const counter = new LatencyCounter();
  let doubled = 0;
  let outOfOrder = 0;
  for (const [number, atMs] of arrivals) {
    const committedAt = commitTimes.get(number);
    if (committedAt === undefined) continue;
    if (seen.has(number)) {
      doubled += 1;
      continue;
    }
    seen.add(number);
    counter.add(Math.max(0, atMs - committedAt));
    const user = userOf(number);
    const last = lastOfUser.get(user) ?? -1;
    if (number < last) outOfOrder += 1;
    lastOfUser.set(user, Math.max(last, number));
  }
  return { latencies: counter.buckets(), lost: commitTimes.size - seen.size, doubled, outOfOrder };
}
