import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../core/db/db.ts';
import type { Env } from '../../core/env.ts';
import type { SendChannel } from './types.ts';

/** Single messages that may be ahead of a mass send (`lease_sends`). */
const SINGLE_BURST = 2;
/**
 * A reserved time that was missed by more is given up: sent now, the message would fall into the time of others. With it, the default pace and
 * the single messages ahead, at most 25 x 1.08 + 1 + 2 = 30 messages fall into any second (spec 10 O8).
 */
const MAX_LATE_MS = 80;
/** So many missed times in a row are given up; on a database that is slower than that, the next message is sent late. */
const MAX_MISSED = 5;

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

/**
 * The times of the next messages of one worker, reserved many at once. Whatever the speed of the machine and of the database, a message is sent
 * at its time or little later, or gets another time.
 */
export class SendSlots {
  readonly #db: Db;
  readonly #channel: SendChannel;
  readonly #share: { count: number; perSecond: number; maxWaitMs: number };
  #slots: { from: number; until: number }[] = [];

  constructor(db: Db, channel: SendChannel, share: { count: number; perSecond: number; maxWaitMs: number }) {
    this.#db = db;
    this.#channel = channel;
    this.#share = share;
  }

  /** Reserves the times of a whole share. @returns milliseconds until the first; more than `maxWaitMs` = nothing was reserved */
  async reserve(): Promise<number> {
    const { count, perSecond, maxWaitMs } = this.#share;
    const askedAt = performance.now();
    const waitMs = await leaseSends(this.#db, this.#channel, this.#share);
    if (waitMs > maxWaitMs) return waitMs;
    // The database counted the wait at some moment between asking and now.
    const answeredAt = performance.now();
    this.#slots = Array.from({ length: count }, (_, index) => {
      const offset = waitMs + (index * 1_000) / perSecond;
      return { from: answeredAt + offset, until: askedAt + offset + MAX_LATE_MS };
    });
    return waitMs;
  }

  /** Waits for the time of the next message. @returns 0 = now, or after the signal; else nothing can be reserved for so many milliseconds */
  async next(signal: AbortSignal): Promise<number> {
    for (let missed = 0; !signal.aborted; missed++) {
      if (this.#slots.length === 0) {
        const waitMs = await this.reserve();
        if (waitMs > this.#share.maxWaitMs) return waitMs;
      }
      const { from, until } = this.#slots.shift()!;
      const early = from - performance.now();
      if (early > 0) await delay(Math.ceil(early), undefined, { signal }).catch(() => undefined);
      if (performance.now() <= until || missed === MAX_MISSED) return 0;
    }
    return 0;
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
