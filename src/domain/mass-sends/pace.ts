import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../core/db/db.ts';
import type { Env } from '../../core/env.ts';
import type { MassSend, SendChannel } from './types.ts';

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

/** So many missed times in a row are given up. */
const MAX_MISSED = 5;
/** Looks for a free time, until the message waits for a later run. */
const MAX_POLLS = 20;

export interface PaceTimer {
  /** Monotonic milliseconds. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

const systemTimer: PaceTimer = { now: () => performance.now(), sleep: (ms) => delay(ms) };

/** Reserves the times of so many messages, see `leaseSends`. */
export type Lease = (count: number, maxWaitMs: number) => Promise<number>;

/**
 * The times of the messages of one share (spec 10 O8). They are leased together; from the first that is missed on, each message leases its
 * own. A late answer of the database counts like a late timer: at some time before it the wait began.
 */
export class ShareTimes {
  readonly #lease: Lease;
  readonly #maxWaitMs: number;
  readonly #intervalMs: number;
  readonly #timer: PaceTimer;
  readonly #count: number;
  #nextAt = 0;
  #lateAfter = Number.NEGATIVE_INFINITY;

  constructor(lease: Lease, options: { count: number; perSecond: number; maxWaitMs: number; timer?: PaceTimer }) {
    this.#lease = lease;
    this.#maxWaitMs = options.maxWaitMs;
    this.#count = options.count;
    this.#intervalMs = 1_000 / options.perSecond;
    this.#timer = options.timer ?? systemTimer;
  }

  /**
   * Leases the times of the share.
   * @returns milliseconds until the first; more than `maxWaitMs` = nothing was leased
   */
  begin(): Promise<number> {
    return this.#take(this.#count);
  }

  /**
   * Waits for the time of the next message.
   * @returns 0; or milliseconds after which to try again, because no time could be had
   */
  async next(): Promise<number> {
    if (await this.#isReached()) {
      this.#nextAt += this.#intervalMs;
      this.#lateAfter += this.#intervalMs;
      return 0;
    }
    for (let missed = 0; missed < MAX_MISSED; missed++) {
      const waitMs = await this.#take(1);
      if (waitMs > this.#maxWaitMs) return waitMs;
      if (await this.#isReached()) return this.#end();
    }
    // Timers or the database are late again and again: a time that is free now needs neither.
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const waitMs = await this.#lease(1, 0);
      if (waitMs <= 0) return this.#end();
      await this.#timer.sleep(waitMs);
    }
    return this.#maxWaitMs;
  }

  /** The times of the share that are left have passed. */
  #end(): number {
    this.#lateAfter = Number.NEGATIVE_INFINITY;
    return 0;
  }

  async #take(count: number): Promise<number> {
    const askedAt = this.#timer.now();
    const waitMs = await this.#lease(count, this.#maxWaitMs);
    this.#nextAt = this.#timer.now() + waitMs;
    this.#lateAfter = waitMs > this.#maxWaitMs ? Number.NEGATIVE_INFINITY : askedAt + waitMs + LATE_MS;
    return waitMs;
  }

  async #isReached(): Promise<boolean> {
    const waitMs = this.#nextAt - this.#timer.now();
    if (waitMs > 0 && this.#nextAt <= this.#lateAfter) await this.#timer.sleep(waitMs);
    return this.#timer.now() <= this.#lateAfter;
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

/** Below so many messages the speed so far says nothing. */
const ENOUGH = 200;

export const settledOf = ({ sent, failed, blocked, unconfirmed }: MassSend): number => sent + failed + blocked + unconfirmed;

/**
 * When a send is likely to end: by its speed so far, at first by the pace that is set.
 * @returns null before its recipients are known, while it is paused, and when it has ended or is to stop
 */
export function estimatedEnd(env: Env, send: MassSend, now: Date): Date | null {
  if (send.state !== 'sending' || send.pausedAt !== null || send.stopRequestedAt !== null || send.startedAt === null) return null;
  const settled = settledOf(send);
  const seconds = (now.getTime() - send.startedAt.getTime()) / 1_000;
  const pace = paceOf(env, send.channel);
  const speed = settled >= ENOUGH && seconds > 0 ? Math.min(pace, settled / seconds) : pace;
  return new Date(now.getTime() + Math.ceil(((send.total - settled) / speed) * 1_000));
}
