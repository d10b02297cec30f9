/** Pure rules of the traffic checks (spec 06 section 14, traffic monitoring). */

import type { SettingsReader } from '../../core/app.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts';

/** Gigabytes of thresholds and messages, as the panel counts them. */
const GB = 1024 ** 3;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Users and nodes that a check looks at. */
export interface AlarmFilter {
  excludedUsers: ReadonlySet<string>;
  /** Whether traffic through this node counts; null = the node is not known. */
  countsNode: (nodeUuid: string | null) => boolean;
}

/** UUIDs of a list separated by commas, blanks or lines; what follows a `#` up to the next comma or line is a comment. */
export function parseUuids(list: string): ReadonlySet<string> {
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

/** How often used traffic is compared, and from which increase on the administrators are told. */
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

export function bytesOfGb(gb: number): number {
  return gb * GB;
}

/** With two decimals at most. */
export function gbText(bytes: number): string {
  return String(Math.round((bytes / GB) * 100) / 100);
}
