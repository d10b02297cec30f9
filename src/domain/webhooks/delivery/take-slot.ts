/** Attempts to one webhook at the same time on this instance, so that a receiver that hangs does not occupy all workers of the queue. */
const MAX_AT_ONCE = 3;
/** A receiver whose oldest attempt runs longer than this is slow: the job does not wait for a slot. */
const MAX_WAIT_MS = 500;
const MIN_SPACING_MS = 10;
const MAX_DELAY_MS = 5 * 60_000;

/** Releases a slot. */
export type Release = () => void;

interface WebhookSlots {
  /** When each running attempt began. */
  readonly running: Set<{ since: number }>;
  readonly waiting: ((release: Release) => void)[];
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
 * Limits parallel attempts to one webhook. This is fairness between receivers, not correctness: the claim in the database decides who
 * sends. Attempts to a quick receiver wait for a slot. With a slow receiver the jobs without a slot are postponed, each by as much
 * more as slots become free, so that a long queue is not read again and again.
 */
export class DeliverySlots {
  readonly #slots = new Map<number, WebhookSlots>();
  readonly #nowMs: () => number;
  readonly #maxWaitMs: number;

  constructor(options: SlotOptions = {}) {
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#maxWaitMs = options.maxWaitMs ?? MAX_WAIT_MS;
  }

  /** Takes a slot, after a short wait if need be. @returns the function that releases it, or the milliseconds to postpone the job by */
  async acquire(webhookId: number): Promise<Release | number> {
    const now = this.#nowMs();
    const slots = this.#slots.get(webhookId) ?? newSlots(now);
    this.#slots.set(webhookId, slots);
    if (slots.running.size < MAX_AT_ONCE) return this.#take(webhookId, slots);
    const [oldest] = slots.running;
    const waitMs = oldest!.since + this.#maxWaitMs - now;
    return (waitMs > 0 ? await this.#wait(slots, waitMs) : null) ?? this.#postponeMs(slots);
  }

  #take(webhookId: number, slots: WebhookSlots): Release {
    const attempt = { since: this.#nowMs() };
    slots.running.add(attempt);
    return () => {
      slots.running.delete(attempt);
      slots.spacingMs = Math.max((this.#nowMs() - attempt.since) / MAX_AT_ONCE, MIN_SPACING_MS);
      const next = slots.waiting.shift();
      if (next) next(this.#take(webhookId, slots));
      else if (slots.running.size === 0 && slots.lastReturnAt <= this.#nowMs()) this.#slots.delete(webhookId);
    };
  }

  #wait(slots: WebhookSlots, waitMs: number): Promise<Release | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        slots.waiting.splice(slots.waiting.indexOf(onFree), 1);
        resolve(null);
      }, waitMs);
      const onFree = (release: Release): void => {
        clearTimeout(timer);
        resolve(release);
      };
      slots.waiting.push(onFree);
    });
  }

  #postponeMs(slots: WebhookSlots): number {
    const now = this.#nowMs();
    const [oldest] = slots.running;
    const spacingMs = Math.max(slots.spacingMs, (now - (oldest?.since ?? now)) / MAX_AT_ONCE);
    slots.lastReturnAt = Math.min(Math.max(slots.lastReturnAt, now) + spacingMs, now + MAX_DELAY_MS);
    return Math.ceil(slots.lastReturnAt - now);
  }
}

function newSlots(now: number): WebhookSlots {
  return { running: new Set(), waiting: [], spacingMs: MIN_SPACING_MS, lastReturnAt: now };
}
