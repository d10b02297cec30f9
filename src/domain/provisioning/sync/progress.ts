import type { App } from '../../../core/app.ts';
import { saveRun } from './run-repo.ts';
import type { SkippedUser, SkippedUsers, SyncCounts, SyncCursor, SyncProgress, SyncRun } from './types.ts';

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
  results: Partial<Pick<SyncRun, 'refusal' | 'servers' | 'skipped'>> = {},
): Promise<SyncRun> {
  const counts = { ...run.counts };
  for (const [name, number] of Object.entries(counted) as [keyof SyncCounts, number][]) counts[name] += number;
  const advanced = { ...run, ...results, cursor: { ...run.cursor, trouble: 0, ...cursor }, counts };
  await saveRun(t.db, advanced, t.clock.now());
  return advanced;
}

/** The progress of the phase after `count` more. */
export function progressOf(run: SyncRun, count: number, total: number): SyncProgress {
  return { done: (run.cursor.progress?.done ?? 0) + count, total };
}

/** Panel users that a run names; more are only counted. */
const MAX_NAMED = 100;

/** What was skipped so far and now; null = nothing. */
export function withSkipped(before: SkippedUsers | null, skipped: readonly SkippedUser[]): SkippedUsers | null {
  if (skipped.length === 0) return before;
  const counts = { ...before?.counts };
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1;
  return { counts, users: [...(before?.users ?? []), ...skipped].slice(0, MAX_NAMED) };
}
