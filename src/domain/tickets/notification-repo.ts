import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { isRowId } from '../../core/row-id.ts';
import type { Slice } from './repo.ts';

/** A row of the bell; those for administrators are shared by all of them (spec 05 section 2). */
export type TicketNotification = RowOf<typeof NOTIFICATION>;

/** Whose rows: those of one user, or the ones that all administrators share. */
export type Inbox = { kind: 'user'; userId: number } | { kind: 'admin' };

const NOTIFICATION = columns('TicketNotification', [
  ...(['id', 'ticketId', 'notificationType', 'message', 'isRead', 'createdAt', 'readAt'] as const),
]);

/** As a condition of Prisma Client. */
const inInbox = (inbox: Inbox) => (inbox.kind === 'user' ? { isForAdmin: false, userId: inbox.userId } : { isForAdmin: true });

export interface NewNotification extends Pick<TicketNotification, 'ticketId' | 'notificationType'> {
  /** The ticket's owner, for both audiences. */
  userId: number;
  message: string;
  isForAdmin: boolean;
}

export async function insertNotification(db: Db, row: NewNotification, now: Date): Promise<void> {
  await db.prisma.ticketNotification.create({ data: { ...row, createdAt: now }, select: { id: true } });
}

/** Newest first. */
export async function listNotifications(
  db: Db,
  inbox: Inbox,
  { unreadOnly, limit, offset }: Slice & { unreadOnly: boolean },
): Promise<TicketNotification[]> {
  const [condition, owner] =
    inbox.kind === 'user' ? ['NOT is_for_admin AND user_id = $1::int', inbox.userId] : ['is_for_admin AND $1::int IS NULL', null];
  return db.sql<TicketNotification>(
    `SELECT ${NOTIFICATION.of()} FROM ticket_notifications WHERE ${condition}${unreadOnly ? ' AND NOT is_read' : ''}
     ORDER BY created_at DESC, id DESC LIMIT $2::bigint OFFSET $3::bigint`,
    [owner, limit, offset],
  );
}

export function countUnread(db: Db, inbox: Inbox): Promise<number> {
  return db.prisma.ticketNotification.count({ where: { ...inInbox(inbox), isRead: false } });
}

export async function findRecipient(db: Db, id: number): Promise<{ userId: number; isForAdmin: boolean } | null> {
  if (!isRowId(id)) return null;
  return db.prisma.ticketNotification.findUnique({ where: { id }, select: { userId: true, isForAdmin: true } });
}

/** Marks unread rows read; those read before keep their moment. @returns rows marked now */
export async function markRead(
  db: Db,
  inbox: Inbox,
  which: { id: number } | { ticketId: number } | 'all',
  now: Date,
): Promise<number> {
  if (which !== 'all' && !isRowId('id' in which ? which.id : which.ticketId)) return 0;
  const where = { ...inInbox(inbox), isRead: false, ...(which === 'all' ? {} : which) };
  const { count } = await db.prisma.ticketNotification.updateMany({ where, data: { isRead: true, readAt: now } });
  return count;
}
