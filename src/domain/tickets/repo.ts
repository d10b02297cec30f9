import { columns, nestedRow, plainRow, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { listDistinctNames } from '../../core/db/distinct-names.ts';
import { isRowId } from '../../core/row-id.ts';
import type {
  Attachment,
  Ticket,
  TicketDetail,
  TicketListItem,
  TicketMessage,
  TicketOwner,
  TicketPriority,
  TicketStats,
  TicketStatus,
} from './types.ts';

const TICKET = columns('Ticket', [
  ...(['id', 'userId', 'title', 'status', 'priority', 'userReplyBlockPermanent', 'userReplyBlockUntil'] as const),
  ...(['createdAt', 'updatedAt', 'closedAt'] as const),
]);
/** What Prisma Client leaves out: the times of the reminders, and who answered. */
const OMITTED = { lastUserMessageAt: true, lastSlaReminderAt: true } as const;
const OMITTED_OF_MESSAGE = { adminUserId: true } as const;

const OWNER = columns('User', ['messengerId', 'email', 'username', 'firstName', 'lastName']);
const OWNER_FIELDS = { id: true, messengerId: true, email: true, username: true, firstName: true, lastName: true } as const;

/** Separates a joined row into the owner and the other columns. */
function splitOwner<R extends RowOf<typeof OWNER> & { userId: number }>(row: R) {
  const { messengerId, email, username, firstName, lastName, ...rest } = row;
  const owner: TicketOwner = { id: row.userId, messengerId, email, username, firstName, lastName };
  return { ...rest, owner };
}

/** Exact values; null or absent = any. */
export interface TicketFilter {
  userId?: number | null | undefined;
  status?: string | null | undefined;
  priority?: string | null | undefined;
}

export interface Slice {
  limit: number;
  offset: number;
}

const FILTERS = `($1::bigint IS NULL OR k.user_id = $1::bigint) AND ($2::text IS NULL OR k.status = $2::text)
  AND ($3::text IS NULL OR k.priority = $3::text)`;

const filterValues = ({ userId = null, status = null, priority = null }: TicketFilter) => [userId, status, priority];

export async function countTickets(db: Db, filter: TicketFilter): Promise<number> {
  const sql = `SELECT count(*)::int AS total FROM tickets k WHERE ${FILTERS}`;
  const [row] = await db.sql<{ total: number }>(sql, filterValues(filter));
  return row!.total;
}

/** Last changed first, without messages. */
export function listPlainTickets(db: Db, filter: TicketFilter, slice: Slice): Promise<Ticket[]> {
  return db.sql<Ticket>(
    `SELECT ${TICKET.of('k')} FROM tickets k WHERE ${FILTERS} ORDER BY k.updated_at DESC, k.id DESC LIMIT $4::bigint OFFSET $5::bigint`,
    [...filterValues(filter), slice.limit, slice.offset],
  );
}

/** Last changed first; count and newest message are read for the tickets of the page only. */
export async function listTickets(db: Db, filter: TicketFilter, slice: Slice): Promise<TicketListItem[]> {
  const rows = await db.sql<Ticket & RowOf<typeof OWNER> & { messagesCount: number; lastMessage: object | null }>(
    `WITH page AS (
       SELECT k.* FROM tickets k WHERE ${FILTERS} ORDER BY k.updated_at DESC, k.id DESC LIMIT $4::bigint OFFSET $5::bigint
     )
     SELECT ${TICKET.of('k')}, ${OWNER.of('u')},
       (SELECT count(*)::int FROM ticket_messages c WHERE c.ticket_id = k.id) AS messages_count,
       (SELECT to_jsonb(m) FROM ticket_messages m WHERE m.ticket_id = k.id ORDER BY m.created_at DESC, m.id DESC LIMIT 1) AS last_message
     FROM page k JOIN users u ON u.id = k.user_id ORDER BY k.updated_at DESC, k.id DESC`,
    [...filterValues(filter), slice.limit, slice.offset],
  );
  return rows.map((row) => ({ ...splitOwner(row), lastMessage: nestedRow('TicketMessage', row.lastMessage) }));
}

export async function countByStatus(db: Db): Promise<TicketStats> {
  const rows = await db.sql<{ status: TicketStatus; count: number }>(
    'SELECT status, count(*)::int AS count FROM tickets GROUP BY status',
  );
  const stats: TicketStats = { total: 0, open: 0, pending: 0, answered: 0, closed: 0 };
  for (const { status, count } of rows) {
    stats[status] = count;
    stats.total += count;
  }
  return stats;
}

/** With owner and messages, oldest first. @param userId only a ticket of this user; null = of any user */
export async function findTicket(
  db: Db,
  id: number,
  userId: number | null,
): Promise<Omit<TicketDetail, 'isReplyBlocked'> | null> {
  if (!isRowId(id)) return null;
  const row = await db.prisma.ticket.findFirst({
    where: { id, ...(userId !== null && { userId }) },
    omit: OMITTED,
    include: {
      user: { select: OWNER_FIELDS },
      messages: { omit: OMITTED_OF_MESSAGE, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
    },
  });
  if (!row) return null;
  const { user, messages, ...ticket } = row;
  return { ...plainRow('Ticket', ticket), owner: plainRow('User', user), messages };
}

/** Locks the ticket until the transaction ends. @param userId only a ticket of this user; null = of any user */
export async function lockTicket(db: Db, id: number, userId: number | null): Promise<Ticket | null> {
  const [row] = await db.sql<Ticket>(
    `SELECT ${TICKET.of('k')} FROM tickets k WHERE k.id = $1::bigint AND ($2::bigint IS NULL OR k.user_id = $2::bigint) FOR UPDATE`,
    [id, userId],
  );
  return row ?? null;
}

export async function findMessage(db: Db, ticketId: number, id: number): Promise<TicketMessage | null> {
  if (!isRowId(ticketId) || !isRowId(id)) return null;
  return db.prisma.ticketMessage.findUnique({ where: { id, ticketId }, omit: OMITTED_OF_MESSAGE });
}

export async function ticketExists(db: Db, id: number): Promise<boolean> {
  return isRowId(id) && (await db.prisma.ticket.count({ where: { id } })) > 0;
}

/** Whether any of the user's tickets is blocked now (spec 05 section 1.1). */
export async function isUserBlocked(db: Db, userId: number, now: Date): Promise<boolean> {
  const isBlocked = [{ userReplyBlockPermanent: true }, { userReplyBlockUntil: { gt: now } }];
  return (await db.prisma.ticket.findFirst({ where: { userId, OR: isBlocked }, select: { id: true } })) !== null;
}

/** When the user last wrote into the ticket; the message that opened it does not count. */
export async function lastReplyAt(db: Db, ticketId: number): Promise<Date | null> {
  const [row] = await db.sql<{ at: Date | null }>(
    `SELECT max(created_at) AS at FROM ticket_messages WHERE ticket_id = $1::bigint AND NOT is_from_admin
       AND id > (SELECT min(id) FROM ticket_messages WHERE ticket_id = $1::bigint)`,
    [ticketId],
  );
  return row!.at;
}

export async function insertTicket(db: Db, userId: number, title: string, now: Date): Promise<Ticket> {
  const data = { userId, title, createdAt: now, updatedAt: now, lastUserMessageAt: now };
  return plainRow('Ticket', await db.prisma.ticket.create({ data, omit: OMITTED }));
}

/** `userId` is the ticket's owner; `adminUserId` the administrator who answered, null for users and API tokens. */
export interface NewMessage extends Pick<Rows['TicketMessage'], 'ticketId' | 'userId' | 'adminUserId' | 'isFromAdmin'> {
  text: string;
  attachment: Attachment | null;
}

export function insertMessage(db: Db, { attachment, text, ...message }: NewMessage, now: Date): Promise<TicketMessage> {
  const media = attachment && {
    hasMedia: true,
    mediaType: attachment.type,
    mediaFileId: attachment.fileId,
    mediaCaption: attachment.caption,
  };
  const data = { ...message, messageText: text, ...media, createdAt: now };
  return db.prisma.ticketMessage.create({ data, omit: OMITTED_OF_MESSAGE });
}

/** `closedAt` is set exactly while the ticket is closed. */
export function setStatus(db: Db, id: number, status: TicketStatus, now: Date): Promise<Ticket> {
  return updateTicket(db, id, { status, closedAt: status === 'closed' ? now : null, updatedAt: now });
}

/** The answer time: starts with a message of the user, which also resets the reminders, and stops with an answer. */
export async function setWaitingSince(db: Db, id: number, since: Date | null): Promise<void> {
  await updateTicket(db, id, { lastUserMessageAt: since, lastSlaReminderAt: null });
}

export function setPriority(db: Db, id: number, priority: TicketPriority, now: Date): Promise<Ticket> {
  return updateTicket(db, id, { priority, updatedAt: now });
}

export function setReplyBlock(db: Db, id: number, block: { permanent: boolean; until: Date | null }, now: Date): Promise<Ticket> {
  const { permanent: userReplyBlockPermanent, until: userReplyBlockUntil } = block;
  return updateTicket(db, id, { userReplyBlockPermanent, userReplyBlockUntil, updatedAt: now });
}

/** Writes fields of a locked ticket. */
async function updateTicket(db: Db, id: number, data: Partial<Rows['Ticket']>): Promise<Ticket> {
  return plainRow('Ticket', await db.prisma.ticket.update({ where: { id }, data, omit: OMITTED }));
}

/** The owner of a ticket as a recipient of notices. */
export interface OwnerContact extends TicketOwner {
  language: string;
  status: string;
  /** Null unless verified. */
  verifiedEmail: string | null;
}

export async function findOwner(db: Db, id: number): Promise<OwnerContact> {
  const select = { ...OWNER_FIELDS, language: true, status: true, emailVerified: true } as const;
  const { emailVerified, ...owner } = plainRow('User', await db.prisma.user.findUniqueOrThrow({ where: { id }, select }));
  return { ...owner, verifiedEmail: emailVerified ? owner.email : null };
}

export interface OverdueTicket {
  id: number;
  title: string;
  waitingSince: Date;
  owner: TicketOwner;
}

/**
 * Claims tickets whose user waits for an answer and marks them reminded; `updated_at` stays. Tickets that are locked by another process
 * are skipped.
 */
export async function claimOverdue(
  db: Db,
  { waitingBefore, remindedBefore, now, limit }: { waitingBefore: Date; remindedBefore: Date; now: Date; limit: number },
): Promise<OverdueTicket[]> {
  const rows = await db.sql<Pick<Rows['Ticket'], 'id' | 'title' | 'userId'> & RowOf<typeof OWNER> & { waitingSince: Date }>(
    `UPDATE tickets k SET last_sla_reminder_at = $3::timestamptz
     FROM users u
     WHERE u.id = k.user_id AND k.id = ANY(ARRAY(
       SELECT id FROM tickets WHERE status IN ('open', 'pending') AND last_user_message_at <= $1::timestamptz
         AND (last_sla_reminder_at IS NULL OR last_sla_reminder_at <= $2::timestamptz)
       ORDER BY last_user_message_at, id LIMIT $4::bigint FOR UPDATE SKIP LOCKED))
     RETURNING k.id, k.title, k.last_user_message_at AS waiting_since, k.user_id, ${OWNER.of('u')}`,
    [waitingBefore, remindedBefore, now, limit],
  );
  return rows.map(splitOwner);
}

/** A row of the bell; those for administrators are shared by all of them (spec 05 section 2). */
export type TicketNotification = RowOf<typeof NOTIFICATION>;

/** Whose rows: those of one user, or the ones that all administrators share. */
export type Inbox = { kind: 'user'; userId: number } | { kind: 'admin' };

const NOTIFICATION = columns('TicketNotification', [
  ...(['id', 'ticketId', 'notificationType', 'message', 'isRead', 'createdAt', 'readAt'] as const),
]);

/** As a condition of Prisma Client. */
const inInbox = (inbox: Inbox) => (inbox.kind === 'user' ? { isForAdmin: false, userId: inbox.userId } : { isForAdmin: true });

interface NewNotification extends Pick<TicketNotification, 'ticketId' | 'notificationType'> {
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

/** Marks unread rows read; those read before keep their time. @returns rows marked now */
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

interface SupportAction {
  /** Null for API tokens. */
  actorUserId: number | null;
  action: string;
  ticketId: number;
  targetUserId: number;
  details: Record<string, unknown>;
}

export async function insertSupportAction(db: Db, action: SupportAction, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO support_audit_logs (actor_user_id, actor_messenger_id, action, ticket_id, target_user_id, details, created_at)
     VALUES ($1::bigint, (SELECT messenger_id FROM users WHERE id = $1::bigint), $2, $3::bigint, $4::bigint, $5::jsonb, $6::timestamptz)
     RETURNING id`,
    [action.actorUserId, action.action, action.ticketId, action.targetUserId, JSON.stringify(action.details), now],
  );
}

const ENTRY = columns('SupportAuditLog', [
  ...(['id', 'actorUserId', 'actorMessengerId', 'isModerator', 'action'] as const),
  ...(['ticketId', 'targetUserId', 'details', 'createdAt'] as const),
]);

export type SupportEntry = RowOf<typeof ENTRY>;

/** Newest first. @param action null = every action */
export function listSupportEntries(
  db: Db,
  action: string | null,
  page: { limit: number; offset: number },
): Promise<SupportEntry[]> {
  return db.sql<SupportEntry>(
    `SELECT ${ENTRY.of('l')} FROM support_audit_logs l ${action === null ? '' : 'WHERE l.action = $3'}
     ORDER BY l.created_at DESC, l.id DESC LIMIT $1::int OFFSET $2::bigint`,
    [page.limit, page.offset, ...(action === null ? [] : [action])],
  );
}

/** Counts the rows on one side of an id; the log only grows, so the rows below an old id are counted once. */
export async function countSupportEntries(
  db: Db,
  action: string | null,
  range: { above: number } | { upTo: number },
): Promise<number> {
  const [row] = await db.sql<{ total: number }>(
    `SELECT count(*)::int AS total FROM support_audit_logs
     WHERE id ${'above' in range ? '>' : '<='} $1::bigint AND ($2::text IS NULL OR action = $2::text)`,
    ['above' in range ? range.above : range.upTo, action],
  );
  return row!.total;
}

/** Highest id written before a given time; 0 = none. */
export async function findSupportIdBefore(db: Db, timestamp: Date): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    'SELECT id FROM support_audit_logs WHERE created_at < $1::timestamptz ORDER BY created_at DESC, id DESC LIMIT 1',
    [timestamp],
  );
  return row?.id ?? 0;
}

/** Ascending. */
export const listActionNames = (db: Db): Promise<string[]> => listDistinctNames(db, 'support_audit_logs', 'action');
