import type { App } from '../../../core/app.ts';
import { loadAccounts } from './account-repo.ts';
import { isNewerThanPanel } from './rules.ts';

/**
 * Whether the subscription of this account is newer than the panel's answer to a request of `readAt` (spec 06 hazard 7). Then it must
 * not be overwritten. False also for an account without subscription. After `lockUserSubscription`.
 */
export async function hasNewerSubscription(t: App, userId: number, readAt: Date): Promise<boolean> {
  const subscription = (await loadAccounts(t.db, [userId])).get(userId)?.subscription ?? null;
  return subscription !== null && isNewerThanPanel(subscription, readAt, t.clock.now());
}
