import { setTimeout as delay } from 'node:timers/promises';

/** Refill and burst of the bucket: together at most 30 sends in any one second. */
const SENDS_PER_SECOND = 25;
const BURST = 5;
/** A message that comes later than this after its shared time takes another one, once (spec 10 O8). */
const LATE_MS = 100;
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

/** The pace of all instances together, kept in the database. */
export interface SharedPace {
  /**
   * Reserves the time of one message.
   * @returns milliseconds until then; more than `maxWaitMs` = nothing was reserved
   */
  take(maxWaitMs: number): Promise<number>;
  /** The messenger refuses messages for so long. */
  pause(seconds: number): Promise<void>;
}

/**
 * Limits the sends to the messenger's limits: of each chat in this process, and of all instances together by the shared pace. Where that
 * cannot be asked, this process keeps the rate by itself, and the messenger's 429 pauses all sends. The state in memory may be lost: that
 * leads to a 429 at most.
 */
export class SendPacer {
  readonly #timer: PacerTimer;
  readonly #maxWaitMs: number;
  readonly #chatReadyAt = new Map<number, number>();
  /** Time at which the bucket would be full again (generic cell rate algorithm). */
  #bucketFullAt = 0;
  #pausedUntil = 0;
  readonly #shared: SharedPace | null;
  readonly #perSecond: () => number;

  /** @param options.perSecond messages a second, read for each; default 25 */
  constructor(options: { timer?: PacerTimer; maxWaitMs?: number; shared?: SharedPace | null; perSecond?: () => number } = {}) {
    this.#timer = options.timer ?? systemTimer;
    this.#maxWaitMs = options.maxWaitMs ?? 5_000;
    this.#shared = options.shared ?? null;
    this.#perSecond = options.perSecond ?? (() => SENDS_PER_SECOND);
  }

  /**
   * Waits for this chat's turn.
   * @param isPaced the time of the message was leased from the shared pace, and is now: where the chat's own limit or a pause makes it wait,
   *   it needs another
   * @throws PaceExceeded when the wait would be too long
   */
  async takeTurn(chatId: number, isPaced = false): Promise<void> {
    const now = this.#timer.now();
    const interval = 1_000 / this.#perSecond();
    const readyAt = Math.max(now, this.#pausedUntil, this.#chatReadyAt.get(chatId) ?? 0);
    const isInTime = isPaced && readyAt === now;
    const start = isInTime ? now : Math.max(readyAt, this.#bucketFullAt - (BURST - 1) * interval);
    if (start - now > this.#maxWaitMs) throw new PaceExceeded(start - now);

    if (!isInTime) this.#bucketFullAt = Math.max(this.#bucketFullAt, start) + interval;
    this.#forgetIdleChats(now);
    this.#chatReadyAt.set(chatId, start + (chatId < 0 ? GROUP_INTERVAL_MS : USER_INTERVAL_MS));
    const at = Math.max(start, isInTime ? 0 : await this.#sharedTime());
    await this.#sleepUntil(at);
    if (!isInTime && this.#timer.now() > at + LATE_MS) await this.#sleepUntil(await this.#sharedTime());
    await this.waitForPause();
  }

  async #sleepUntil(at: number): Promise<void> {
    const wait = at - this.#timer.now();
    if (wait > 0) await this.#timer.sleep(wait);
  }

  /** The time of one message by the pace of all instances; while the database does not answer, now: then this process paces its messages. @throws PaceExceeded */
  async #sharedTime(): Promise<number> {
    const wait = await Promise.resolve(this.#shared?.take(this.#maxWaitMs)).catch(() => undefined);
    if (wait !== undefined && wait > this.#maxWaitMs) throw new PaceExceeded(wait);
    return this.#timer.now() + (wait ?? 0);
  }

  /** Waits during the pause after a 429. @throws PaceExceeded */
  async waitForPause(): Promise<void> {
    for (let left = this.#pausedUntil - this.#timer.now(); left > 0; left = this.#pausedUntil - this.#timer.now()) {
      if (left > this.#maxWaitMs) throw new PaceExceeded(left);
      await this.#timer.sleep(left);
    }
  }

  /** Starts the pause after a 429, on every instance. */
  pause(seconds: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#timer.now() + seconds * 1_000);
    // Another instance that does not learn of it gets its own 429.
    this.#shared?.pause(seconds).catch(() => undefined);
  }

  #forgetIdleChats(now: number): void {
    if (this.#chatReadyAt.size < MAX_CHATS) return;
    for (const [chatId, readyAt] of this.#chatReadyAt) {
      if (readyAt <= now) this.#chatReadyAt.delete(chatId);
    }
  }
}
