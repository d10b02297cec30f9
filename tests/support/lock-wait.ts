import type { App } from '../../src/core/app.ts';
import { runOutsideTransaction } from '../../src/core/db/root-guard.ts';
import { eventually } from './eventually.ts';

/**
 * Resolves when a connection of the worker's database waits for the lock of another one, so that a test can order two
 * transactions without a pause.
 * @param statement beginning of the waiting statement; left out: any
 */
export async function someoneWaitsForALock(app: App, statement = ''): Promise<void> {
  await eventually(async () => {
    // Outside of a transaction of the caller, in which the statistics of the activity would not change.
    const waiting = await runOutsideTransaction(() =>
      app.db.sql(
        `SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND starts_with(ltrim(query), $1)`,
        [statement],
      ),
    );
    if (waiting.length === 0) throw new Error('no connection waits for a lock');
  });
}
