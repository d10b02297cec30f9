import type { App } from '../../../core/app.ts';
import { requireUser } from '../../identity/require-user.ts';
import type { UserRecord } from '../../identity/types.ts';
import { isPanelError, type PanelUser } from '../../provisioning/ports.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { lookUpPanelUser } from './look-up-panel-user.ts';
import { findLastSync } from './sync-repo.ts';
import { differencesOf } from './sync-rules.ts';

export interface SyncStatus {
  user: UserRecord;
  lastSync: Date | null;
  subscription: Subscription | null;
  panel: PanelUser | null;
  differences: string[];
}

/** The values of the service and of the panel for a user, and their differences; nothing is changed (spec 01 section 11.3). @throws AppError 404 */
export async function readSyncStatus(app: App, userId: number): Promise<SyncStatus> {
  const user = await requireUser(app, userId);
  const [lastSync, found] = await Promise.all([findLastSync(app.db, user.id), readUserSubscription(app, user.id)]);
  const subscription = found?.subscription ?? null;
  try {
    const panel = await lookUpPanelUser(app, user);
    const differences = panel ? differencesOf(subscription, panel, app.clock.now()) : [];
    return { user, lastSync, subscription, panel, differences };
  } catch (error) {
    if (!isPanelError(error)) throw error;
    return { user, lastSync, subscription, panel: null, differences: [`Error fetching panel data: ${error.message}`] };
  }
}
