import type { App } from '../../../core/app.ts';
import { loadAccounts } from './account-repo.ts';
import { isNewerHere } from './rules.ts';

/**
 * Is the subscription of this account newer than what the panel said when it was asked at `readAt` (spec 06 hazard 7)? True means:
 * the panel's word must not be written over it. False also for an account without subscription. After `lockUserSubscription`.
 */
export async function hasNewerSubscription(t: App, userId: number, readAt: Date): Promise<boolean> {
  const held = (await loadAccounts(t.db, [userId])).get(userId)?.subscription ?? null;
  return held !== null && isNewerHere(held, readAt, t.clock.now());
}
