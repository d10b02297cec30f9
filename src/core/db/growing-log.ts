import type { App } from '../app.ts';
import { addMs, MINUTE_MS } from '../clock.ts';

/** Rows older than this have been written by every instance, so their count is cached. */
const OLD_MS = MINUTE_MS;
const TOTAL_TRUST_MS = 10 * MINUTE_MS;

export interface GrowingLog {
  /** Highest id written before a given time; 0 = none. */
  idBefore: (timestamp: Date) => Promise<number>;
  /** Counts the rows on one side of an id. */
  count: (range: { above: number } | { upTo: number }) => Promise<number>;
}

/**
 * The number of rows of a log that only grows and may have millions of them: the count of rows older than a minute is cached, the rest is
 * counted each time.
 * @param key of the cache; names the log and the filter
 */
export async function countGrowingLog(app: App, key: string, log: GrowingLog): Promise<number> {
  const old = await app.cache.read(key, TOTAL_TRUST_MS, async () => {
    const upTo = await log.idBefore(addMs(app.clock.now(), -OLD_MS));
    return { upTo, rows: upTo === 0 ? 0 : await log.count({ upTo }) };
  });
  return old.rows + (await log.count({ above: old.upTo }));
}
