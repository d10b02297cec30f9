import { z } from 'zod';
import type {
  PanelNodeDay,
  PanelNodeTraffic,
  PanelNodeUsage,
  PanelTrafficPeriods,
  PanelUserTraffic,
} from '../../domain/provisioning/panel-objects.ts';
import { readPart } from './read-part.ts';

/** Names of the panel's usage statistics, read as leniently as everything else of it (see `panel-wire.ts`). */

const optionalText = z.string().nullable().catch(null);
/** A number, or the digits of one that is too long for a number. */
const bytes = z.coerce.number().catch(0).transform(wholeBytes);
const raw = z.record(z.string(), z.unknown());

/** A whole number from 0 to the largest exact integer. */
function wholeBytes(value: number): number {
  return Math.min(Math.max(Math.round(value), 0), Number.MAX_SAFE_INTEGER);
}

const UNITS = ['', 'K', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];

/** Bytes of a size text such as `1.5 GiB` or `300 MB`; both kinds of unit count in steps of 1024. 0 for anything else. */
export function bytesOfSizeText(text: string): number {
  const parts = /^\s*(\d+(?:[.,]\d+)?)\s*([KMGTPEZY]?)(?:i?B|bytes)?\s*$/i.exec(text);
  if (!parts) return 0;
  return wholeBytes(Number(parts[1]!.replace(',', '.')) * 1024 ** UNITS.indexOf(parts[2]!.toUpperCase()));
}

const wireUserTraffic = z.object({
  categories: z.array(z.string()),
  series: z.array(
    z.object({
      uuid: z.string(),
      name: z.string().catch(''),
      countryCode: z.string().nullish(),
      total: bytes,
      data: z.array(bytes),
    }),
  ),
});

export function fromWireUserTraffic(value: unknown): PanelUserTraffic {
  const { categories, series } = readPart(wireUserTraffic, value);
  return {
    days: categories,
    nodes: series.map((node) => ({
      uuid: node.uuid,
      name: node.name,
      countryCode: node.countryCode ?? '',
      totalBytes: node.total,
      dailyBytes: node.data,
    })),
  };
}

/** The list of the current traffic of each node before version 2.7. */
export function fromWireRealtime(value: unknown): PanelNodeTraffic[] {
  const wire = z.object({ nodeUuid: z.string().catch(''), downloadBytes: bytes, uploadBytes: bytes });
  return readPart(z.array(raw), value).map((node) => ({ ...readPart(wire, node), raw: node }));
}

const sizes = z.array(z.object({ download: z.string().catch(''), upload: z.string().catch('') }));

/** From version 2.7 on there are counters of each inbound instead; they are added up under the older names. */
export function fromWireNodeMetrics(value: unknown): PanelNodeTraffic[] {
  const node = z.object({
    nodeUuid: z.string(),
    nodeName: z.string().catch(''),
    usersOnline: z.number().catch(0),
    inboundsStats: sizes,
  });
  return readPart(z.object({ nodes: z.array(node) }), value).nodes.map(({ nodeUuid, nodeName, usersOnline, inboundsStats }) => {
    const sum = (pick: (inbound: z.output<typeof sizes>[number]) => string) =>
      wholeBytes(inboundsStats.reduce((total, inbound) => total + bytesOfSizeText(pick(inbound)), 0));
    const [downloadBytes, uploadBytes] = [sum((inbound) => inbound.download), sum((inbound) => inbound.upload)];
    const totalBytes = wholeBytes(downloadBytes + uploadBytes);
    return {
      nodeUuid,
      downloadBytes,
      uploadBytes,
      raw: { nodeUuid, nodeName, downloadBytes, uploadBytes, totalBytes, usersOnline },
    };
  });
}

/** The older generation's rows of user and day; it writes some days as the start of the day (spec 10 V3). */
export function fromWireNodeUsage(value: unknown): PanelNodeUsage[] {
  const row = z.object({
    userUuid: optionalText,
    username: optionalText,
    nodeUuid: z.string(),
    total: bytes,
    date: z.string(),
  });
  return readPart(z.array(row), value).map(({ total, date, ...rest }) => ({
    ...{ ...rest, totalBytes: total },
    date: date.slice(0, 'YYYY-MM-DD'.length),
  }));
}

/** The newer generation gives usage by user or by day, not by both: the rows are those of days. */
export function fromWireNodeUsageDays(value: unknown, nodeUuid: string): PanelNodeUsage[] {
  const { categories, sparklineData } = readPart(
    z.object({ categories: z.array(z.string()), sparklineData: z.array(bytes) }),
    value,
  );
  return categories.flatMap((date, day) => {
    const totalBytes = sparklineData[day] ?? 0;
    return totalBytes > 0 ? [{ userUuid: null, username: null, nodeUuid, totalBytes, date }] : [];
  });
}

const period = z
  .object({ current: z.string().catch(''), previous: z.string().catch(''), difference: optionalText })
  .catch({ current: '', previous: '', difference: null })
  .transform(({ current, previous, difference }) => ({
    currentBytes: bytesOfSizeText(current),
    previousBytes: bytesOfSizeText(previous),
    difference,
  }));

export function fromWireTrafficPeriods(value: unknown): PanelTrafficPeriods {
  const periods = readPart(
    z.object({
      bandwidthLastTwoDays: period,
      bandwidthLastSevenDays: period,
      bandwidthLast30Days: period,
      bandwidthCalendarMonth: period,
      bandwidthCurrentYear: period,
    }),
    value,
  );
  return {
    last2Days: periods.bandwidthLastTwoDays,
    last7Days: periods.bandwidthLastSevenDays,
    last30Days: periods.bandwidthLast30Days,
    currentMonth: periods.bandwidthCalendarMonth,
    currentYear: periods.bandwidthCurrentYear,
  };
}

export function fromWireNodeDays(value: unknown): PanelNodeDay[] {
  const day = z.object({ nodeName: z.string(), date: z.string(), totalBytes: bytes });
  return readPart(z.object({ lastSevenDays: z.array(day) }), value).lastSevenDays;
}
