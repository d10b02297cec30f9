import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { deleteOldLinks } from './audit-chain.ts';
import { allowAuditDeletion, deleteAuditRowsBefore } from './audit-repo.ts';

const BATCH = 5_000;

/**
 * Deletes audit rows past `AUDIT_LOG_RETENTION_DAYS`, then the links that nothing needs any more, batch by batch; with 0 days it does nothing
 * (spec 01 section 17). @returns rows deleted
 */
export async function purgeAuditLog(app: App): Promise<number> {
  const days = app.env.auditLogRetentionDays;
  if (days === 0) return 0;
  const before = addDays(app.clock.now(), -days);
  const deleted = await deleteInBatches(app, (t) => deleteAuditRowsBefore(t.db, before, BATCH));
  await deleteInBatches(app, (t) => deleteOldLinks(t.db, BATCH));
  return deleted;
}

async function deleteInBatches(app: App, deleteBatch: (t: App) => Promise<number>): Promise<number> {
  for (let deleted = 0; ; ) {
    const rows = await inTransaction(app, async (t) => {
      await allowAuditDeletion(t.db);
      return deleteBatch(t);
    });
    deleted += rows;
    if (rows < BATCH) return deleted;
  }
}
