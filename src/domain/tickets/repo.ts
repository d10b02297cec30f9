import { nestedRow } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
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

const TICKET = `k.id, k.user_id, k.title, k.status, k.priority, k.user_reply_block_permanent, k.user_reply_block_until,
  k.created_at, k.updated_at, k.closed_at`;
const OWNER = 'u.messenger_id, u.email, u.username, u.first_name, u.last_name';
const MESSAGE =
  'm.id, m.ticket_id, m.user_id, m.message_text, m.is_from_admin, m.has_media, m.media_type, m.media_file_id, m.media_caption, m.created_at';

interface TicketRow {
  id: number;
  userId: number;
  title: string;
  status: TicketStatus;
  priority: TicketPriority;
  userReplyBlockPermanent: boolean;
  userReplyBlockUntil: Date | null;
  createdAt: Date;
  updatedAt: Date;
  closedAt: Date | null;
}

interface OwnerRow {
  userId: number;
  messengerId: number | null;
  email: string | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
}

interface MessageRow {
  id: number;
  ticketId: number;
  userId: number;
  messageText: string;
  isFromAdmin: boolean;
  hasMedia: boolean;
  mediaType: string | null;
  mediaFileId: string | null;
  mediaCaption: string | null;
  createdAt: Date;
}

function toTicket(row: TicketRow): Ticket {
  return {
    id: row.id,
    userId: row.userId,
    title: row.title,
    status: row.status,
    priority: row.priority,
    replyBlockPermanent: row.userReplyBlockPermanent,
    replyBlockUntil: row.userReplyBlockUntil,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    closedAt: row.closedAt,
  };
}

function toOwner(row: OwnerRow): TicketOwner {
  return {
    id: row.userId,
    messengerId: row.messengerId,
    email: row.email,
    username: row.username,
    firstName: row.firstName,
    lastName: row.lastName,
  };
}

function toMessage(row: MessageRow): TicketMessage {
  return {
    id: row.id,
    ticketId: row.ticketId,
    userId: row.userId,
    text: row.messageText,
    isFromAdmin: row.isFromAdmin,
    hasMedia: row.hasMedia,
    mediaType: row.mediaType,
    mediaFileId: row.mediaFileId,
    mediaCaption: row.mediaCaption,
    createdAt: row.createdAt,
  };
}

/** Every filter narrows; null = not asked. */
export interface TicketFilter {
  userId: number | null;
  status: string | null;
  priority: string | null;
}

export interface Slice {
  limit: number;
  offset: number;
}

const FILTERS = `($1::bigint IS NULL OR k.user_id = $1::bigint) AND ($2::text IS NULL OR k.status = $2::text)
  AND ($3::text IS NULL OR k.priority = $3::text)`;

