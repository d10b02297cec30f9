import type { AdminActor, UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { firstCharacters } from '../../core/characters.ts';
import { addMs, MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMail } from '../messaging/send-mail.ts';
import { type MessageRequest, publicBase, sendMessage } from '../messaging/send-message.ts';
import { escapeHtml, htmlText, shorten, text } from '../messaging/texts.ts';
import { recordMonitoring } from '../monitoring/monitoring-log.ts';
import { TICKET_CREATED, TICKET_MESSAGE_ADDED, TICKET_STATUS_CHANGED } from './events.ts';
import {
  claimOverdue,
  countUnread,
  findOwner,
  findRecipient,
  type Inbox,
  insertNotification,
  listNotifications,
  markRead,
  type OverdueTicket,
  type OwnerContact,
  type Slice,
  type TicketNotification,
} from './repo.ts';
import { titleOf } from './rules.ts';
import { readTicketToggles } from './ticket-settings.ts';
import type { Ticket, TicketMessage, TicketOwner } from './types.ts';

/** Longest caption of a picture, in visible characters. */
const MAX_CAPTION = 1_024;

const TOPIC = 'ADMIN_NOTIFICATIONS_TICKET_TOPIC_ID';

/** Whether notices to administrators are on and have a chat. */
function hasAdminChat(t: App): boolean {
  return adminChat(t, TOPIC) !== null;
}

/** Address of a file that the messenger stores. */
export function mediaUrl(app: App, fileId: string): string {
  return `${publicBase(app)}/media/${encodeURIComponent(fileId)}`;
}

/** Notifies the administrators' chat of a new ticket or of a user's reply. Texts of users are escaped. */
async function notifyAdmins(
  t: App,
  key: 'messages.ticket_notice_new' | 'messages.ticket_notice_reply',
  { ticket, message, owner }: { ticket: Ticket; message: TicketMessage; owner: OwnerContact },
): Promise<void> {
  const chat = adminChat(t, TOPIC);
  if (chat === null) return;
  const language = t.settings.get('DEFAULT_LANGUAGE');
  const html =
    htmlText(language, key, {
      ticket_id: ticket.id,
      name: shorten(nameOf(owner), 100),
      contact: owner.messengerId ?? owner.email ?? `#${owner.id}`,
      username: owner.username ? `@${owner.username}` : '—',
      title: shorten(titleOf(ticket), 60),
      text: shorten(message.messageText, 200),
      created_at: `${message.createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    }) + attachmentLine(t, language, message);
  await sendWithPhoto(t, { ...chat, html }, message);
}

/** Only pictures are shown; other files are linked. */
function attachmentLine(t: App, language: string, { mediaType, mediaFileId }: TicketMessage): string {
  if (mediaFileId === null || mediaType === 'photo') return '';
  const label = escapeHtml(`${text(language, 'messages.ticket_notice_file')}: ${mediaType}`);
  return `\n<a href="${escapeHtml(mediaUrl(t, mediaFileId))}">${label}</a>`;
}

/** A picture has the text as its caption where it fits, else it follows the text. */
async function sendWithPhoto(t: App, request: MessageRequest, { mediaType, mediaFileId }: TicketMessage): Promise<void> {
  if (mediaType !== 'photo' || mediaFileId === null) return sendMessage(t, request);
  const visible = request.html.replace(/<[^>]*>/g, '').replace(/&\w+;|&#\d+;/g, '.');
  if (visible.length <= MAX_CAPTION) return sendMessage(t, { ...request, photoFileId: mediaFileId });
  await sendMessage(t, request);
  await sendMessage(t, { ...request, html: '', photoFileId: mediaFileId });
}

/** Notifies the owner of an answer: in the messenger, or by mail without one. */
async function notifyOwner(t: App, ticket: Ticket, message: TicketMessage, owner: OwnerContact): Promise<void> {
  if (owner.status !== 'active') return;
  const values = { ticket_id: ticket.id, text: shorten(message.messageText, 100) };
  const { language, messengerId, verifiedEmail } = owner;
  if (messengerId !== null) {
    const buttons = [
      [{ text: text(language, 'messages.button_ticket_view'), callbackData: `view_ticket_${ticket.id}` }],
      [{ text: text(language, 'messages.button_ticket_dismiss'), callbackData: `close_ticket_notification_${ticket.id}` }],
    ];
    await sendWithPhoto(t, { messengerId, html: htmlText(language, 'messages.ticket_answered', values), buttons }, message);
  } else if (verifiedEmail !== null) {
    await sendMail(t, { to: verifiedEmail, language, type: 'ticket_answered', params: values });
  }
}

/** Reminds the administrators' chat of a user who waits for an answer. */
async function remindAdmins(t: App, overdue: OverdueTicket): Promise<void> {
  const chat = adminChat(t, TOPIC);
  if (chat === null) return;
  const minutes = Math.floor((t.clock.now().getTime() - overdue.waitingSince.getTime()) / MINUTE_MS);
  const values = {
    ticket_id: overdue.id,
    name: shorten(nameOf(overdue.owner), 100),
    title: shorten(titleOf(overdue), 60),
    minutes,
  };
  await sendMessage(t, { ...chat, html: htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'messages.ticket_overdue', values) });
}

function nameOf(owner: TicketOwner): string {
  return [owner.firstName, owner.lastName].filter(Boolean).join(' ') || owner.username || owner.email || `#${owner.id}`;
}

// Events, rows and notices of a change of a ticket, written in the transaction of the change (spec 05 section 16, invariant 2).

/** Characters of a message in the feed, and in rows and sockets of the cabinet. */
const FEED_LENGTH = 200;
const CABINET_LENGTH = 100;
const TITLE_LENGTH = 50;

/** A new ticket: one feed event, one row for the administrators with its socket message, one notice to their chat. */
export async function announceTicket(t: App, ticket: Ticket, message: TicketMessage): Promise<void> {
  const { id, userId, title, status, priority } = ticket;
  const event = { ticket_id: id, user_id: userId, title, status, priority, has_media: message.hasMedia };
  await t.events.emit(TICKET_CREATED, event, { audience: 'feed', userId });
  const toggles = await readTicketToggles(t);
  if (toggles.admin) {
    const rowMessage = text(t.settings.get('DEFAULT_LANGUAGE'), 'messages.ticket_row_new', {
      ticket_id: id,
      title: shorten(titleOf(ticket), TITLE_LENGTH),
    });
    const row = { ticketId: id, userId, notificationType: 'new_ticket', message: rowMessage, isForAdmin: true } as const;
    await insertNotification(t.db, row, t.clock.now());
    await t.events.emit('ticket.new', { ticket_id: id, title, user_id: userId }, { audience: 'staff', userId });
  }
  if (toggles.adminChat)
    await notifyAdmins(t, 'messages.ticket_notice_new', { ticket, message, owner: await findOwner(t.db, userId) });
}

/** A message of the owner, for the feed and the administrators. @param ticket as it is after the message */
export async function announceUserReply(t: App, ticket: Ticket, message: TicketMessage): Promise<void> {
  const { id, userId } = ticket;
  await announceMessage(t, ticket, message);
  const toggles = await readTicketToggles(t);
  if (toggles.admin) {
    const row = {
      ticketId: id,
      userId,
      notificationType: 'user_reply',
      message: rowText(t, id, message),
      isForAdmin: true,
    } as const;
    await insertNotification(t.db, row, t.clock.now());
    const event = { ticket_id: id, message: firstCharacters(message.messageText, CABINET_LENGTH), user_id: userId };
    await t.events.emit('ticket.user_reply', event, { audience: 'staff', userId });
  }
  if (toggles.adminChat)
    await notifyAdmins(t, 'messages.ticket_notice_reply', { ticket, message, owner: await findOwner(t.db, userId) });
}

/** An answer from either area, for the feed and the owner. @param ticket as it is after the answer */
export async function announceAnswer(t: App, ticket: Ticket, message: TicketMessage): Promise<void> {
  const { id, userId } = ticket;
  const owner = await findOwner(t.db, userId);
  await announceMessage(t, ticket, message);
  const toggles = await readTicketToggles(t);
  if (toggles.user) {
    const rowMessage = rowText(t, id, message, owner.language);
    const row = { ticketId: id, userId, notificationType: 'admin_reply', message: rowMessage, isForAdmin: false } as const;
    await insertNotification(t.db, row, t.clock.now());
    const event = { ticket_id: id, message: firstCharacters(message.messageText, CABINET_LENGTH) };
    await t.events.emit('ticket.admin_reply', event, { audience: 'user', userId });
  }
  if (toggles.ownerMessages) await notifyOwner(t, ticket, message, owner);
}

/** Emits nothing when the status has not changed. */
export async function announceStatus(t: App, before: Ticket, after: Ticket): Promise<void> {
  if (before.status === after.status) return;
  const event = {
    ticket_id: after.id,
    user_id: after.userId,
    old_status: before.status,
    new_status: after.status,
    closed_at: after.closedAt?.toISOString() ?? null,
  };
  await t.events.emit(TICKET_STATUS_CHANGED, event, { audience: 'feed', userId: after.userId });
}

function announceMessage(t: App, ticket: Ticket, message: TicketMessage): Promise<void> {
  const event = {
    ticket_id: ticket.id,
    message_id: message.id,
    user_id: ticket.userId,
    is_from_admin: message.isFromAdmin,
    message_text: firstCharacters(message.messageText, FEED_LENGTH),
    has_media: message.hasMedia,
    status: ticket.status,
  };
  return t.events.emit(TICKET_MESSAGE_ADDED, event, { audience: 'feed', userId: ticket.userId });
}

function rowText(
  t: App,
  ticketId: number,
  message: TicketMessage,
  language: string = t.settings.get('DEFAULT_LANGUAGE'),
): string {
  return text(language, 'messages.ticket_row_reply', { ticket_id: ticketId, text: shorten(message.messageText, CABINET_LENGTH) });
}

const BATCH = 50;

/**
 * Reminds the administrators' chat of open and pending tickets whose user has waited longer than the answer time, counted from the
 * user's last message, and again after the cool-down. The mark and the notice are one transaction, and a ticket
 * is claimed by one process only, so that no reminder is sent twice.
 * @returns the number of reminders
 */
export async function remindOverdueTickets(app: App): Promise<number> {
  const { settings } = app;
  if (!settings.get('SUPPORT_TICKET_SLA_ENABLED') || !hasAdminChat(app) || !app.ports.messenger.isConfigured()) return 0;
  const minutes = Math.max(1, settings.get('SUPPORT_TICKET_SLA_MINUTES'));
  const cooldown = Math.max(1, settings.get('SUPPORT_TICKET_SLA_REMINDER_COOLDOWN_MINUTES'));
  let reminded = 0;
  for (;;) {
    const claimed = await inTransaction(app, async (t) => {
      const now = t.clock.now();
      const [waitingBefore, remindedBefore] = [addMs(now, -minutes * MINUTE_MS), addMs(now, -cooldown * MINUTE_MS)];
      const overdue = await claimOverdue(t.db, { waitingBefore, remindedBefore, now, limit: BATCH });
      for (const ticket of overdue) await remindAdmins(t, ticket);
      return overdue.length;
    });
    reminded += claimed;
    if (claimed < BATCH) break;
  }
  if (reminded > 0) app.log.info({ count: reminded }, 'ticket_sla_reminders_sent');
  await recordMonitoring(app, 'ticket_sla_reminders_sent', { count: reminded });
  return reminded;
}

export const notificationNotFound = refusal('notification_not_found', 404, 'Notification not found');
export const notAnAdminNotification = refusal('not_an_admin_notification', 403, 'This is not an admin notification');

/** A user's inbox is their own; administrators share one. */
type Reader = UserActor | AdminActor;

const inboxOf = (actor: Reader): Inbox => (actor.kind === 'user' ? { kind: 'user', userId: actor.userId } : { kind: 'admin' });

/** Newest first; the count includes all unread rows, not only those of the page (spec 05 section 2). */
export async function listTicketNotifications(
  app: App,
  actor: Reader,
  query: Slice & { unreadOnly: boolean },
): Promise<{ items: TicketNotification[]; unreadCount: number }> {
  const inbox = inboxOf(actor);
  const [items, unreadCount] = await Promise.all([listNotifications(app.db, inbox, query), countUnread(app.db, inbox)]);
  return { items, unreadCount };
}

export function countUnreadNotifications(app: App, actor: Reader): Promise<number> {
  return countUnread(app.db, inboxOf(actor));
}

/**
 * Marks one row read; a repeated call keeps the first time.
 * @throws AppError 404 'Notification not found', also for another user's row; 403 when an administrator names a user's row
 */
export async function readNotification(app: App, actor: Reader, id: number): Promise<void> {
  const inbox = inboxOf(actor);
  const recipient = await findRecipient(app.db, id);
  // A user must not learn that another user's row exists.
  const isForeign = inbox.kind === 'user' && (recipient?.isForAdmin || recipient?.userId !== inbox.userId);
  if (!recipient || isForeign) throw notificationNotFound();
  if (inbox.kind === 'admin' && !recipient.isForAdmin) throw notAnAdminNotification();
  await mark(app, inbox, { id });
}

/** @returns rows that were unread */
export function readAllNotifications(app: App, actor: Reader): Promise<number> {
  return mark(app, inboxOf(actor), 'all');
}

/** An unknown ticket has no rows. @returns rows that were unread */
export function readTicketNotifications(app: App, actor: Reader, ticketId: number): Promise<number> {
  return mark(app, inboxOf(actor), { ticketId });
}

function mark(app: App, inbox: Inbox, which: Parameters<typeof markRead>[2]): Promise<number> {
  return inTransaction(app, async (t) => {
    const unread = await markRead(t.db, inbox, which, t.clock.now());
    t.audit?.record({ before: { unread }, after: { unread: 0 } });
    return unread;
  });
}
