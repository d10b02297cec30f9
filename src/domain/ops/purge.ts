import type { App } from '../../core/app.ts';
import { addDays, confirmedNow } from '../../core/clock.ts';
import { rowBatch } from '../../core/db/statement-values.ts';
import { EVENT_RETENTION_DAYS } from '../../core/events/event-recorder.ts';
import { purgeAuditLog } from '../access/purge-audit-log.ts';
import { purgeRecipients } from '../mass-sends/control-sends.ts';
import { purgeMonitoringLog } from '../monitoring/monitoring-log.ts';
import { purgeDeliveries } from '../webhooks/manage-webhooks.ts';
import { purgeFaultNotices } from './report-fault.ts';

const BATCH = 5_000;

/** Tables whose rows expire: column of the time and days until a row is deleted. */
const RETENTION_DAYS: readonly { table: string; column: string; days: number }[] = [
  { table: 'idempotency_keys', column: 'created_at', days: 1 },
  { table: 'short_lived_entries', column: 'expires_at', days: 0 },
  { table: 'rate_limit_windows', column: 'window_start', days: 1 },
  { table: 'domain_events', column: 'created_at', days: EVENT_RETENTION_DAYS },
  // Longer than an event may be old when it arrives, so that no body is taken twice.
  { table: 'panel_events', column: 'received_at', days: 7 },
  { table: 'provider_callbacks', column: 'received_at', days: 90 },
  // Mails that could not be sent contain links and codes, which have expired by then.
  { table: 'outgoing_mails', column: 'created_at', days: 7 },
  // Statistics of the menu cover a year at most.
  { table: 'button_click_logs', column: 'clicked_at', days: 400 },
  { table: 'promo_offer_deliveries', column: 'settled_at', days: 90 },
  { table: 'cabinet_refresh_tokens', column: 'expires_at', days: 30 },
  // Their candidates and the stored list of the panel are deleted with them; a running one has no end yet.
  { table: 'squad_migration_runs', column: 'finished_at', days: 90 },
  { table: 'panel_sync_runs', column: 'finished_at', days: 90 },
  // With the users of each; a newer reading deletes the older ones of its days. The daily traffic check needs that of the day before.
  { table: 'panel_traffic_fills', column: 'started_at', days: 2 },
  // Of users whom the panel no longer has; the rows of others are younger.
  { table: 'traffic_snapshots', column: 'read_at', days: 30 },
  { table: 'traffic_alarms', column: 'notified_at', days: 30 },
];

/** Deletes expired rows in batches, so that no statement locks many rows. @returns rows deleted by table */
export async function purgeOldRows(app: App): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  for (const { table, column, days } of RETENTION_DAYS) {
    const before = addDays(app.clock.now(), -days);
    const batch = rowBatch(table, `r.${column} < $1::timestamptz`, BATCH);
    for (;;) {
      const rows = await app.db.sql(`${batch.with} DELETE FROM ${table} r WHERE ${batch.contains} RETURNING 1 AS gone`, [before]);
      deleted[table] = (deleted[table] ?? 0) + rows.length;
      if (rows.length < BATCH) break;
    }
  }
  return deleted;
}

/** Deletes the rows of every table that are past their retention time, and logs how many of each. */
export async function purgeExpired(instance: App): Promise<void> {
  // One time for all, which the database says: a machine whose clock is ahead deletes nothing early (spec 10 F5).
  const now = await confirmedNow(instance.clock);
  const app = { ...instance, clock: { now: () => now } };
  const deleted = Object.entries({
    ...(await purgeOldRows(app)),
    webhook_deliveries: await purgeDeliveries(app),
    admin_audit_log: await purgeAuditLog(app),
    monitoring_logs: await purgeMonitoringLog(app),
    mass_send_recipients: await purgeRecipients(app),
    service_state: await purgeFaultNotices(app),
  }).filter(([, rows]) => rows > 0);
  if (deleted.length > 0) app.log.info({ deleted: deleted.map(([table, rows]) => `${table} ${rows}`) }, 'old rows purged');
}
