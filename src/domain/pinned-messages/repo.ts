import { allColumns, columns, plainRow, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { setLastPinnedSql } from '../users/last-pinned-message.ts';
import type { PinnedDelivery, PinnedMessage } from './types.ts';

const MESSAGE = allColumns('PinnedMessage');

/** Newest first. */
export async function listMessages(
  db: Db,
  { limit, offset, activeOnly }: { limit: number; offset: number; activeOnly: boolean },
): Promise<{ items: PinnedMessage[]; total: number }> {
  const where = activeOnly ? { isActive: true } : {};
  const [items, total] = await Promise.all([
    db.sql<PinnedMessage>(
      `SELECT ${MESSAGE.of()} FROM pinned_messages WHERE is_active OR NOT $3::boolean
       ORDER BY created_at DESC, id DESC LIMIT $1::int OFFSET $2::bigint`,
      [limit, offset, activeOnly],
    ),
    db.prisma.pinnedMessage.count({ where }),
  ]);
  return { items, total };
}

export async function findMessage(db: Db, id: number): Promise<PinnedMessage | null> {
  const [row] = await db.sql<PinnedMessage>(`SELECT ${MESSAGE.of()} FROM pinned_messages WHERE id = $1::bigint`, [id]);
  return row ?? null;
}

export async function findActive(db: Db): Promise<PinnedMessage | null> {
  const [row] = await db.sql<PinnedMessage>(`SELECT ${MESSAGE.of()} FROM pinned_messages WHERE is_active`);
  return row ?? null;
}

/**
 * Activations run one after another. The old message is deactivated and another row becomes the active one, and a second transaction would
 * not see the row that the first has added.
 */
export async function lockActivation(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('pinned-messages.activation'))::text AS locked");
}

/** The message, locked until the transaction ends. */
export async function lockMessage(db: Db, id: number): Promise<PinnedMessage | null> {
  const [row] = await db.sql<PinnedMessage>(`SELECT ${MESSAGE.of()} FROM pinned_messages WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ?? null;
}

/** Deactivates the active message unless it is this one. Its `updated_at` stays: it says when somebody changed the message. */
export async function deactivateOthers(db: Db, id: number | null): Promise<void> {
  await db.sql('UPDATE pinned_messages SET is_active = false WHERE is_active AND id IS DISTINCT FROM $1::int RETURNING id', [id]);
}

/** Deactivates the active message. @returns it as it is then; null when there is none */
export async function deactivateActive(db: Db, now: Date): Promise<PinnedMessage | null> {
  const [row] = await db.sql<PinnedMessage>(
    `UPDATE pinned_messages SET is_active = false, updated_at = $1::timestamptz WHERE is_active RETURNING ${MESSAGE.of()}`,
    [now],
  );
  return row ?? null;
}

export async function insertMessage(db: Db, message: Omit<PinnedMessage, 'id'>): Promise<PinnedMessage> {
  return plainRow('PinnedMessage', await db.prisma.pinnedMessage.create({ data: message }));
}

export async function updateMessage(db: Db, { id, ...message }: PinnedMessage): Promise<void> {
  await db.prisma.pinnedMessage.update({ where: { id }, data: message, select: { id: true } });
}

export async function deleteMessage(db: Db, id: number): Promise<void> {
  await db.prisma.pinnedMessage.delete({ where: { id }, select: { id: true } });
}

const STARTER = columns('User', ['id', 'status', 'lastPinnedMessageId']);

/** Who starts a chat with the bot. */
export type ChatStarter = RowOf<typeof STARTER>;

export async function findStarter(db: Db, messengerId: number): Promise<ChatStarter | null> {
  const [row] = await db.sql<ChatStarter>(`SELECT ${STARTER.of()} FROM users WHERE messenger_id = $1::bigint`, [messengerId]);
  return row ?? null;
}

const DELIVERY = allColumns('PinnedDelivery');

export async function findDelivery(db: Db, userId: number): Promise<PinnedDelivery | null> {
  const [row] = await db.sql<PinnedDelivery>(`SELECT ${DELIVERY.of()} FROM pinned_deliveries WHERE user_id = $1::int`, [userId]);
  return row ?? null;
}

/** What sent a message: a mass send, or the update of a chat start. */
export type Occasion = { sendId: number } | { updateId: number };

/**
 * Stores that the message is in the chat of the user and not pinned yet, in place of the one before. The row of the user is locked first,
 * as everywhere. A user who was deleted meanwhile has no row.
 */
export async function recordDelivery(
  db: Db,
  delivery: Pick<PinnedDelivery, 'userId' | 'chatId' | 'messageId'> & { pinnedMessageId: number; occasion: Occasion },
  now: Date,
): Promise<void> {
  const { userId, chatId, messageId, pinnedMessageId, occasion } = delivery;
  const [sendId, updateId] = 'sendId' in occasion ? [occasion.sendId, null] : [null, occasion.updateId];
  await db.sql(
    `WITH locked AS (SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE),
       recorded AS (INSERT INTO pinned_deliveries AS d (user_id, chat_id, message_id, send_id, update_id, sent_at)
         SELECT id, $2::bigint, $3::bigint, $4::int, $5::bigint, $6::timestamptz FROM locked
         ON CONFLICT (user_id) DO UPDATE SET chat_id = EXCLUDED.chat_id, message_id = EXCLUDED.message_id, is_pinned = false,
           send_id = coalesce(EXCLUDED.send_id, d.send_id), update_id = coalesce(EXCLUDED.update_id, d.update_id),
           sent_at = EXCLUDED.sent_at
         RETURNING user_id)
     ${setLastPinnedSql('SELECT user_id FROM recorded', '$7::int')}`,
    [userId, chatId, messageId, sendId, updateId, now, pinnedMessageId],
  );
}

/**
 * Stores whether the message is pinned now.
 * @returns false when another message has taken its place
 */
export async function setPinned(
  db: Db,
  { userId, messageId }: Pick<PinnedDelivery, 'userId' | 'messageId'>,
  isPinned: boolean,
): Promise<boolean> {
  const rows = await db.sql(
    'UPDATE pinned_deliveries SET is_pinned = $3::boolean WHERE user_id = $1::int AND message_id = $2::bigint RETURNING user_id',
    [userId, messageId, isPinned],
  );
  return rows.length > 0;
}
