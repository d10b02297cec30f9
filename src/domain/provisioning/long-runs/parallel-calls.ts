import type { App } from '../../../core/app.ts';
import type { RunLease } from './drive-run.ts';

/**
 * Works on the items with at most `VPNPANEL_CONCURRENCY` of them under way at the same time; the next begins as soon as one ends. After
 * an error no further item begins, and it is thrown when those under way have ended.
 * @param lease of the run, kept while the items are worked on; null = the work belongs to no run
 * @throws RunLeaseLost, and what the work throws
 */
export async function inParallel<T>(
  app: App,
  lease: RunLease | null,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failure: { error: unknown } | null = null;
  const worker = async () => {
    try {
      for (let next = queue.next(); !next.done && failure === null; next = queue.next()) {
        await lease?.keep(app);
        await work(next.value);
      }
    } catch (error) {
      // Any failure: it is thrown when all workers have ended.
      failure ??= { error };
    }
  };
  await Promise.all(Array.from({ length: app.env.vpnpanelConcurrency }, worker));
  const failed = failure as { error: unknown } | null;
  if (failed) throw failed.error;
}
