import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { deleteEntriesBefore } from './repo.ts';

const BATCH = 5_000;

/** Deletes rows past `MONITORING_LOGS_RETENTION_DAYS`, batch by batch; with 0 days none (spec 06 section 8). @returns rows deleted */
export async function purgeMonitoringLog(app: App): Promise<number> {
  const days = app.settings.get('MONITORING_LOGS_RETENTION_DAYS');
  if (days === 0) return 0;
  const before = addDays(app.clock.now(), -days);
  let deleted = 0;
  for (;;) {
    const rows = await deleteEntriesBefore(app.db, before, BATCH);
    deleted += rows;
    if (rows < BATCH) return deleted;
  }
}
