import type { App } from '../../../core/app.ts';
import { saveRun } from './run-repo.ts';
import type { SyncCounts, SyncCursor, SyncRun } from './types.ts';

/** `next`: the phase is over. */
export type PhaseResult = 'more' | 'next' | { pauseMs: number };

/**
 * Stores the cursor and the counters of a run, in the transaction of the batch. A stored batch sets the counter of failures of the panel
 * (`trouble`) back to 0.
 * @returns the run as stored
 */
export async function advance(
  t: App,
  run: SyncRun,
  cursor: Partial<SyncCursor>,
  counted: Partial<SyncCounts> = {},
  results: Partial<Pick<SyncRun, 'refusal' | 'servers'>> = {},
): Promise<SyncRun> {
  const counts = { ...run.counts };
  for (const [name, number] of Object.entries(counted) as [keyof SyncCounts, number][]) counts[name] += number;
  const advanced = { ...run, ...results, cursor: { ...run.cursor, trouble: 0, ...cursor }, counts };
  await saveRun(t.db, advanced, t.clock.now());
  return advanced;
}
