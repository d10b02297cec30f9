import type { App } from '../../core/app.ts';
import { syncPrimaryGroups } from '../identity/promo-account.ts';
import { findGroupForSpending, lockSpender, replaceEarnedGroups } from './auto-assign-repo.ts';
import { insertMembership } from './membership-repo.ts';

export interface EarnedGroup {
  groupId: number;
  groupName: string;
  /** Kopeks. */
  thresholdKopeks: number;
  spentKopeks: number;
  previousGroupId: number | null;
}

/**
 * Gives a user the group of the largest threshold that the total spent reaches (spec 04 section 8.3). Memberships from earlier
 * thresholds and from promo codes are removed; those from administrators stay, so one of them may remain the primary group. In the
 * caller's transaction; locks the user.
 * @returns the group when the user is new in it, else null
 */
export async function assignEarnedGroup(t: App, userId: number): Promise<EarnedGroup | null> {
  const user = await lockSpender(t.db, userId);
  const target = user && (await findGroupForSpending(t.db, user.spentKopeks));
  if (!user || !target) return null;
  const now = t.clock.now();
  await replaceEarnedGroups(t.db, userId, target, now);
  const isNew = await insertMembership(t.db, userId, target.id, 'auto', now);
  await syncPrimaryGroups(t.db, [userId], null, now);
  if (!isNew) return null;
  return {
    groupId: target.id,
    groupName: target.name,
    thresholdKopeks: target.threshold,
    spentKopeks: user.spentKopeks,
    previousGroupId: user.primaryGroupId,
  };
}