export async function countTickets(db: Db, { userId, status, priority }: TicketFilter): Promise<number> {
  const [row] = await db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM tickets k WHERE ${FILTERS}`, [
    userId,
    status,
    priority,
  ]);
  return row!.total;
}

/** Last changed first, without messages. */
export async function listPlainTickets(db: Db, { userId, status, priority }: TicketFilter, slice: Slice): Promise<Ticket[]> {
  const rows = await db.sql<TicketRow>(
    `SELECT ${TICKET} FROM tickets k WHERE ${FILTERS} ORDER BY k.updated_at DESC, k.id DESC LIMIT $4::bigint OFFSET $5::bigint`,
    [userId, status, priority, slice.limit, slice.offset],
  );
  return rows.map(toTicket);
}

/** Last changed first; count and newest message are taken for the tickets of the page only. */
export async function listTickets(db: Db, { userId, status, priority }: TicketFilter, slice: Slice): Promise<TicketListItem[]> {
  const rows = await db.sql<TicketRow & OwnerRow & { messagesCount: number; lastMessage: object | null }>(
    `WITH page AS (
       SELECT k.* FROM tickets k WHERE ${FILTERS} ORDER BY k.updated_at DESC, k.id DESC LIMIT $4::bigint OFFSET $5::bigint
     )
     SELECT ${TICKET}, ${OWNER},
       (SELECT count(*)::int FROM ticket_messages c WHERE c.ticket_id = k.id) AS messages_count,
       (SELECT to_jsonb(m) FROM ticket_messages m WHERE m.ticket_id = k.id ORDER BY m.created_at DESC, m.id DESC LIMIT 1) AS last_message
     FROM page k JOIN users u ON u.id = k.user_id ORDER BY k.updated_at DESC, k.id DESC`,
    [userId, status, priority, slice.limit, slice.offset],
  );
  return rows.map(({ lastMessage: last, ...row }) => ({
    ...toTicket(row),
    owner: toOwner(row),
    messagesCount: row.messagesCount,
    lastMessage: last && toMessage(nestedRow('TicketMessage', last)),
  }));
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

/** @param userId only a ticket of this user; null = anyone's */
export async function findTicket(
  db: Db,
  id: number,
  userId: number | null,
): Promise<Omit<TicketDetail, 'isReplyBlocked'> | null> {
  const [row] = await db.sql<TicketRow & OwnerRow>(
    `SELECT ${TICKET}, ${OWNER} FROM tickets k JOIN users u ON u.id = k.user_id
     WHERE k.id = $1::bigint AND ($2::bigint IS NULL OR k.user_id = $2::bigint)`,
    [id, userId],
  );
  if (!row) return null;
  const messages = await db.sql<MessageRow>(
    `SELECT ${MESSAGE} FROM ticket_messages m WHERE m.ticket_id = $1::bigint ORDER BY m.created_at, m.id`,
    [id],
  );
  return { ...toTicket(row), owner: toOwner(row), messages: messages.map(toMessage) };
}

/** Holds the ticket until the transaction ends: one change at a time. @param userId only a ticket of this user; null = anyone's */
export async function lockTicket(db: Db, id: number, userId: number | null): Promise<Ticket | null> {
  const [row] = await db.sql<TicketRow>(
    `SELECT ${TICKET} FROM tickets k WHERE k.id = $1::bigint AND ($2::bigint IS NULL OR k.user_id = $2::bigint) FOR UPDATE`,
    [id, userId],
  );
  return row ? toTicket(row) : null;
}

export async function findMessage(db: Db, ticketId: number, messageId: number): Promise<TicketMessage | null> {
  const [row] = await db.sql<MessageRow>(
    `SELECT ${MESSAGE} FROM ticket_messages m WHERE m.ticket_id = $1::bigint AND m.id = $2::bigint`,
    [ticketId, messageId],
  );
  return row ? toMessage(row) : null;
}

export async function ticketExists(db: Db, id: number): Promise<boolean> {
  return (await db.sql('SELECT 1 AS one FROM tickets WHERE id = $1::bigint', [id])).length > 0;
}

/** Is any of the user's tickets blocked now, however many there are (spec 05 section 1.1)? */
export async function isUserBlocked(db: Db, userId: number, now: Date): Promise<boolean> {
  const [row] = await db.sql<{ blocked: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM tickets WHERE user_id = $1::bigint
       AND (user_reply_block_permanent OR user_reply_block_until > $2::timestamptz)) AS blocked`,
    [userId, now],
  );
  return row!.blocked;
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

/** Has this service issued or received the file (spec 05 section 10)? */
export async function isKnownFile(db: Db, fileId: string): Promise<boolean> {
  return (await db.sql('SELECT 1 AS one FROM media_files WHERE file_id = $1', [fileId])).length > 0;
}

export async function insertTicket(db: Db, userId: number, title: string, now: Date): Promise<Ticket> {
  const [row] = await db.sql<TicketRow>(
    `INSERT INTO tickets AS k (user_id, title, created_at, updated_at, last_user_message_at)
     VALUES ($1::bigint, $2, $3::timestamptz, $3::timestamptz, $3::timestamptz) RETURNING ${TICKET}`,
    [userId, title, now],
  );
  return toTicket(row!);
}

export interface NewMessage {
  ticketId: number;
  /** The owner of the ticket. */
  userId: number;
  /** Who answered; null for users and API tokens. */
  adminUserId: number | null;
  text: string;
  isFromAdmin: boolean;
  attachment: Attachment | null;
}

export async function insertMessage(db: Db, message: NewMessage, now: Date): Promise<TicketMessage> {
  const { attachment } = message;
  const [row] = await db.sql<MessageRow>(
    `INSERT INTO ticket_messages AS m (ticket_id, user_id, admin_user_id, message_text, is_from_admin, has_media, media_type,
       media_file_id, media_caption, created_at)
     VALUES ($1::bigint, $2::bigint, $3::bigint, $4, $5::boolean, $6::boolean, $7::text, $8::text, $9::text, $10::timestamptz)
     RETURNING ${MESSAGE}`,
    [
      message.ticketId,
      message.userId,
      message.adminUserId,
      message.text,
      message.isFromAdmin,
      attachment !== null,
      attachment?.type ?? null,
      attachment?.fileId ?? null,
      attachment?.caption ?? null,
      now,
    ],
  );
  return toMessage(row!);
}

