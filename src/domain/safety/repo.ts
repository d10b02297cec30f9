import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { BlacklistLine } from './rules.ts';

const CHANNEL = columns('RequiredChannel', [
  ...(['channelId', 'channelLink', 'title', 'disableTrialOnLeave', 'disablePaidOnLeave'] as const),
]);
const ROW = columns('RequiredChannel', [
  ...(['id', 'channelId', 'channelLink', 'title', 'isActive', 'sortOrder', 'disableTrialOnLeave', 'disablePaidOnLeave'] as const),
]);
const MEMBERSHIP = columns('UserChannelSubscription', ['isMember', 'checkedAt']);

/** An active channel, as the gate shows it. */
export type RequiredChannel = RowOf<typeof CHANNEL>;
/** A channel, as administrators see it. */
export type Channel = RowOf<typeof ROW>;
/** The fields that administrators change. */
export type ChannelChanges = Omit<Channel, 'id'>;

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

/**
 * Stores a membership; for a channel that is no longer required nothing is stored. What the messenger reports on its own is always stored,
 * since the clocks of two instances may differ; an answer to a request only in place of an older one.
 */
export async function saveMembership(
  db: Db,
  seen: { messengerId: number; channelId: string; isMember: boolean; at: Date; isReport: boolean },
): Promise<void> {
  await db.sql(
    `INSERT INTO user_channel_subscriptions (messenger_id, channel_id, is_member, checked_at)
     SELECT $1::bigint, channel_id, $3::boolean, $4::timestamptz FROM required_channels WHERE channel_id = $2
     ON CONFLICT (messenger_id, channel_id) DO UPDATE SET is_member = EXCLUDED.is_member, checked_at = EXCLUDED.checked_at
     WHERE user_channel_subscriptions.checked_at <= EXCLUDED.checked_at OR $5::boolean RETURNING 1 AS saved`,
    [seen.messengerId, seen.channelId, seen.isMember, seen.at, seen.isReport],
  );
}

/** The stored memberships of a user in these channels, locked until the transaction ends. */
export function lockMemberships(
  db: Db,
  messengerId: number,
  channelIds: readonly string[],
): Promise<{ channelId: string; isMember: boolean }[]> {
  return db.sql(
    `SELECT channel_id, is_member FROM user_channel_subscriptions
     WHERE messenger_id = $1::bigint AND channel_id = ANY($2::text[]) ORDER BY channel_id FOR UPDATE`,
    [messengerId, [...channelIds]],
  );
}

/** Active and inactive channels in the order in which they are shown. */
export function listAllChannels(db: Db): Promise<Channel[]> {
  return db.sql<Channel>(`SELECT ${ROW.of()} FROM required_channels ORDER BY sort_order, id`);
}

/** The channel, locked until the transaction ends. */
export async function lockChannel(db: Db, id: number): Promise<Channel | null> {
  const [row] = await db.sql<Channel>(`SELECT ${ROW.of()} FROM required_channels WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ?? null;
}

/** @throws a unique violation of `channel_id` when the channel is listed */
export async function insertChannel(
  db: Db,
  channel: Omit<ChannelChanges, 'isActive' | 'sortOrder'>,
  now: Date,
): Promise<Channel> {
  const { id, isActive, sortOrder } = await db.prisma.requiredChannel.create({
    data: { ...channel, createdAt: now, updatedAt: now },
    select: { id: true, isActive: true, sortOrder: true },
  });
  return { ...channel, id, isActive, sortOrder };
}

/** Writes every field. @throws a unique violation of `channel_id` */
export async function updateChannelRow(db: Db, { id, ...channel }: Channel, now: Date): Promise<void> {
  await db.prisma.requiredChannel.update({ where: { id }, data: { ...channel, updatedAt: now }, select: { id: true } });
}

/** Deletes the channel and its memberships. */
export async function deleteChannelRow(db: Db, id: number): Promise<void> {
  await db.prisma.requiredChannel.delete({ where: { id }, select: { id: true } });
}

/** The foreign key refuses another `channel_id` while there are memberships of the old one. */
export async function deleteMemberships(db: Db, channelId: string): Promise<void> {
  await db.prisma.userChannelSubscription.deleteMany({ where: { channelId } });
}

/** By id, else by user name. @param username lower case, without `@` */
export async function isListed(db: Db, messengerId: number, username: string | null): Promise<boolean> {
  const rows = await db.sql(
    `SELECT 1 AS found FROM blacklist_entries WHERE messenger_id = $1::bigint
     UNION ALL SELECT 1 FROM blacklist_entries WHERE username = $2 LIMIT 1`,
    [messengerId, username],
  );
  return rows.length > 0;
}

/** Replaces the whole list; unchanged rows are not written. In a transaction. */
export async function replaceEntries(db: Db, entries: readonly BlacklistLine[], now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO blacklist_entries (messenger_id, username, reason, created_at)
     SELECT "messengerId", username, reason, $2::timestamptz
     FROM jsonb_to_recordset($1::jsonb) AS e ("messengerId" bigint, username text, reason text)
     ON CONFLICT (messenger_id) DO UPDATE SET username = EXCLUDED.username, reason = EXCLUDED.reason
     WHERE blacklist_entries.username IS DISTINCT FROM EXCLUDED.username OR blacklist_entries.reason IS DISTINCT FROM EXCLUDED.reason
     RETURNING 1 AS written`,
    [JSON.stringify(entries), now],
  );
  await db.sql('DELETE FROM blacklist_entries WHERE NOT (messenger_id = ANY($1::bigint[])) RETURNING 1 AS gone', [
    entries.map((entry) => entry.messengerId),
  ]);
}
