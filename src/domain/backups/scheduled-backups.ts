import type { App } from '../../core/app.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { lockState, writeState } from '../../core/service-state.ts';
import { endInterruptedTasks, INTERRUPTED, requestBackup } from './backup-tasks.ts';
import { hasLastScheduledFailed } from './task-repo.ts';

/** Row of `service_state`. */
const KEY = 'backups:schedule';
const DEFAULT_TIME = '03:00';

interface Slot {
  /** Counts the intervals since the first `BACKUP_TIME` of 1970. */
  number: number;
  /** Of the settings by which it is counted. */
  plan: string;
  /** The number of the last slot whose backup was repeated. */
  repeated?: number;
}

/**
 * Queues a backup when one is due: at `BACKUP_TIME` (UTC) and then every `BACKUP_INTERVAL_HOURS` (spec 06 section 7). The first one, and the
 * first after a change of these settings, is that of the next moment. Of all instances one queues it. A backup whose process died is
 * repeated once (spec 10 F4).
 */
export async function queueDueBackup(app: App): Promise<void> {
  await endInterruptedTasks(app);
  if (!app.settings.get('BACKUP_AUTO_ENABLED')) return;
  const current = currentSlot(app);
  await inTransaction(app, async (t) => {
    const stored = await lockState<Slot>(t.db, KEY);
    if (stored.plan === current.plan && (stored.number ?? 0) >= current.number) {
      if (stored.repeated === stored.number || !(await hasLastScheduledFailed(t.db, INTERRUPTED))) return;
      await writeState(t.db, KEY, { ...stored, repeated: stored.number });
      await requestBackup(t, null, 'schedule');
      return;
    }
    await writeState(t.db, KEY, current);
    if (stored.plan === current.plan) await requestBackup(t, null, 'schedule');
  });
}

function currentSlot({ clock, settings }: App): Slot {
  const hours = settings.get('BACKUP_INTERVAL_HOURS');
  const [, hour, minute] =
    /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(settings.get('BACKUP_TIME')) ?? /^(\d\d):(\d\d)$/.exec(DEFAULT_TIME)!;
  const first = Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS;
  return { number: Math.floor((clock.now().getTime() - first) / (hours * HOUR_MS)), plan: `${hour}:${minute} ${hours}` };
}
