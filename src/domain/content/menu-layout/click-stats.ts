import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import {
  type ButtonClicks,
  type ClickTimestamps,
  countBetween,
  countByButton,
  countByDay,
  countByPart,
  countByType,
  countByUser,
  insertClick,
  listClicksOfUser,
  type NewClick,
} from './repo.ts';

/** Click statistics of the chat menu. Days and hours are UTC. */

const WEEK_DAYS = 7;
const HOURS = 24;

/** Stores a click. A failure is logged and not reported to the caller. */
export async function logClick(app: App, click: NewClick): Promise<void> {
  try {
    await insertClick(app.db, click, app.clock.now());
  } catch (error) {
    // Any failure: a click that is not counted changes nothing for the caller.
    app.log.warn({ err: error }, 'a menu click could not be stored');
  }
}

function timestampsOf(now: Date, days: number): ClickTimestamps {
  const today = new Date(now);
  today.setUTCHours(0, 0, 0, 0);
  return { today, week: addDays(now, -WEEK_DAYS), month: addDays(now, -days) };
}

/** Counters of every button, and the clicks of the last `days`. */
export async function countClicks(app: App, days: number) {
  const now = app.clock.now();
  const since = timestampsOf(now, days);
  const items = await countByButton(app.db, since, null);
  const totalClicks = items.reduce((sum, item) => sum + item.clicksMonth, 0);
  return { items, totalClicks, periodStart: since.month, periodEnd: now };
}

/** The same counters of one button, and its clicks by day; zeros for a button without clicks. */
export async function countButtonClicks(app: App, buttonId: string, days: number) {
  const since = timestampsOf(app.clock.now(), days);
  const [found] = await countByButton(app.db, since, buttonId);
  const none: ButtonClicks = {
    buttonId,
    clicksTotal: 0,
    clicksToday: 0,
    clicksWeek: 0,
    clicksMonth: 0,
    lastClickAt: null,
    uniqueUsers: 0,
  };
  return { buttonId, stats: found ?? none, clicksByDay: await countByDay(app.db, buttonId, since.month) };
}

export async function countClicksByType(app: App, days: number) {
  const items = await countByType(app.db, addDays(app.clock.now(), -days));
  return { items, totalClicks: items.reduce((sum, item) => sum + item.clicksTotal, 0) };
}

async function countParts(app: App, part: 'hour' | 'isodow', first: number, size: number, days: number, buttonId: string | null) {
  const rows = await countByPart(app.db, part, addDays(app.clock.now(), -days), buttonId);
  const counts = new Map(rows.map((row) => [row.part - first, row.count]));
  return Array.from({ length: size }, (_none, index) => counts.get(index) ?? 0);
}

/** Clicks of each hour of the day, 0 to 23. */
export function countClicksByHour(app: App, days: number, buttonId: string | null): Promise<number[]> {
  return countParts(app, 'hour', 0, HOURS, days, buttonId);
}

/** Clicks of each day of the week, Monday first. */
export function countClicksByWeekday(app: App, days: number, buttonId: string | null): Promise<number[]> {
  return countParts(app, 'isodow', 1, WEEK_DAYS, days, buttonId);
}

export function listTopClickers(app: App, days: number, buttonId: string | null, limit: number) {
  return countByUser(app.db, addDays(app.clock.now(), -days), buttonId, limit);
}

/** The last `currentDays` compared with the `previousDays` before them. */
export async function compareClicks(app: App, currentDays: number, previousDays: number, buttonId: string | null) {
  const end = app.clock.now();
  const middle = addDays(end, -currentDays);
  const start = addDays(middle, -previousDays);
  const [current, previous] = await Promise.all([
    countBetween(app.db, middle, null, buttonId),
    countBetween(app.db, start, middle, buttonId),
  ]);
  return {
    currentPeriod: { clicks: current, days: currentDays, start: middle, end },
    previousPeriod: { clicks: previous, days: previousDays, start, end: middle },
    change: clickChange(current, previous),
  };
}

/** Percent has two decimals and is 0 without previous clicks; the trend is the sign of the difference. */
export function clickChange(current: number, previous: number) {
  const absolute = current - previous;
  const percent = previous === 0 ? 0 : Math.round((absolute / previous) * 10_000) / 100;
  const trend: 'up' | 'down' | 'stable' = absolute > 0 ? 'up' : absolute < 0 ? 'down' : 'stable';
  return { absolute, percent, trend };
}

/** Clicks of the user, newest first; none for an unknown user. */
export function listUserClicks(app: App, userId: number, limit: number) {
  return listClicksOfUser(app.db, userId, limit);
}
