/** Events, rows and notices of a change of a ticket, written in the transaction of the change (spec 05 section 16, invariant 2). */

import type { App } from '../../core/app.ts';
import { firstCharacters } from '../../core/characters.ts';
import { shorten, text } from '../messaging/texts.ts';
import { TICKET_CREATED, TICKET_MESSAGE_ADDED, TICKET_STATUS_CHANGED } from './events.ts';
import { notifyAdmins, notifyOwner } from './notices.ts';
import { insertNotification } from './notification-repo.ts';
import { findOwner } from './repo.ts';
import { titleOf } from './rules.ts';
import { readTicketToggles } from './ticket-settings.ts';
import type { Ticket, TicketMessage } from './types.ts';

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
