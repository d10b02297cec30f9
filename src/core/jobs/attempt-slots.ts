/** Attempts to one receiver at the same time on this instance, so that a receiver that hangs does not occupy all workers of the queue. */
const MAX_AT_ONCE = 3;
/** A receiver whose oldest attempt runs longer than this is slow: the job does not wait for a slot. */
const MAX_WAIT_MS = 500;
const MIN_SPACING_MS = 10;
const MAX_DELAY_MS = 5 * 60_000;

/** A place among the running attempts to one receiver. */
export interface Slot {
  /** Sends the request. Only this time is the receiver's; a stalled database must not look like a slow receiver. */
  measure<T>(send: () => Promise<T>): Promise<T>;
  release(): void;
}

interface Attempt {
  /** When its request began; null = it waits for the database. */
  since: number | null;
  tookMs: number;
}

interface ReceiverSlots {
  readonly running: Set<Attempt>;
  readonly waiting: ((slot: Slot) => void)[];
  /** Measured at the last attempt that ended: the time between two releases. */
  spacingMs: number;
  /** When the last of the postponed jobs may come back. */
  lastReturnAt: number;
}

export interface SlotOptions {
  /** Monotonic milliseconds; tests pass their own. */
  nowMs?: () => number;
  maxWaitMs?: number;
}

/**
 * Limits parallel attempts to one receiver. This is fairness between receivers, not correctness: the claim in the database decides who
 * sends. Attempts to a quick receiver wait for a slot. With a slow receiver the jobs without a slot are postponed, each by as much
 * more as slots become free, so that a long queue is not read again and again.
 */
export class AttemptSlots {
  readonly #slots = new Map<number, ReceiverSlots>();
  readonly #nowMs: () => number;
  readonly #maxWaitMs: number;

  constructor(options: SlotOptions = {}) {
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#maxWaitMs = options.maxWaitMs ?? MAX_WAIT_MS;
  }

  /** Acquires a slot, after a short wait if need be. @returns it, or the milliseconds to postpone the job by */
  async acquire(receiverId: number): Promise<Slot | number> {
    const now = this.#nowMs();
    const slots = this.#slots.get(receiverId) ?? newSlots(now);
    this.#slots.set(receiverId, slots);
    if (slots.running.size < MAX_AT_ONCE) return this.#take(receiverId, slots);
    const waitMs = (oldestSince(slots) ?? now) + this.#maxWaitMs - now;
    return (waitMs > 0 ? await this.#wait(slots, waitMs) : null) ?? this.#postponeMs(slots);
  }

  #take(receiverId: number, slots: ReceiverSlots): Slot {
    const attempt: Attempt = { since: null, tookMs: 0 };
    slots.running.add(attempt);
    return {
      measure: async (send) => {
        const since = this.#nowMs();
        attempt.since = since;
        try {
          return await send();
        } finally {
          attempt.since = null;
          attempt.tookMs = this.#nowMs() - since;
        }
      },
      release: () => {
        slots.running.delete(attempt);
        slots.spacingMs = Math.max(attempt.tookMs / MAX_AT_ONCE, MIN_SPACING_MS);
        const next = slots.waiting.shift();
        if (next) next(this.#take(receiverId, slots));
        else if (slots.running.size === 0 && slots.lastReturnAt <= this.#nowMs()) this.#slots.delete(receiverId);
      },
    };
  }

  #wait(slots: ReceiverSlots, waitMs: number): Promise<Slot | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        slots.waiting.splice(slots.waiting.indexOf(onFree), 1);
        resolve(null);
      }, waitMs);
      const onFree = (slot: Slot): void => {
        clearTimeout(timer);
        resolve(slot);
      };
      slots.waiting.push(onFree);
    });
  }

  #postponeMs(slots: ReceiverSlots): number {
    const now = this.#nowMs();
    const spacingMs = Math.max(slots.spacingMs, (now - (oldestSince(slots) ?? now)) / MAX_AT_ONCE);
    slots.lastReturnAt = Math.min(Math.max(slots.lastReturnAt, now) + spacingMs, now + MAX_DELAY_MS);
    return Math.ceil(slots.lastReturnAt - now);
  }
}

/** When the oldest request that is under way began; null = there is none. */
function oldestSince({ running }: ReceiverSlots): number | null {
  for (const { since } of running) if (since !== null) return since;
  return null;
}

function newSlots(now: number): ReceiverSlots {
  return { running: new Set(), waiting: [], spacingMs: MIN_SPACING_MS, lastReturnAt: now };
}
