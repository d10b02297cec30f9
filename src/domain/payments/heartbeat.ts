import type { App } from '../../core/app.ts';
import { addMs, SECOND_MS } from '../../core/clock.ts';
import { runOutsideTransaction } from '../../core/db/root-guard.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { keepState, readState, touchState, writeState } from '../../core/service-state.ts';

/** Row of `service_state` that every instance renews. */
const ALIVE = 'payments:alive';
const LAST_OUTAGE = 'payments:last_outage';
const BEAT_MS = 5 * SECOND_MS;
/** More than two beats. Providers repeat what a shorter outage refused. */
const SILENT_MS = 15 * SECOND_MS;

/** What `doctor` shows of the last outage; timestamps in ISO 8601. */
export interface RecordedOutage {
  from: string;
  to: string;
  /** `no_instance`: nobody reached the database, or nobody ran; `callbacks_refused`: callbacks were answered 5xx. */
  reason: 'no_instance' | 'callbacks_refused';
}

export function readLastOutage(app: Pick<App, 'db'>): Promise<RecordedOutage | null> {
  return readState<RecordedOutage>(app.db, LAST_OUTAGE);
}

/**
 * One beat of an instance (spec 10 F2). After a time in which no instance wrote one, and when callbacks were refused here, it records the
 * outage and sends the job that asks providers for the invoices of that time, in one transaction; of several instances one does.
 * @param refusedMs since when callbacks were refused; null = none was
 */
export async function beat(app: App, refusedMs: number | null): Promise<void> {
  if (refusedMs === null && (await keepState(app.db, ALIVE, SILENT_MS))) return;
  await inTransaction(app, async (t) => {
    const silentMs = (await touchState(t.db, ALIVE)) ?? 0;
    const isSilent = silentMs > SILENT_MS;
    const lastedMs = Math.max(isSilent ? silentMs : 0, refusedMs ?? 0);
    if (!isSilent && refusedMs === null) return;
    const to = t.clock.now();
    const span = { from: addMs(to, -Math.ceil(lastedMs)).toISOString(), to: to.toISOString() };
    const outage: RecordedOutage = { ...span, reason: isSilent ? 'no_instance' : 'callbacks_refused' };
    await writeState(t.db, LAST_OUTAGE, outage);
    await t.jobs.send('payments.check-after-outage', span);
    t.log.warn(outage, 'callbacks may have been lost; the providers are asked for the invoices of that time');
  });
}

export interface Heartbeat {
  /** A callback was answered 5xx: its sender may not repeat it. */
  callbackRefused(): void;
  /** Beats now, after the beat that is under way; never rejects. */
  round(): Promise<void>;
  stop(): void;
}

/** Beats every five seconds, at once for the first time. */
export function startHeartbeat(app: App): Heartbeat {
  /** Since when callbacks were refused that no recorded outage has. */
  let refusedAt: number | null = null;
  /** The same for those that were refused while a beat was under way: its span ended before. */
  let refusedMeanwhile: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let last: Promise<void> = Promise.resolve();
  const one = async (): Promise<void> => {
    const seenAt = refusedAt;
    refusedMeanwhile = null;
    try {
      await beat(app, seenAt === null ? null : performance.now() - seenAt);
      refusedAt = refusedMeanwhile;
    } catch (error) {
      // Any failure: the silence itself is what the next beat finds.
      app.log.debug({ err: error }, 'a heartbeat could not be stored');
    }
  };
  const round = (): Promise<void> => {
    last = last.then(() => runOutsideTransaction(one));
    return last;
  };
  const follow = (): void => {
    void round().then(() => {
      if (isStopped) return;
      timer = setTimeout(follow, BEAT_MS);
      timer.unref();
    });
  };
  follow();
  return {
    callbackRefused: () => {
      const now = performance.now();
      refusedAt ??= now;
      refusedMeanwhile ??= now;
    },
    round,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
