import type { App } from '../../core/app.ts';
import { addDays, addMs, HOUR_MS, MINUTE_MS, startOfDay } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import { readState, writeState } from '../../core/service-state.ts';
import { usageFill } from '../insight/traffic/fill.ts';
import { listHeavyUsers, type UserOfDay } from './repo.ts';
import { alarmFilter, bytesOfGb, gbText } from './rules.ts';
import { sendAlarms } from './send-alarms.ts';

const KEY = 'traffic-alarms:daily';
/** A check that was missed for longer, because no instance ran or the panel was away, is left out. */
const GRACE_MS = HOUR_MS;
/** Users that are looked at for messages about ten. */
const MAX_READ = 1_000;

/**
 * Tells the administrators, once a day at `TRAFFIC_DAILY_CHECK_TIME` UTC, who used too much in the last 24 hours (job
 * `traffic.daily-check`, every minute). The panel counts by days: of a time within a day, the whole days that the 24 hours touch.
 * The reading is that of the administration. One that takes long goes on, and the next minute finds it.
 */
export async function checkDailyTraffic(app: App): Promise<void> {
  if (!app.settings.get('TRAFFIC_DAILY_CHECK_ENABLED')) return;
  const now = app.clock.now();
  const due = dueAt(app.settings.get('TRAFFIC_DAILY_CHECK_TIME'), now);
  const isMissed = now.getTime() - due.getTime() >= GRACE_MS;
  if (isMissed || (await readState<string>(app.db, KEY)) === due.toISOString()) return;
  try {
    const fill = await usageFill(app, { from: addDays(due, -1), to: addMs(due, -1) });
    if (fill === null) return;
    const names = new Map(fill.nodes.map(({ uuid, name }) => [uuid, name]));
    const thresholdBytes = bytesOfGb(app.settings.get('TRAFFIC_DAILY_THRESHOLD_GB'));
    const { excludedUsers, countsNode } = alarmFilter(app.settings);
    const users = await listHeavyUsers(app.db, fill.id, thresholdBytes, MAX_READ);
    const violations = users.flatMap((user) => {
      // Only traffic through nodes that count.
      const nodes = Object.entries(user.nodeBytes).filter(([node]) => countsNode(node));
      const bytes = nodes.reduce((sum, [, nodeBytes]) => sum + nodeBytes, 0);
      if (bytes < thresholdBytes || excludedUsers.has(user.panelUuid)) return [];
      const [heaviest] = nodes.toSorted(([, a], [, b]) => b - a);
      const values = {
        user: nameOf(user),
        uuid: user.panelUuid,
        node: (heaviest && names.get(heaviest[0])) ?? '—',
        used: gbText(bytes),
        threshold: gbText(thresholdBytes),
      };
      return [{ panelUuid: user.panelUuid, bytes, values }];
    });
    await sendAlarms(app, 'operations.traffic_daily', violations);
  } catch (error) {
    // Without an answer of the panel, and while it is still read: the next minute tries again.
    if (!isAppError(error)) throw error;
    app.log.info({ err: error }, 'traffic check: the traffic of the day could not be read yet');
    return;
  }
  await writeState(app.db, KEY, due.toISOString());
}

/** The last moment with this time of the day, `HH:MM` UTC. */
function dueAt(time: string, now: Date): Date {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const today = addMs(startOfDay(now), hours * HOUR_MS + minutes * MINUTE_MS);
  return today <= now ? today : addDays(today, -1);
}

function nameOf({ username, messengerId, email }: UserOfDay): string {
  return [username && `@${username}`, messengerId, email].filter((name) => name !== null && name !== '').join(', ') || '—';
}
