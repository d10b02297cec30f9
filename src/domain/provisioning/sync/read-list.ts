import type { App } from '../../../core/app.ts';
import type { RunHold } from '../long-runs/drive-run.ts';
import { tryAgain } from '../long-runs/try-again.ts';
import { advance, type PhaseResult } from './progress.ts';
import { clearSnapshot, countSnapshot, insertPage, setAsideDuplicates } from './snapshot-repo.ts';
import type { SyncRun } from './types.ts';

const PAGE = 500;
/** A list that does not add up, because users came and went meanwhile, is read again so many times. */
const MAX_RESTARTS = 2;

/**
 * Reads the next page of the panel's users. The list counts as whole when it has as many different users as the panel says it has;
 * one that does not is read again, and if that does not help, nobody is taken for absent because of it (spec 06 hazards 4, 5).
 */
export async function readList(app: App, hold: RunHold, run: SyncRun): Promise<PhaseResult> {
  await hold.renew(app);
  const readAt = app.clock.now();
  const { start } = run.cursor;
  const page = await tryAgain(() => app.ports.panel.listUsers({ start, size: PAGE }));
  const next = start + page.users.length;
  const isOver = page.users.length === 0 || next >= page.total;
  return hold.write(app, async (t) => {
    await insertPage(t.db, run.id, page.users, readAt);
    const began = run.cursor.readAt ?? readAt.toISOString();
    if (!isOver) {
      await advance(t, run, { start: next, readAt: began });
      return 'more';
    }
    const listed = await countSnapshot(t.db, run.id);
    const addsUp = listed === page.total;
    if (!addsUp && run.cursor.restarts < MAX_RESTARTS) {
      await clearSnapshot(t.db, run.id);
      await advance(t, run, { start: 0, readAt: null, restarts: run.cursor.restarts + 1 });
      return 'more';
    }
    await setAsideDuplicates(t.db, run.id, t.clock.now());
    await advance(t, run, { readAt: began, isComplete: addsUp && listed > 0 }, { listed });
    return 'next';
  });
}
