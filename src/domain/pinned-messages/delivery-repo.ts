import { allColumns } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { setLastPinnedSql } from '../users/last-pinned-message.ts';
import type { PinnedDelivery } from './types.ts';

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
