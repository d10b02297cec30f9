/** Attempts to one webhook at the same time on this instance: one that hangs leaves the other workers of the queue free. */
const MAX_AT_ONCE = 3;
/** A receiver that has held an attempt for so long is slow; nobody waits for it. */
const PATIENCE_MS = 500;
const MIN_SPACING_MS = 10;
const MAX_DELAY_MS = 5 * 60_000;

/** A place: call it to leave. */
export type Leave = () => void;

interface Slot {
  /** When each running attempt began. */
  readonly running: Set<{ since: number }>;
  readonly waiting: ((leave: Leave) => void)[];
  /** Learned from the last attempt that ended: how often a place becomes free. */
  spacingMs: number;
  /** When the last of those who were sent away may come back. */
  lastReturnAt: number;
}

export interface SlotOptions {
  /** Monotonic milliseconds; tests pass their own. */
  nowMs?: () => number;
  patienceMs?: number;
}

/**
 * Fairness between receivers, not correctness: the claim in the database decides who sends. A burst to a quick receiver waits
 * for its turn; with a slow one those who find every place taken are given times to come back that lie as far apart as places
 * become free, so that a long queue is not turned over and over.
 */
export class DeliverySlots {
  readonly #slots = new Map<number, Slot>();
  readonly #nowMs: () => number;
  readonly #patienceMs: number;

  constructor(options: SlotOptions = {}) {
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
  }

  /** Takes a place, waiting for one at most the patience. @returns how to leave it, or the milliseconds to come back after */
  async enter(webhookId: number): Promise<Leave | number> {
    const now = this.#nowMs();
    const slot = this.#slots.get(webhookId) ?? newSlot(now);
    this.#slots.set(webhookId, slot);
    if (slot.running.size < MAX_AT_ONCE) return this.#take(webhookId, slot);
    const [oldest] = slot.running;
    const patienceMs = oldest!.since + this.#patienceMs - now;
    return (patienceMs > 0 ? await this.#wait(slot, patienceMs) : null) ?? this.#comeBackMs(slot);
  }

  #take(webhookId: number, slot: Slot): Leave {
    const attempt = { since: this.#nowMs() };
    slot.running.add(attempt);
    return () => {
      slot.running.delete(attempt);
      slot.spacingMs = Math.max((this.#nowMs() - attempt.since) / MAX_AT_ONCE, MIN_SPACING_MS);
      const next = slot.waiting.shift();
      if (next) next(this.#take(webhookId, slot));
      else if (slot.running.size === 0 && slot.lastReturnAt <= this.#nowMs()) this.#slots.delete(webhookId);
    };
  }

  #wait(slot: Slot, patienceMs: number): Promise<Leave | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        slot.waiting.splice(slot.waiting.indexOf(onPlace), 1);
        resolve(null);
      }, patienceMs);
      const onPlace = (leave: Leave): void => {
        clearTimeout(timer);
        resolve(leave);
      };
      slot.waiting.push(onPlace);
    });
  }

  #comeBackMs(slot: Slot): number {
    const now = this.#nowMs();
    const [oldest] = slot.running;
    const spacingMs = Math.max(slot.spacingMs, (now - (oldest?.since ?? now)) / MAX_AT_ONCE);
    slot.lastReturnAt = Math.min(Math.max(slot.lastReturnAt, now) + spacingMs, now + MAX_DELAY_MS);
    return Math.ceil(slot.lastReturnAt - now);
  }
}

function newSlot(now: number): Slot {
  return { running: new Set(), waiting: [], spacingMs: MIN_SPACING_MS, lastReturnAt: now };
}
