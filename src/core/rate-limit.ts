import type { App } from './app.ts';
import { primaryOf } from './db/db.ts';
import { refusal } from './errors.ts';

/** Longest key of `rate_limit_windows`. */
const MAX_KEY_LENGTH = 200;

/**
 * Counts a hit in the current fixed window and refuses the one after `limit` (spec 01 section 4.4). One atomic statement, so that
 * instances and parallel requests share the count. Call it outside of transactions: a refused request's hit must stay counted.
 * A database that does not answer refuses too (503).
 * @param key at most 200 characters, for example `ip:203.0.113.7:login`
 * @throws AppError 429 'Too many requests' with `Retry-After`
 */
export async function limitOrRefuse(app: App, key: string, limit: number, windowSeconds: number): Promise<void> {
  if ((await countHit(app, key, windowSeconds)) > limit) throw tooManyRequests(secondsLeft(app, windowSeconds));
}

/** Counts a hit like `limitOrRefuse`, for callers that do not answer with 429. @returns whether the hit is within the limit */
export async function isWithinLimit(app: App, key: string, limit: number, windowSeconds: number): Promise<boolean> {
  return (await countHit(app, key, windowSeconds)) <= limit;
}

/** Hits of the current window, without adding one: for limits that count failures only. */
export async function hitsSoFar(app: App, key: string, windowSeconds: number): Promise<number> {
  const [row] = await primaryOf(app.db).sql<{ hits: number }>(
    'SELECT hits FROM rate_limit_windows WHERE key = $1 AND window_start = $2::timestamptz',
    [key, windowStart(app, windowSeconds)],
  );
  return row?.hits ?? 0;
}

/** Starts the count of a key again, for example after a correct password. */
export async function clearLimit(app: App, key: string): Promise<void> {
  await primaryOf(app.db).sql('DELETE FROM rate_limit_windows WHERE key = $1 RETURNING key', [key]);
}

async function countHit(app: App, key: string, windowSeconds: number): Promise<number> {
  if (key.length > MAX_KEY_LENGTH) throw new Error('rate limit key too long');
  const [row] = await primaryOf(app.db).sql<{ hits: number }>(
    `INSERT INTO rate_limit_windows (key, window_start, hits) VALUES ($1, $2::timestamptz, 1)
     ON CONFLICT (key, window_start) DO UPDATE SET hits = rate_limit_windows.hits + 1 RETURNING hits`,
    [key, windowStart(app, windowSeconds)],
  );
  return row!.hits;
}

function windowStart(app: App, windowSeconds: number): Date {
  const windowMs = windowSeconds * 1_000;
  return new Date(Math.floor(app.clock.now().getTime() / windowMs) * windowMs);
}

/** Until the window ends and the count starts again; at least the minute that the interface promises. */
function secondsLeft(app: App, windowSeconds: number): number {
  const endsAt = windowStart(app, windowSeconds).getTime() + windowSeconds * 1_000;
  return Math.max(60, Math.ceil((endsAt - app.clock.now().getTime()) / 1_000));
}

export const tooManyRequests = refusal('rate_limited', 429, 'Too many requests', (retryAfterSeconds: number) => ({
  headers: { 'Retry-After': String(retryAfterSeconds) },
}));
