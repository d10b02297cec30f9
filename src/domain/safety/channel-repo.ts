import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

const CHANNEL = columns('RequiredChannel', [
  ...(['channelId', 'channelLink', 'title', 'disableTrialOnLeave', 'disablePaidOnLeave'] as const),
]);
const MEMBERSHIP = columns('UserChannelSubscription', ['isMember', 'checkedAt']);

export type RequiredChannel = RowOf<typeof CHANNEL>;

/** Active channels in the order in which they are shown. */
export function listRequiredChannels(db: Db): Promise<RequiredChannel[]> {
  return db.sql<RequiredChannel>(`SELECT ${CHANNEL.of()} FROM required_channels WHERE is_active ORDER BY sort_order, id`);
}

/** The last known membership of a user in a channel; null = never read. */
export async function findMembership(db: Db, messengerId: number, channelId: string): Promise<RowOf<typeof MEMBERSHIP> | null> {
  const [row] = await db.sql<RowOf<typeof MEMBERSHIP>>(
    `SELECT ${MEMBERSHIP.of()} FROM user_channel_subscriptions WHERE messenger_id = $1::bigint AND channel_id = $2`,
    [messengerId, channelId],
  );
  return row ?? null;
}

/** Stores a membership; for a channel that is no longer required nothing is stored. */
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
