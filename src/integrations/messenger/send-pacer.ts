import { setTimeout as delay } from 'node:timers/promises';

/** Refill and burst of the bucket: together at most 30 sends in any one second (spec 05 section 15). */
const SENDS_PER_SECOND = 25;
const BURST = 5;
/** One message a second to a user, 20 a minute to a group (groups and channels have negative ids). */
const USER_INTERVAL_MS = 1_000;
const GROUP_INTERVAL_MS = 3_000;
/** Number of chats from which on those without a pending send are dropped. */
const MAX_CHATS = 10_000;

export interface PacerTimer {
  /** Monotonic milliseconds; not the service clock, which the sandbox moves. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

const systemTimer: PacerTimer = { now: () => performance.now(), sleep: (ms) => delay(ms) };

/** The send would have to wait longer than the caller may; retry after so many seconds. */
export class PaceExceeded extends Error {
  readonly retryAfterSeconds: number;

  constructor(waitMs: number) {
    super('The messenger send rate is used up');
    this.name = 'PaceExceeded';
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  }
}

/**
 * Limits this process's sends to the messenger's limits; across instances the messenger's 429 does, which pauses all sends. The state
 * is in memory, because its loss in a restart leads to a 429 at most.
 */
export class SendPacer {
  readonly #timer: PacerTimer;
  readonly #maxWaitMs: number;
  readonly #chatReadyAt = new Map<number, number>();
  /** Moment at which the bucket would be full again (generic cell rate algorithm). */
  #bucketFullAt = 0;
  #pausedUntil = 0;

  constructor(options: { timer?: PacerTimer; maxWaitMs?: number } = {}) {
    this.#timer = options.timer ?? systemTimer;
    this.#maxWaitMs = options.maxWaitMs ?? 5_000;
  }

  /** Waits for this chat's turn. @throws PaceExceeded, without reserving a turn, when the wait would be too long */
  async takeTurn(chatId: number): Promise<void> {
    const now = this.#timer.now();
    const interval = 1_000 / SENDS_PER_SECOND;
    const bucketReadyAt = this.#bucketFullAt - (BURST - 1) * interval;
    const start = Math.max(now, this.#pausedUntil, bucketReadyAt, this.#chatReadyAt.get(chatId) ?? 0);
    if (start - now > this.#maxWaitMs) throw new PaceExceeded(start - now);

    this.#bucketFullAt = Math.max(this.#bucketFullAt, start) + interval;
    this.#forgetIdleChats(now);
    this.#chatReadyAt.set(chatId, start + (chatId < 0 ? GROUP_INTERVAL_MS : USER_INTERVAL_MS));
    if (start > now) await this.#timer.sleep(start - now);
    await this.waitForPause();
  }

  /** Waits during the pause after a 429. @throws PaceExceeded */
  async waitForPause(): Promise<void> {
    for (let left = this.#pausedUntil - this.#timer.now(); left > 0; left = this.#pausedUntil - this.#timer.now()) {
      if (left > this.#maxWaitMs) throw new PaceExceeded(left);
      await this.#timer.sleep(left);
    }
  }

  /** Starts the pause after a 429. */
  pause(seconds: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#timer.now() + seconds * 1_000);
  }

  #forgetIdleChats(now: number): void {
    if (this.#chatReadyAt.size < MAX_CHATS) return;
    for (const [chatId, readyAt] of this.#chatReadyAt) {
      if (readyAt <= now) this.#chatReadyAt.delete(chatId);
    }
  }
}
