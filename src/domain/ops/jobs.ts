import type { App } from '../../core/app.ts';
import { purgeAuditLog } from '../access/purge-audit-log.ts';
import { checkLedger } from '../ledger/check-ledger.ts';
import { purgeDeliveries } from '../webhooks/manage-webhooks.ts';
import { purgeOldRows } from './purge.ts';

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'ledger.check': Record<string, never>;
    'core.purge': Record<string, never>;
  }
}

/** Proves the ledger once in a while; a violation is an alarm in the log and in `/metrics`, never repaired by itself. */
export async function runLedgerCheck(app: App): Promise<boolean> {
  const problems = await checkLedger(app);
  if (problems.length > 0) app.log.error({ problems: problems.slice(0, 20), count: problems.length }, 'LEDGER CHECK FAILED');
  return problems.length === 0;
}

export async function runPurge(app: App): Promise<void> {
  const deleted = Object.entries({
    ...(await purgeOldRows(app)),
    webhook_deliveries: await purgeDeliveries(app),
    admin_audit_log: await purgeAuditLog(app),
  }).filter(([, rows]) => rows > 0);
  if (deleted.length > 0) app.log.info({ deleted: deleted.map(([table, rows]) => `${table} ${rows}`) }, 'old rows purged');
}
