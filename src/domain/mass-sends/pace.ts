import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../core/db/db.ts';
import type { Env } from '../../core/env.ts';
import type { SendChannel } from './types.ts';

/**
 * Single messages that may be ahead of a mass send (`lease_sends`). With 25 messages a second, each at most `LATE_MS` after its time, no second
 * has more than 30.
 */
const SINGLE_BURST = 2;
/** A message that comes later than this after its time waits for another one, so that those of a process that stood still do not come at once. */
const LATE_MS = 100;

/** Messages a second of a channel, of all instances together. */
export function paceOf(env: Env, channel: SendChannel): number {
  return channel === 'messenger' ? env.messengerSendsPerSecond : env.broadcastMailsPerSecond;
}

/**
 * Reserves the time of the next messages of a channel, for all instances.
 * @returns milliseconds until then; more than `maxWaitMs` = nothing was reserved
 */
export async function leaseSends(
  db: Db,
  channel: SendChannel,
  request: { count: number; perSecond: number; burst?: number; maxWaitMs: number },
): Promise<number> {
  const [row] = await db.sql<{ waitMs: number }>('SELECT lease_sends($1, $2::int, $3::float8, $4::int, $5::int) AS wait_ms', [
    channel,
    request.count,
    request.perSecond,
    request.burst ?? 0,
    request.maxWaitMs,
  ]);
  return row!.waitMs;
}

export interface PaceTimer {
  /** Monotonic milliseconds. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

const systemTimer: PaceTimer = { now: () => performance.now(), sleep: (ms) => delay(ms) };

/** No time is leased: it has passed for ever. */
const NONE = Number.NEGATIVE_INFINITY;

/** Reserves the times of so many messages, see `leaseSends`. */
export type Lease = (count: number, maxWaitMs: number) => Promise<number>;

/** The times of the messages of one share: leased together, used one after another, each message in its time (spec 10 O8). */
export class ShareTimes {
  readonly #lease: Lease;
  readonly #maxWaitMs: number;
  readonly #intervalMs: number;
  readonly #timer: PaceTimer;
  #left: number;
  #nextAt = NONE;

  constructor(lease: Lease, options: { count: number; perSecond: number; maxWaitMs: number; timer?: PaceTimer }) {
    this.#lease = lease;
    this.#maxWaitMs = options.maxWaitMs;
    this.#left = options.count;
    this.#intervalMs = 1_000 / options.perSecond;
    this.#timer = options.timer ?? systemTimer;
  }

  /**
   * Leases the times that are left.
   * @returns milliseconds until the first; more than `maxWaitMs` = nothing was leased
   */
  async begin(): Promise<number> {
    const waitMs = await this.#lease(this.#left, this.#maxWaitMs);
    this.#nextAt = waitMs > this.#maxWaitMs ? NONE : this.#timer.now() + waitMs;
    return waitMs;
  }

  /**
   * Waits for the time of the next message. When it has passed, the times of this message and all later ones are leased anew. On a machine
   * whose timers are late again and again a message is sent as soon as a time is free, which needs no timer.
   * @returns 0; or, when the wait would be longer than `maxWaitMs`, its milliseconds
   */
  async next(): Promise<number> {
    await this.#reachNext();
    if (this.#isLate()) {
      const refusedMs = await this.begin();
      if (refusedMs > this.#maxWaitMs) return refusedMs;
      await this.#reachNext();
    }
    const isLate = this.#isLate();
    if (isLate) await this.#takeFreeTime();
    this.#left -= 1;
    // Only one time was leased then; those of the others have passed.
    this.#nextAt = isLate ? NONE : this.#nextAt + this.#intervalMs;
    return 0;
  }

  async #takeFreeTime(): Promise<void> {
    for (let waitMs = await this.#lease(1, 0); waitMs > 0; waitMs = await this.#lease(1, 0)) await this.#timer.sleep(waitMs);
  }

  async #reachNext(): Promise<void> {
    const waitMs = this.#nextAt - this.#timer.now();
    if (waitMs > 0) await this.#timer.sleep(waitMs);
  }

  #isLate(): boolean {
    return this.#timer.now() > this.#nextAt + LATE_MS;
  }
}

/** Nothing more is sent over the channel for so long, by any instance. */
export async function pauseSends(db: Db, channel: SendChannel, seconds: number): Promise<void> {
  await db.sql(
    `INSERT INTO send_paces AS p (channel, next_at, paused_until) VALUES ($1, clock_timestamp(), clock_timestamp() + $2::int * interval '1 second')
     ON CONFLICT (channel) DO UPDATE SET paused_until = greatest(p.paused_until, EXCLUDED.paused_until) RETURNING channel`,
    [channel, seconds],
  );
}

/** The pace of the messenger for single messages, as its adapter asks for it. */
export function sharedMessengerPace(db: Db, env: Env) {
  return {
    take: (maxWaitMs: number) =>
      leaseSends(db, 'messenger', { count: 1, perSecond: env.messengerSendsPerSecond, burst: SINGLE_BURST, maxWaitMs }),
    pause: (seconds: number) => pauseSends(db, 'messenger', seconds),
  };
}
