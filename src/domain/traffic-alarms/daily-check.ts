import type { App } from '../../core/app.ts';
import { addDays, addMs, HOUR_MS, MINUTE_MS, startOfDay } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError } from '../../core/errors.ts';
import { readState, writeStateIfChanged } from '../../core/service-state.ts';
import { dropKeptFills, type Fill, findKeptFill, keptDayFill, usageFill } from '../insight/traffic/fill.ts';
import { listHeavyUsers, type UserOfDay } from './repo.ts';
import { alarmFilter, bytesOfGb, gbText } from './rules.ts';
import { sendAlarms } from './send-alarms.ts';
import type { Violation } from './violation-repo.ts';

const KEY = 'traffic-alarms:daily';
/** A check that was missed for longer, because no instance ran or the panel was away, is left out. */
const GRACE_MS = HOUR_MS;
/** Users that are looked at for messages about ten. */
const MAX_READ = 1_000;

/**
 * Tells the administrators, once a day at `TRAFFIC_DAILY_CHECK_TIME` UTC, who used too much in the last 24 hours (job
 * `traffic.daily-check`, every minute). A reading of the panel that takes long goes on, and the next minute finds it. Messages and the
 * mark of the day are one transaction.
 */
export async function checkDailyTraffic(app: App): Promise<void> {
  if (!app.settings.get('TRAFFIC_DAILY_CHECK_ENABLED')) return;
  const now = app.clock.now();
  const due = dueAt(app.settings.get('TRAFFIC_DAILY_CHECK_TIME'), now);
  const isMissed = now.getTime() - due.getTime() >= GRACE_MS;
  if (isMissed || (await readState<string>(app.db, KEY)) === due.toISOString()) return;
  let violations: Violation[] | null;
  try {
    violations = await findViolations(app, due);
  } catch (error) {
    // Without an answer of the panel, and while it is still read: the next minute tries again.
    if (!isAppError(error)) throw error;
    app.log.info({ err: error }, 'traffic check: the traffic of the day could not be read yet');
    return;
  }
  if (violations === null) return;
  const found = violations;
  await inTransaction(app, async (t) => {
    if (await writeStateIfChanged(t.db, KEY, due.toISOString())) await sendAlarms(t, 'operations.traffic_daily', found);
  });
  await dropKeptFills(app, due);
}

interface Readings {
  /** Ids of readings; of those in `removed` a part of `added` consists. */
  added: number[];
  removed: number[];
  nodeNames: ReadonlyMap<string, string>;
}

/**
 * The panel counts by UTC days. At midnight the last 24 hours are the day before. At another time they are the day before and today so far,
 * less what was read of the day before at its check; while that is not known only today so far, so that nobody is accused of two days.
 * @returns null without a panel, and while only an earlier reading is there @throws AppError when the panel gives no answer in time
 */
async function readLastDay(app: App, due: Date): Promise<Readings | null> {
  const midnight = startOfDay(due);
  const yesterday = addDays(midnight, -1);
  const readYesterday = async () => readSince(midnight, await usageFill(app, { from: yesterday, to: addMs(midnight, -1) }));
  if (due.getTime() === midnight.getTime()) {
    const fill = await readYesterday();
    return fill && { added: [fill.id], removed: [], nodeNames: namesOf(fill) };
  }
  const atLastCheck = await findKeptFill(app, yesterday);
  const today = readSince(due, await keptDayFill(app, due));
  // An earlier one would be of another time of the check.
  if (today === null || readSince(addDays(due, -1), atLastCheck) === null) {
    return today && { added: [today.id], removed: [], nodeNames: namesOf(today) };
  }
  const before = await readYesterday();
  return before && { added: [before.id, today.id], removed: [atLastCheck!.id], nodeNames: namesOf(before, today) };
}

/** A page that waits too long is shown an earlier reading. Null for one from before the moment. */
function readSince(moment: Date, fill: Fill | null): Fill | null {
  return fill !== null && fill.finishedAt >= moment ? fill : null;
}

/** @returns null when it is not known yet @throws AppError */
async function findViolations(app: App, due: Date): Promise<Violation[] | null> {
  const readings = await readLastDay(app, due);
  if (readings === null) return null;
  const thresholdBytes = bytesOfGb(app.settings.get('TRAFFIC_DAILY_THRESHOLD_GB'));
  const { excludedUsers, countsNode } = alarmFilter(app.settings);
  const users = await listHeavyUsers(app.db, readings, thresholdBytes, MAX_READ);
  return users.flatMap((user) => {
    // Only traffic through nodes that count.
    const nodes = [...bytesByNode(user)].filter(([node]) => countsNode(node));
    const bytes = nodes.reduce((sum, [, nodeBytes]) => sum + nodeBytes, 0);
    if (bytes < thresholdBytes || excludedUsers.has(user.panelUuid)) return [];
    const [heaviest] = nodes.toSorted(([, a], [, b]) => b - a);
    const texts = {
      user: nameOf(user),
      uuid: user.panelUuid,
      node: (heaviest && readings.nodeNames.get(heaviest[0])) ?? '—',
      used: gbText(bytes),
      threshold: gbText(thresholdBytes),
    };
    return [{ panelUuid: user.panelUuid, bytes, texts }];
  });
}

/** A node counts from 0 again when the panel has lost its statistics, hence no node below 0. */
function bytesByNode({ added, removed }: UserOfDay): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (readings: UserOfDay['added'], sign: 1 | -1) => {
    for (const [node, bytes] of readings.flatMap(Object.entries<number>)) sums.set(node, (sums.get(node) ?? 0) + sign * bytes);
  };
  add(added, 1);
  add(removed, -1);
  return new Map([...sums].map(([node, bytes]) => [node, Math.max(0, bytes)]));
}

function namesOf(...fills: readonly Fill[]): Map<string, string> {
  return new Map(fills.flatMap(({ nodes }) => nodes.map(({ uuid, name }) => [uuid, name])));
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
