import { addDays, DAY_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import type { PanelNodeDay } from '../panel-objects.ts';

export const invalidDateRange = refusal('invalid_date_range', 400, 'Invalid date range');
export const dateRangeTooLong = refusal('date_range_too_long', 400, 'Date range cannot exceed <n> days');

const DEFAULT_DAYS = 7;
const MAX_DAYS = 730;

/**
 * Bounds of a usage list: a missing end is now, a missing start 7 days before the end (spec 06 section 11).
 * @throws AppError 400 'Invalid date range', 400 'Date range cannot exceed 730 days'
 */
export function usageRange(wanted: { from: Date | null; to: Date | null }, now: Date): { from: Date; to: Date } {
  const to = wanted.to ?? now;
  const from = wanted.from ?? addDays(to, -DEFAULT_DAYS);
  if (from.getTime() >= to.getTime()) throw invalidDateRange();
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
    throw dateRangeTooLong({ detail: `Date range cannot exceed ${MAX_DAYS} days` });
  }
  return { from, to };
}

export interface NodeWeek {
  name: string;
  totalBytes: number;
  /** By day (`YYYY-MM-DD`), ascending; one entry a day. */
  days: { date: string; bytes: number }[];
}

/** The UTC day of a date that the panel writes as a day or as a moment (08 P11); a text that is neither stays as it is. */
export function dayOfPanelDate(date: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(date)) return date;
  const moment = new Date(date);
  return Number.isNaN(moment.getTime()) ? date : moment.toISOString().slice(0, 10);
}

/** The panel's rows of node and day by node, most traffic first, then by name. */
export function groupByNode(rows: readonly PanelNodeDay[]): NodeWeek[] {
  const nodes = new Map<string, NodeWeek>();
  for (const { nodeName, date, totalBytes } of rows) {
    const node = nodes.get(nodeName) ?? { name: nodeName, totalBytes: 0, days: [] };
    const day = dayOfPanelDate(date);
    const entry = node.days.find((known) => known.date === day);
    node.totalBytes += totalBytes;
    if (entry) entry.bytes += totalBytes;
    else node.days.push({ date: day, bytes: totalBytes });
    nodes.set(nodeName, node);
  }
  for (const node of nodes.values()) node.days.sort((a, b) => (a.date < b.date ? -1 : Number(a.date > b.date)));
  return [...nodes.values()].sort((a, b) => b.totalBytes - a.totalBytes || (a.name < b.name ? -1 : 1));
}
