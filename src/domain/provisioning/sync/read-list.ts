import type { App } from '../../../core/app.ts';
import type { RunLease } from '../long-runs/drive-run.ts';
import { retryPanelCall } from '../long-runs/retry-panel-call.ts';
import { advance, type PhaseResult } from './progress.ts';
import { clearSnapshot, countSnapshot, insertPage, skipDuplicates } from './snapshot-repo.ts';
import type { SyncRun } from './types.ts';

const PAGE = 500;
/** Times that a list is read again whose length does not match, because users were added or deleted during the reading. */
const MAX_RESTARTS = 2;

/**
 * Reads the next page of the panel's users. The list is complete when it has as many different users as the panel's total;
 * otherwise it is read again, and if it stays incomplete, no user counts as absent (spec 06 hazards 4, 5).
 */
export async function readList(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  await lease.renew(app);
  const readAt = app.clock.now();
  const { start } = run.cursor;
  const page = await retryPanelCall(() => app.ports.panel.listUsers({ start, size: PAGE }));
  const next = start + page.users.length;
  const isOver = page.users.length === 0 || next >= page.total;
  return lease.write(app, async (t) => {
    await insertPage(t.db, run.id, page.users, readAt);
    const began = run.cursor.readAt ?? readAt.toISOString();
    const progress = { done: next, total: page.total };
    if (!isOver) {
      await advance(t, run, { start: next, readAt: began, progress });
      return 'more';
    }
    const listed = await countSnapshot(t.db, run.id);
    const isComplete = listed === page.total;
    if (!isComplete && run.cursor.restarts < MAX_RESTARTS) {
      await clearSnapshot(t.db, run.id);
      await advance(t, run, { start: 0, readAt: null, restarts: run.cursor.restarts + 1 });
      return 'more';
    }
    await skipDuplicates(t.db, run.id, t.clock.now());
    await advance(t, run, { readAt: began, isComplete, hasUsers: listed > 0 }, { listed });
    return 'next';
  });
}
