import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { formatPrice } from '../../../core/money.ts';
import { assignEarnedGroup, type EarnedGroup } from '../../catalog/promo-groups/auto-assign.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText } from '../../messaging/texts.ts';
import { recordGroupChange } from '../../subscriptions/record-group-change.ts';

declare module '../../../core/jobs/job-sender.ts' {
  interface JobTypes {
    /** Sent by the database with every movement of a user while a group has a threshold (prisma/sql/promo-groups.sql). */
    'promo.assign-group': { userId: number };
  }
}

/**
 * Looks whether a user's purchases have earned a promo group (spec 04 section 8.3); a new one is told to the administrators' chat and
 * noted in the feed. May run any number of times.
 */
export async function assignGroupBySpending(app: App, { userId }: { userId: number }): Promise<void> {
  await inTransaction(app, async (t) => {
    const earned = await assignEarnedGroup(t, userId);
    if (!earned) return;
    await noteChange(t, userId, earned);
    await tellAdmins(t, userId, earned);
  });
}

function noteChange(t: App, userId: number, earned: EarnedGroup): Promise<void> {
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
async function tellAdmins(t: App, userId: number, earned: EarnedGroup): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_PROMO_TOPIC_ID');
  if (chat === null) return;
  const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'promo.admin_group_earned', {
    user_id: userId,
    group_name: earned.groupName,
    spent: formatPrice(earned.spentKopeks, false),
  });
  await sendMessage(t, { ...chat, html });
}
