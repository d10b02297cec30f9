import type { App } from '../../core/app.ts';
import { countEntries, listEntries, listTypes, type MonitoringEntry } from './repo.ts';

/** A page of the monitoring log, newest first; an empty type is no filter (spec 06 section 8). */
export async function listMonitoringLog(
  app: App,
  filter: { eventType?: string | null | undefined },
  page: { limit: number; offset: number },
): Promise<{ items: MonitoringEntry[]; total: number }> {
  const eventType = filter.eventType || null;
  const [items, total] = await Promise.all([listEntries(app.db, eventType, page), countEntries(app.db, eventType)]);
  return { items, total };
}

/** The types that occur in the log, ascending. */
export function listMonitoringEventTypes(app: App): Promise<string[]> {
  return listTypes(app.db);
}
