import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { syncPrimaryGroups } from '../identity/promo-account.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { recordGroupChange } from './memberships.ts';
import { findGroupForSpending, insertMembership, lockSpender, replaceEarnedGroups } from './repo.ts';

interface EarnedGroup {
  groupId: number;
  groupName: string;
  thresholdKopeks: number;
  spentKopeks: number;
  previousGroupId: number | null;
}

/**
 * Assigns a user the group of the largest threshold that the total spent reaches. Memberships from earlier
 * thresholds and from promo codes are removed; those from administrators stay, so one of them may remain the primary group. In the
 * caller's transaction; locks the user.
 * @returns the group when the user is new in it, else null
 */
async function assignEarnedGroup(t: App, userId: number): Promise<EarnedGroup | null> {
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

/**
 * Assigns a user the promo group that the total spent has earned. A new group is recorded in the activity feed and
 * reported to the administrators' chat. May run any number of times.
 */
export async function assignGroupBySpending(app: App, { userId }: { userId: number }): Promise<void> {
  await inTransaction(app, async (t) => {
    const earned = await assignEarnedGroup(t, userId);
    if (!earned) return;
    await recordChange(t, userId, earned);
    await notifyAdmins(t, userId, earned);
  });
}

function recordChange(t: App, userId: number, earned: EarnedGroup): Promise<void> {
  return recordGroupChange(
    t,
    { kind: 'system', name: 'promo.assign-group' },
    {
      userId,
      oldGroupId: earned.previousGroupId,
      newGroupId: earned.groupId,
      reason: 'spending',
      facts: { threshold_kopeks: earned.thresholdKopeks, total_spent_kopeks: earned.spentKopeks },
    },
  );
}

/** Only while notices to administrators are on and have a chat to go to. */
async function notifyAdmins(t: App, userId: number, earned: EarnedGroup): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_PROMO_TOPIC_ID');
  if (chat === null) return;
  const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'promo.admin_group_earned', {
    user_id: userId,
    group_name: earned.groupName,
    spent: formatPrice(earned.spentKopeks, false),
  });
  await sendMessage(t, { ...chat, html });
}
