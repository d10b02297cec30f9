/** Compares events as committed with the frames that a socket received. */
import { type Buckets, LatencyCounter } from './statistics.ts';

/** Number of an event, and when its frame arrived (`machineMs`). */
export type Arrival = [number: number, atMs: number];

/** Number of an event, and when its write was sent and its commit answered (`machineMs`). */
export type Committed = [number: number, sentMs: number, answeredMs: number];

export interface Delivery {
  /** From the answer to the commit to the frame; 0 when the frame came first. */
  latencies: Buckets;
  /** From the sending of the write to the frame, so with the time of the write: the commit lies somewhere between. */
  latenciesFromSending: Buckets;
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
  committed: readonly Committed[],
  arrivals: readonly Arrival[],
  userOf: (number: number) => number,
): Delivery {
  const writes = new Map(committed.map(([number, sentMs, answeredMs]) => [number, { sentMs, answeredMs }]));
  const seen = new Set<number>();
  const lastOfUser = new Map<number, number>();
  const counter = new LatencyCounter();
  const fromSending = new LatencyCounter();
  let doubled = 0;
  let outOfOrder = 0;
  for (const [number, atMs] of arrivals) {
    const write = writes.get(number);
    if (write === undefined) continue;
    if (seen.has(number)) {
      doubled += 1;
      continue;
    }
    seen.add(number);
    counter.add(Math.max(0, atMs - write.answeredMs));
    fromSending.add(Math.max(0, atMs - write.sentMs));
    const user = userOf(number);
    const last = lastOfUser.get(user) ?? -1;
    if (number < last) outOfOrder += 1;
    lastOfUser.set(user, Math.max(last, number));
  }
  return {
    latencies: counter.buckets(),
    latenciesFromSending: fromSending.buckets(),
    lost: writes.size - seen.size,
    doubled,
    outOfOrder,
  };
}
