import type { App } from '../../../core/app.ts';
import { saveRun } from './run-repo.ts';
import type { SyncCounts, SyncCursor, SyncRun } from './types.ts';

/** `next`: the phase is over. */
export type PhaseResult = 'more' | 'next' | { pauseMs: number };

/** Stores how far a run has come, in the transaction of the batch itself; what went well ends any trouble with the panel. @returns the run as stored */
export async function advance(
  t: App,
  run: SyncRun,
  cursor: Partial<SyncCursor>,
  counted: Partial<SyncCounts> = {},
  facts: Partial<Pick<SyncRun, 'refusal' | 'servers'>> = {},
): Promise<SyncRun> {
  const counts = { ...run.counts };
  for (const [name, number] of Object.entries(counted) as [keyof SyncCounts, number][]) counts[name] += number;
  const advanced = { ...run, ...facts, cursor: { ...run.cursor, trouble: 0, ...cursor }, counts };
  await saveRun(t.db, advanced, t.clock.now());
  return advanced;
}
