import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { listDistinctNames } from '../../core/db/distinct-names.ts';
import { isAppError } from '../../core/errors.ts';
import type { RunningJob } from '../../core/jobs/define-job.ts';
import { type TextKey, text } from '../messaging/texts.ts';

/** The events of the monitoring log and what each says in `data`. */
interface MonitoringEvents {
  monitoring_cycle_completed: { timestamp: string };
  monitoring_cycle_error: { error: string };
  expired_subscriptions_processed: { count: number };
  expiring_notifications_sent: { days: number; count: number };
  trial_expiring_notifications_sent: { count: number };
  trial_channel_subscription_check: { checked: number; disabled: number; restored: number };
  expired_followups_sent: { day1: number; wave2: number; wave3: number };
  autopayments_processed: { processed: number; failed: number };
  inactive_users_cleanup: { deleted_count: number };
  vpnpanel_sync: { stats: Readonly<Record<string, unknown>> };
  vpnpanel_sync_error: { error: string };
  ticket_sla_reminders_sent: { count: number };
}

type MonitoringEvent = keyof MonitoringEvents;

/** Fields of `data` that describe the work and do not count it. */
const NO_COUNTERS: ReadonlySet<string> = new Set(['days']);

/** Whether a row is written: not for work that found nothing to do. An event without counters is always written. */
function isWorthRecording(data: MonitoringEvents[MonitoringEvent]): boolean {
  const counters = Object.entries(data).filter(([key, value]) => typeof value === 'number' && !NO_COUNTERS.has(key));
  return counters.length === 0 || counters.some(([, value]) => value > 0);
}

function isFailure(event: MonitoringEvent): boolean {
  return event.endsWith('_error');
}

/**
 * Adds a row to the monitoring log; none for work that found nothing to do. Called by a job in its transaction, where
 * the work is one, else after the work.
 */
export async function recordMonitoring<E extends MonitoringEvent>(app: App, event: E, data: MonitoringEvents[E]): Promise<void> {
  if (!isWorthRecording(data)) return;
  const values = Object.entries(data).filter(([, value]) => typeof value !== 'object');
  await insertEntry(app.db, {
    eventType: event,
    message: text(app.settings.get('DEFAULT_LANGUAGE'), `monitoring.${event}` satisfies TextKey, Object.fromEntries(values)),
    data: { ...data },
    isSuccess: !isFailure(event),
    createdAt: app.clock.now(),
  });
}

/**
 * The handler of a job that is a step of the monitoring cycle (spec 06 section 14): a failure is recorded as `monitoring_cycle_error` and
 * thrown on. The row names the step and the kind of the failure; the system log has its text and stack.
 */
export function monitoringStep<Payload>(step: string, work: (app: App, job: RunningJob<Payload>) => Promise<unknown>) {
  return async (app: App, job: RunningJob<Payload>): Promise<void> => {
    try {
      await work(app, job);
    } catch (error) {
      // While the database is away neither the step nor this row succeeds; the job queue logs the step's own error.
      // Any failure: the error of the step is thrown on.
      await recordMonitoring(app, 'monitoring_cycle_error', { error: `${step}: ${kindOf(error)}` }).catch(() => undefined);
      throw error;
    }
  };
}

/** Never the message: it may contain a host, a query or data of a user. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  if (isAppError(error)) return error.code;
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
}

/** A page of the monitoring log, newest first; an empty type is no filter. */
export async function listMonitoringLog(
  app: App,
  filter: { eventType?: string | null | undefined },
  page: { limit: number; offset: number },
): Promise<{ items: MonitoringEntry[]; total: number }> {
  const eventType = filter.eventType || null;
  const [items, total] = await Promise.all([listEntries(app.db, eventType, page), countEntries(app.db, eventType)]);
  return { items, total };
}

/** The types that occur in the log, ascending. */
export function listMonitoringEventTypes(app: App): Promise<string[]> {
  return listTypes(app.db);
}

const BATCH = 5_000;

/** Deletes rows past `MONITORING_LOGS_RETENTION_DAYS`, batch by batch; with 0 days none. @returns rows deleted */
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

const ENTRY = columns('MonitoringLog', ['id', 'eventType', 'message', 'data', 'isSuccess', 'createdAt']);

type MonitoringEntry = RowOf<typeof ENTRY>;

async function insertEntry(db: Db, entry: Omit<MonitoringEntry, 'id'>): Promise<void> {
  await db.sql(
    `INSERT INTO monitoring_logs (event_type, message, data, is_success, created_at)
     VALUES ($1, $2, $3::jsonb, $4, $5::timestamptz) RETURNING id`,
    [entry.eventType, entry.message, JSON.stringify(entry.data), entry.isSuccess, entry.createdAt],
  );
}

/** Newest first. @param eventType null = every type */
function listEntries(db: Db, eventType: string | null, page: { limit: number; offset: number }): Promise<MonitoringEntry[]> {
  return db.sql<MonitoringEntry>(
    `SELECT ${ENTRY.of('l')} FROM monitoring_logs l ${eventType === null ? '' : 'WHERE l.event_type = $3'}
     ORDER BY l.created_at DESC, l.id DESC LIMIT $1::int OFFSET $2::bigint`,
    [page.limit, page.offset, ...(eventType === null ? [] : [eventType])],
  );
}

/** The table keeps some weeks of at most some rows a minute, so that its rows can be counted. */
async function countEntries(db: Db, eventType: string | null): Promise<number> {
  const [row] = await db.sql<{ total: number }>(
    `SELECT count(*)::int AS total FROM monitoring_logs ${eventType === null ? '' : 'WHERE event_type = $1'}`,
    eventType === null ? [] : [eventType],
  );
  return row!.total;
}

/** Ascending. */
const listTypes = (db: Db): Promise<string[]> => listDistinctNames(db, 'monitoring_logs', 'event_type');

/** @returns rows deleted, at most `limit` */
async function deleteEntriesBefore(db: Db, timestamp: Date, limit: number): Promise<number> {
  const rows = await db.sql(
    `DELETE FROM monitoring_logs WHERE id = ANY(ARRAY(
       SELECT id FROM monitoring_logs WHERE created_at < $1::timestamptz ORDER BY created_at, id LIMIT $2::int)) RETURNING 1 AS gone`,
    [timestamp, limit],
  );
  return rows.length;
}
