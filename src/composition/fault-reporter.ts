import type { App } from '../core/app.ts';
import { isDatabaseUnavailable } from '../core/db/db-errors.ts';
import { runOutsideTransaction } from '../core/db/root-guard.ts';
import type { Fault } from '../domain/ops/report-fault.ts';

/** Faults of one source are sent as jobs at most this often by an instance; the job decides whether administrators are notified. */
const PAUSE_MS = 60_000;
/** More than there are queues and operations. */
const MAX_SOURCES = 5_000;

/** Turns failures that this instance sees into jobs `ops.report-fault`. It never fails and never waits in the caller's way. */
export class FaultReporter {
  readonly #sentAt = new Map<string, number>();
  #app: App | null = null;

  /** Faults before this are in the log only. */
  use(app: App): void {
    this.#app = app;
  }

  /** @returns when the job is stored, or was not needed; never rejects */
  async report(kind: Fault['kind'], source: string, error: unknown, reference = ''): Promise<void> {
    const app = this.#app;
    // An unavailable database is the reason of every failure then, and stores no job.
    if (app === null || !app.settings.get('ADMIN_NOTIFICATIONS_ENABLED') || isDatabaseUnavailable(error)) return;
    const fault: Fault = { kind, source: source.slice(0, 60), detail: [nameOf(error), reference].filter(Boolean).join(', ') };
    const key = `${kind}:${fault.source}`;
    const now = performance.now();
    if (now - (this.#sentAt.get(key) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return;
    if (this.#sentAt.size >= MAX_SOURCES) this.#sentAt.clear();
    this.#sentAt.set(key, now);
    try {
      await runOutsideTransaction(() => app.jobs.send('ops.report-fault', { ...fault }, { singletonKey: key }));
    } catch (failure) {
      // Any failure: of the report; the fault itself is in the log.
      app.log.warn({ err: failure, kind, source }, 'a fault could not be reported to the administrators');
    }
  }
}

/** Class and code: neither holds data. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code.slice(0, 40)}` : '';
  return `${error.name.slice(0, 60)}${code}`;
}
