import type { App } from '../../../core/app.ts';
import { requirePanel } from '../panel-access.ts';
import { countForRecommendation } from './recommend-repo.ts';
import { listRunning } from './run-repo.ts';
import type { SyncRun } from './types.ts';

export interface SyncRecommendation {
  shouldSync: boolean;
  syncType: 'none' | 'all' | 'update_only';
  reasons: string[];
  priority: 'low' | 'medium' | 'high';
  estimatedTime: string;
  /** Runs under way, with their progress. */
  running: SyncRun[];
}

const MANY_UNLINKED = 10;
const MANY_PAST = 5;

/** Which synchronisation makes sense now (spec 06 section 10), and what is under way (08 P13). @throws AppError 503 the panel is not configured */
export async function recommendSync(app: App): Promise<SyncRecommendation> {
  requirePanel(app);
  const running = await listRunning(app.db);
  return { ...recommendationFor(await countForRecommendation(app.db, app.clock.now())), running };
}

/** More than 10 subscribers without a panel user: all users; more than 5 active subscriptions past their end: the known users. */
export function recommendationFor(found: {
  subscriptions: number;
  unlinked: number;
  past: number;
}): Omit<SyncRecommendation, 'running'> {
  if (found.unlinked > MANY_UNLINKED) {
    const reasons = [`${found.unlinked} users have a subscription but no panel user`];
    return { shouldSync: true, syncType: 'all', reasons, priority: 'high', estimatedTime: '2-5 minutes' };
  }
  if (found.past > MANY_PAST) {
    const reasons = [`${found.past} active subscriptions are past their end`];
    return { shouldSync: true, syncType: 'update_only', reasons, priority: 'medium', estimatedTime: '1-3 minutes' };
  }
  if (found.subscriptions === 0) {
    const reasons = ['There are no subscriptions to compare'];
    return { shouldSync: false, syncType: 'none', reasons, priority: 'low', estimatedTime: 'none' };
  }
  const reasons = ['Nothing stands out; a regular update is enough'];
  return { shouldSync: true, syncType: 'update_only', reasons, priority: 'low', estimatedTime: '1-2 minutes' };
}
