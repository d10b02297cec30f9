import { allColumns } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { TextList, TextPage, UserMessage } from './types.ts';

const MESSAGE = allColumns('UserMessage');

/** Newest first. */
export async function listMessages(db: Db, page: TextPage & { includeInactive: boolean }): Promise<TextList<UserMessage>> {
  const [items, total] = await Promise.all([
    db.sql<UserMessage>(
      `SELECT ${MESSAGE.of()} FROM user_messages WHERE is_active OR $3::boolean
       ORDER BY created_at DESC, id DESC LIMIT $1::int OFFSET $2::bigint`,
      [page.limit, page.offset, page.includeInactive],
    ),
    db.prisma.userMessage.count({ where: page.includeInactive ? {} : { isActive: true } }),
  ]);
  return { items, total };
}

export async function insertMessage(
  db: Db,
  message: Pick<UserMessage, 'messageText' | 'isActive' | 'sortOrder'>,
  now: Date,
): Promise<UserMessage> {
  return db.prisma.userMessage.create({ data: { ...message, createdBy: null, createdAt: now, updatedAt: now } });
}

/** The message, locked until the transaction ends. */
export async function lockMessage(db: Db, id: number): Promise<UserMessage | null> {
  const [row] = await db.sql<UserMessage>(`SELECT ${MESSAGE.of()} FROM user_messages WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ?? null;
}

export async function updateMessageRow(db: Db, { id, ...message }: UserMessage): Promise<void> {
  await db.prisma.userMessage.update({ where: { id }, data: message, select: { id: true } });
}

/** @returns what it was; null when there is no such message */
export async function deleteMessageRow(db: Db, id: number): Promise<UserMessage | null> {
  const [row] = await db.sql<UserMessage>(`DELETE FROM user_messages WHERE id = $1::bigint RETURNING ${MESSAGE.of()}`, [id]);
  return row ?? null;
}