/** `closed_at` follows the status; a ticket that leaves `closed` loses it. */
export async function setStatus(db: Db, id: number, status: TicketStatus, now: Date): Promise<Ticket> {
  const [row] = await db.sql<TicketRow>(
    `UPDATE tickets AS k SET status = $2::text, updated_at = $3::timestamptz,
       closed_at = CASE WHEN $2::text = 'closed' THEN $3::timestamptz END
     WHERE k.id = $1::bigint RETURNING ${TICKET}`,
    [id, status, now],
  );
  return toTicket(row!);
}

/** The SLA clock: starts with a message of the user (and forgets reminders), stops with an answer. */
export async function setWaitingSince(db: Db, id: number, since: Date | null): Promise<void> {
  await db.sql(
    `UPDATE tickets SET last_user_message_at = $2::timestamptz, last_sla_reminder_at = NULL WHERE id = $1::bigint RETURNING id`,
    [id, since],
  );
}

export async function setPriority(db: Db, id: number, priority: TicketPriority, now: Date): Promise<Ticket> {
  const [row] = await db.sql<TicketRow>(
    `UPDATE tickets AS k SET priority = $2, updated_at = $3::timestamptz WHERE k.id = $1::bigint RETURNING ${TICKET}`,
    [id, priority, now],
  );
  return toTicket(row!);
}

export async function setReplyBlock(
  db: Db,
  id: number,
  block: { permanent: boolean; until: Date | null },
  now: Date,
): Promise<Ticket> {
  const [row] = await db.sql<TicketRow>(
    `UPDATE tickets AS k SET user_reply_block_permanent = $2::boolean, user_reply_block_until = $3::timestamptz,
       updated_at = $4::timestamptz
     WHERE k.id = $1::bigint RETURNING ${TICKET}`,
    [id, block.permanent, block.until, now],
  );
  return toTicket(row!);
}

/** What notices about a ticket say of its owner. */
export interface OwnerContact extends TicketOwner {
  language: string;
  status: string;
  /** Null unless verified. */
  verifiedEmail: string | null;
}

export async function findOwner(db: Db, userId: number): Promise<OwnerContact> {
  const [row] = await db.sql<OwnerRow & { language: string; status: string; emailVerified: boolean }>(
    `SELECT u.id AS user_id, ${OWNER}, u.language, u.status, u.email_verified FROM users u WHERE u.id = $1::bigint`,
    [userId],
  );
  const { language, status, emailVerified: isVerified } = row!;
  return { ...toOwner(row!), language, status, verifiedEmail: isVerified ? row!.email : null };
}

export interface SupportAction {
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

export interface OverdueTicket {
  id: number;
  title: string;
  waitingSince: Date;
  owner: TicketOwner;
}

/**
 * Takes tickets whose user waits for an answer and marks them reminded; `updated_at` stays. Tickets that another process holds
 * are left to it.
 */
export async function claimOverdue(
  db: Db,
  { waitingBefore, remindedBefore, now, limit }: { waitingBefore: Date; remindedBefore: Date; now: Date; limit: number },
): Promise<OverdueTicket[]> {
  const rows = await db.sql<OwnerRow & { id: number; title: string; lastUserMessageAt: Date }>(
    `UPDATE tickets k SET last_sla_reminder_at = $3::timestamptz
     FROM users u
     WHERE u.id = k.user_id AND k.id = ANY(ARRAY(
       SELECT id FROM tickets WHERE status IN ('open', 'pending') AND last_user_message_at <= $1::timestamptz
         AND (last_sla_reminder_at IS NULL OR last_sla_reminder_at <= $2::timestamptz)
       ORDER BY last_user_message_at, id LIMIT $4::bigint FOR UPDATE SKIP LOCKED))
     RETURNING k.id, k.title, k.last_user_message_at, k.user_id, ${OWNER}`,
    [waitingBefore, remindedBefore, now, limit],
  );
  return rows.map((row) => ({ id: row.id, title: row.title, waitingSince: row.lastUserMessageAt, owner: toOwner(row) }));
}
