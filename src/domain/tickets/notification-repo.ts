import type { Db } from '../../core/db/db.ts';
import type { Slice } from './repo.ts';
import type { TicketNotification, TicketNotificationType } from './types.ts';

/** Whose rows: those of one user, or the ones that all administrators share. */
export type Inbox = { kind: 'user'; userId: number } | { kind: 'admin' };

interface NotificationRow {
  id: number;
  ticketId: number;
  notificationType: TicketNotificationType;
  message: string | null;
  isRead: boolean;
  createdAt: Date;
  readAt: Date | null;
}

/** A condition over `$1` (the user, null for administrators). */
function inboxCondition(inbox: Inbox): string {
  return inbox.kind === 'user' ? 'NOT is_for_admin AND user_id = $1::bigint' : 'is_for_admin AND $1::bigint IS NULL';
}

const ownerOf = (inbox: Inbox): number | null => (inbox.kind === 'user' ? inbox.userId : null);

export interface NewNotification {
  ticketId: number;
  /** The ticket's owner, for both audiences. */
  userId: number;
  type: TicketNotificationType;
  message: string;
  isForAdmin: boolean;
}

export async function insertNotification(db: Db, row: NewNotification, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO ticket_notifications (ticket_id, user_id, notification_type, message, is_for_admin, created_at)
     VALUES ($1::bigint, $2::bigint, $3, $4, $5::boolean, $6::timestamptz) RETURNING id`,
    [row.ticketId, row.userId, row.type, row.message, row.isForAdmin, now],
  );
}

/** Newest first. */
export async function listNotifications(
  db: Db,
  inbox: Inbox,
  { unreadOnly, limit, offset }: Slice & { unreadOnly: boolean },
): Promise<TicketNotification[]> {
  const rows = await db.sql<NotificationRow>(
    `SELECT id, ticket_id, notification_type, message, is_read, created_at, read_at FROM ticket_notifications
     WHERE ${inboxCondition(inbox)}${unreadOnly ? ' AND NOT is_read' : ''}
     ORDER BY created_at DESC, id DESC LIMIT $2::bigint OFFSET $3::bigint`,
    [ownerOf(inbox), limit, offset],
  );
  return rows.map((row) => ({
    id: row.id,
    ticketId: row.ticketId,
    type: row.notificationType,
    message: row.message,
    isRead: row.isRead,
    createdAt: row.createdAt,
    readAt: row.readAt,
  }));
}

export async function countUnread(db: Db, inbox: Inbox): Promise<number> {
  const [row] = await db.sql<{ unread: number }>(
    `SELECT count(*)::int AS unread FROM ticket_notifications WHERE ${inboxCondition(inbox)} AND NOT is_read`,
    [ownerOf(inbox)],
  );
  return row!.unread;
}

export async function findRecipient(db: Db, id: number): Promise<{ userId: number; isForAdmin: boolean } | null> {
  const [row] = await db.sql<{ userId: number; isForAdmin: boolean }>(
    'SELECT user_id, is_for_admin FROM ticket_notifications WHERE id = $1::bigint',
    [id],
  );
  return row ? { userId: row.userId, isForAdmin: row.isForAdmin } : null;
}

/** Marks unread rows read; those read before keep their moment. @returns rows marked now */
export async function markRead(
  db: Db,
  inbox: Inbox,
  which: { id: number } | { ticketId: number } | 'all',
  now: Date,
): Promise<number> {
  const [condition, value] =
    which === 'all'
      ? ['$3::bigint IS NULL', null]
      : 'id' in which
        ? ['id = $3::bigint', which.id]
        : ['ticket_id = $3::bigint', which.ticketId];
  const rows = await db.sql(
    `UPDATE ticket_notifications SET is_read = true, read_at = $2::timestamptz
     WHERE ${inboxCondition(inbox)} AND NOT is_read AND ${condition} RETURNING id`,
    [ownerOf(inbox), now, value],
  );
  return rows.length;
}
