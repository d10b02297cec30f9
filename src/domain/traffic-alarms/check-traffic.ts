import type { App, SettingsReader } from '../../core/app.ts';
import { addDays, addMs, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, startOfDay } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError } from '../../core/errors.ts';
import { readState, writeStateIfChanged } from '../../core/service-state.ts';
import { dropKeptFills, type Fill, findKeptFill, keptDayFill, usageFill } from '../insight/traffic/fill.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { claimAlarm, hasViolations, listHeavyUsers, takeViolations, type UserOfDay, type Violation } from './repo.ts';

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
 * @returns null without a panel, and while only an earlier reading is there @throws AppError when the panel does not answer in time
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

/** A page that waits too long is shown an earlier reading. Null for one from before the given time. */
function readSince(timestamp: Date, fill: Fill | null): Fill | null {
  return fill !== null && fill.finishedAt >= timestamp ? fill : null;
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

/** The last occurrence of this time of day, `HH:MM` UTC. */
function dueAt(time: string, now: Date): Date {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const today = addMs(startOfDay(now), hours * HOUR_MS + minutes * MINUTE_MS);
  return today <= now ? today : addDays(today, -1);
}

function nameOf({ username, messengerId, email }: UserOfDay): string {
  return [username && `@${username}`, messengerId, email].filter((name) => name !== null && name !== '').join(', ') || '—';
}

const MESSAGES_PER_RUN = 10;
const PAUSE_MS = 500;
/** The setting has no upper bound; marks are deleted after 30 days. */
const MAX_COOLDOWN_MS = 30 * DAY_MS;
/** Longest time of a fast check; what it has not sent after that it cannot send any more. */
export const LONGEST_CHECK_MS = 1_800 * SECOND_MS;

/**
 * Tells the administrators' chat of the heaviest users, at most ten, and of one user once in `TRAFFIC_NOTIFICATION_COOLDOWN_MINUTES`,
 * whichever instance and check finds the user. In the transaction that removes or marks what is sent. Without a chat
 * nothing is sent.
 */
async function sendAlarms(
  t: App,
  key: 'operations.traffic_fast' | 'operations.traffic_daily',
  violations: readonly Violation[],
): Promise<void> {
  if (violations.length === 0) return;
  const chat = adminChat(t, 'SUSPICIOUS_NOTIFICATIONS_TOPIC_ID');
  const now = t.clock.now();
  const cooldownMs = Math.min(t.settings.get('TRAFFIC_NOTIFICATION_COOLDOWN_MINUTES') * MINUTE_MS, MAX_COOLDOWN_MS);
  let sent = 0;
  for (const { panelUuid, texts } of chat === null ? [] : violations.toSorted((a, b) => b.bytes - a.bytes)) {
    if (sent === MESSAGES_PER_RUN) break;
    if (!(await claimAlarm(t.db, panelUuid, now, addMs(now, -cooldownMs)))) continue;
    const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), key, texts);
    await sendMessage(t, { ...chat!, html }, { startAfter: addMs(now, sent * PAUSE_MS) });
    sent += 1;
  }
  t.log.warn({ violations: violations.length, sent }, 'traffic check: users above the threshold');
}

/**
 * Sends what fast checks have found until a given time; what is too much for one run is dropped. Removal and messages are one transaction.
 */
export async function sendFoundAlarms(app: App, foundUntil: Date): Promise<void> {
  if (!(await hasViolations(app.db, foundUntil))) return;
  await inTransaction(app, async (t) => sendAlarms(t, 'operations.traffic_fast', await takeViolations(t.db, foundUntil)));
}

/** Sends what a fast check has found whose process ended before it could (job `traffic.send-alarms`). */
export function sendLeftAlarms(app: App): Promise<void> {
  return sendFoundAlarms(app, addMs(app.clock.now(), -LONGEST_CHECK_MS));
}

// Pure rules of the traffic checks (spec 06 section 14, traffic monitoring).

/** Gigabytes of thresholds and messages, as the panel counts them. */
const GB = 1024 ** 3;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Users and nodes that a check looks at. */
interface AlarmFilter {
  excludedUsers: ReadonlySet<string>;
  /** Whether traffic through this node counts; null = the node is not known. */
  countsNode: (nodeUuid: string | null) => boolean;
}

/** UUIDs of a list separated by commas, blanks or lines; what follows a `#` up to the next comma or line is a comment. */
function parseUuids(list: string): ReadonlySet<string> {
  const items = list.split(/[\n,;]/).flatMap((item) => item.split('#', 1)[0]!.split(/\s+/));
  return new Set(items.map((item) => item.toLowerCase()).filter((item) => UUID.test(item)));
}

/** Monitored nodes, where any are set, go before ignored ones. */
export function alarmFilter(settings: SettingsReader): AlarmFilter {
  const monitored = parseUuids(settings.get('TRAFFIC_MONITORED_NODES'));
  const ignored = parseUuids(settings.get('TRAFFIC_IGNORED_NODES'));
  return {
    excludedUsers: parseUuids(settings.get('TRAFFIC_EXCLUDED_USER_UUIDS')),
    countsNode: (node) => (monitored.size > 0 ? node !== null && monitored.has(node) : node === null || !ignored.has(node)),
  };
}

/** How often used traffic is compared, and from which increase on the administrators are notified. */
export interface FastCheck {
  intervalMs: number;
  thresholdBytes: number;
}

/** The check of used traffic: the fast one, else the older one of some hours; null while both are off. */
export function fastCheckOf(settings: SettingsReader): FastCheck | null {
  if (settings.get('TRAFFIC_FAST_CHECK_ENABLED')) {
    const minutes = settings.get('TRAFFIC_FAST_CHECK_INTERVAL_MINUTES');
    return { intervalMs: minutes * MINUTE_MS, thresholdBytes: settings.get('TRAFFIC_FAST_CHECK_THRESHOLD_GB') * GB };
  }
  if (!settings.get('TRAFFIC_MONITORING_ENABLED')) return null;
  const hours = settings.get('TRAFFIC_MONITORING_INTERVAL_HOURS');
  return { intervalMs: hours * HOUR_MS, thresholdBytes: settings.get('TRAFFIC_THRESHOLD_GB_PER_DAY') * GB };
}

function bytesOfGb(gb: number): number {
  return gb * GB;
}

/** With two decimals at most. */
export function gbText(bytes: number): string {
  return String(Math.round((bytes / GB) * 100) / 100);
}
