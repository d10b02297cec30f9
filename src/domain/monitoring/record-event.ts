import type { App } from '../../core/app.ts';
import { isAppError } from '../../core/errors.ts';
import type { RunningJob } from '../../core/jobs/define-job.ts';
import { type TextKey, text } from '../messaging/texts.ts';
import { isFailure, isWorthRecording, type MonitoringEvent, type MonitoringEvents } from './events.ts';
import { insertEntry } from './repo.ts';

/**
 * Adds a row to the monitoring log; none for work that found nothing to do (spec 06 section 8). Called by a job in its transaction, where
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
