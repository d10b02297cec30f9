import type { Db } from '../../core/db/db.ts';

export interface RequiredChannel {
  channelId: string;
  channelLink: string | null;
  title: string | null;
  disableTrialOnLeave: boolean;
  disablePaidOnLeave: boolean;
}

/** Active channels in the order in which they are shown. */
export async function listRequiredChannels(db: Db): Promise<RequiredChannel[]> {
  const rows = await db.sql<{
    channelId: string;
    channelLink: string | null;
    title: string | null;
    disableTrialOnLeave: boolean;
    disablePaidOnLeave: boolean;
  }>(
    `SELECT channel_id, channel_link, title, disable_trial_on_leave, disable_paid_on_leave FROM required_channels
     WHERE is_active ORDER BY sort_order, id`,
  );
  return rows.map((row) => ({
    channelId: row.channelId,
    channelLink: row.channelLink,
    title: row.title,
    disableTrialOnLeave: row.disableTrialOnLeave,
    disablePaidOnLeave: row.disablePaidOnLeave,
  }));
}

/** What was last seen of a user in a channel; null = never looked. */
export async function findMembership(
  db: Db,
  messengerId: number,
  channelId: string,
): Promise<{ isMember: boolean; checkedAt: Date } | null> {
  const [row] = await db.sql<{ isMember: boolean; checkedAt: Date }>(
    'SELECT is_member, checked_at FROM user_channel_subscriptions WHERE messenger_id = $1::bigint AND channel_id = $2',
    [messengerId, channelId],
  );
  return row ? { isMember: row.isMember, checkedAt: row.checkedAt } : null;
}

/** Keeps what was seen; a channel that is no longer required keeps nothing. */
export async function saveMembership(
  db: Db,
  seen: { messengerId: number; channelId: string; isMember: boolean; at: Date },
): Promise<void> {
  await db.sql(
    `INSERT INTO user_channel_subscriptions (messenger_id, channel_id, is_member, checked_at)
     SELECT $1::bigint, channel_id, $3::boolean, $4::timestamptz FROM required_channels WHERE channel_id = $2
     ON CONFLICT (messenger_id, channel_id) DO UPDATE SET is_member = EXCLUDED.is_member, checked_at = EXCLUDED.checked_at
     RETURNING 1 AS saved`,
    [seen.messengerId, seen.channelId, seen.isMember, seen.at],
  );
}
