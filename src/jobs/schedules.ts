import type { App } from '../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { inTransaction } from '../core/db/transaction.ts';
import type { JobTypes } from '../core/jobs/job-sender.ts';
import { readState } from '../core/service-state.ts';
import { dailyServiceMs } from '../domain/subscriptions/jobs.ts';

interface Schedule {
  queue: keyof JobTypes;
  /** Read before each round, so that a changed setting counts at once. */
  intervalMs: (app: App) => number;
}

/**
 * Work that the clock starts. Every instance sends, but `singletonKey` lets one job wait at a time, and the round it belongs to is
 * part of the key of what was done: the cluster runs it once an interval, however many instances there are (spec 06 section 15).
 */
const monitoringMs = (app: App) => Math.max(1, app.settings.get('MONITORING_INTERVAL')) * MINUTE_MS;

const SCHEDULES: readonly Schedule[] = [
  { queue: 'provisioning.reconcile', intervalMs: () => MINUTE_MS },
  { queue: 'provisioning.watch-runs', intervalMs: () => MINUTE_MS },
  { queue: 'subscriptions.expire', intervalMs: () => MINUTE_MS },
  { queue: 'subscriptions.autopay', intervalMs: monitoringMs },
  { queue: 'subscriptions.remind', intervalMs: monitoringMs },
  { queue: 'subscriptions.daily', intervalMs: dailyServiceMs },
  { queue: 'promo.expire', intervalMs: () => MINUTE_MS },
  { queue: 'promo.win-back', intervalMs: monitoringMs },
  {
    queue: 'payments.check-pending',
    intervalMs: (app) => Math.max(1, app.settings.get('PAYMENT_VERIFICATION_AUTO_CHECK_INTERVAL_MINUTES')) * MINUTE_MS,
  },
  {
    queue: 'tickets.remind-overdue',
    intervalMs: (app) => Math.max(10, app.settings.get('SUPPORT_TICKET_SLA_CHECK_INTERVAL_SECONDS')) * SECOND_MS,
  },
  { queue: 'gifts.watch', intervalMs: () => 5 * MINUTE_MS },
  { queue: 'ledger.count', intervalMs: () => MINUTE_MS },
  { queue: 'ledger.check', intervalMs: () => 60 * MINUTE_MS },
  // Fetches once a day; the rounds between are for the first start and for tries after a failure.
  { queue: 'safety.refresh-disposable-domains', intervalMs: () => 5 * MINUTE_MS },
  { queue: 'safety.watch-panel', intervalMs: (app) => app.settings.get('MAINTENANCE_CHECK_INTERVAL') * SECOND_MS },
  // Works in one hour of the night; the other rounds end at once.
  { queue: 'users.delete-inactive', intervalMs: () => 60 * MINUTE_MS },
  { queue: 'core.purge', intervalMs: () => 60 * MINUTE_MS },
];

const TICK_MS = 15 * SECOND_MS;

/** Starts the clock on this instance. @returns a function that stops it */
export function startSchedules(app: App): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const tick = async (): Promise<void> => {
    for (const { queue, intervalMs } of SCHEDULES) {
      try {
        await startRound(app, queue, intervalMs(app));
      } catch (error) {
        app.log.warn({ err: error, queue }, 'a scheduled job could not be sent');
      }
    }
    if (!stopped) {
      timer = setTimeout(tick, TICK_MS);
      timer.unref();
    }
  };
  void tick();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/**
 * Sends the job when this round of the queue has not been started by any instance; the row decides who is first. Row and job commit
 * together: a round whose job could not be sent, or whose process died, is not spent.
 */
export async function startRound(app: App, queue: keyof JobTypes, intervalMs: number): Promise<void> {
  const round = Math.floor(app.clock.now().getTime() / intervalMs);
  const key = `schedule:${queue}`;
  if ((await readState<number>(app.db, key)) === round) return;
  await inTransaction(app, async (t) => {
    const started = await t.db.sql(
      `INSERT INTO service_state (key, value, updated_at) VALUES ($1, to_jsonb($2::bigint), now())
       ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, updated_at = now() WHERE service_state.value <> EXCLUDED.value
       RETURNING key`,
      [key, round],
    );
    if (started.length > 0) await t.jobs.send(queue, {} as never, { singletonKey: queue });
  });
}
