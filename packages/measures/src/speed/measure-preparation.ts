import type { App } from '../../../../src/core/app.ts';
import { findSend } from '../../../../src/domain/mass-sends/repo.ts';
import { runSend } from '../../../../src/domain/mass-sends/run-send.ts';
import { KINDS } from '../../../../tests/support/broadcast-samples.ts';

const megabytes = () => Math.round(process.memoryUsage.rss() / 1_048_576);

/**
 * Runs a send until each recipient has a row, and stops it then, before a message.
 * @returns recipients, seconds, and the memory of the process as a sentence (MiB)
 */
export async function measurePreparation(app: App, kind: 'broadcast' | 'pinned' | 'unpin', id: number): Promise<string> {
  const open = async () => async () => ({ state: 'failed' as const });
  const kinds = { ...KINDS, [kind]: { ...KINDS[kind], announce: async () => undefined, open } };
  const before = megabytes();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, megabytes());
  }, 50);
  const stop = new AbortController();
  const poll = setInterval(async () => {
    if ((await findSend(app.db, id))?.state === 'sending') stop.abort();
  }, 100);
  const from = performance.now();
  await runSend(app, kinds, id, { signal: stop.signal });
  const seconds = (performance.now() - from) / 1_000;
  clearInterval(poll);
  clearInterval(watch);
  const { total } = (await findSend(app.db, id))!;
  return `${total} recipients in ${seconds.toFixed(1)} s; memory ${before} MiB before, ${peak} MiB at most`;
}
