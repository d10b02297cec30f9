import type { App } from '../../core/app.ts';
import { countGrowingLog } from '../../core/db/growing-log.ts';
import {
  countSupportEntries,
  findSupportIdBefore,
  listActionNames,
  listSupportEntries,
  type SupportEntry,
} from './support-log-repo.ts';

/** A page of the support log, newest first; an empty action is no filter (spec 06 section 8). */
export async function listSupportLog(
  app: App,
  filter: { action?: string | null | undefined },
  page: { limit: number; offset: number },
): Promise<{ items: SupportEntry[]; total: number }> {
  const action = filter.action || null;
  const [items, total] = await Promise.all([
    listSupportEntries(app.db, action, page),
    countGrowingLog(app, `support-total:${JSON.stringify(action)}`, {
      idBefore: (moment) => findSupportIdBefore(app.db, moment),
      count: (range) => countSupportEntries(app.db, action, range),
    }),
  ]);
  return { items, total };
}

/** The actions that occur in the log, ascending. */
export function listSupportActions(app: App): Promise<string[]> {
  return listActionNames(app.db);
}
