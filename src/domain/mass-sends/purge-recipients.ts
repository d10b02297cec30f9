import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { deleteRecipients } from './recipient-repo.ts';

/** Days that the rows of recipients are kept after the end; the numbers stay. */
const RETENTION_DAYS = 30;
const BATCH = 5_000;

/** @returns rows deleted */
export async function purgeRecipients(app: App): Promise<number> {
  const before = addDays(app.clock.now(), -RETENTION_DAYS);
  for (let deleted = 0; ; ) {
    const rows = await deleteRecipients(app.db, before, BATCH);
    deleted += rows;
    if (rows < BATCH) return deleted;
  }
}
