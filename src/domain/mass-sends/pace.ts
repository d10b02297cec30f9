import type { Db } from '../../core/db/db.ts';
import type { Env } from '../../core/env.ts';
import type { SendChannel } from './types.ts';

/** Single messages that may be ahead of a mass send (`lease_sends`). */
const SINGLE_BURST = 5;

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
