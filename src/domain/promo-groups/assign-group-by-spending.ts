import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { assignEarnedGroup, type EarnedGroup } from './auto-assign.ts';
import { recordGroupChange } from './record-group-change.ts';

/**
 * Gives a user the promo group that the total spent has earned (spec 04 section 8.3). A new group is recorded in the activity feed and
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
