import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMail } from '../messaging/send-mail.ts';
import { type MessageRequest, sendMessage } from '../messaging/send-message.ts';
import { escapeHtml, htmlText, shorten, text } from '../messaging/texts.ts';
import { publicBase } from '../messaging/web-app.ts';
import type { OverdueTicket, OwnerContact } from './repo.ts';
import { titleOf } from './rules.ts';
import type { Ticket, TicketMessage, TicketOwner } from './types.ts';

/** Longest caption of a picture, in visible characters. */
const MAX_CAPTION = 1_024;

const TOPIC = 'ADMIN_NOTIFICATIONS_TICKET_TOPIC_ID';

/** Whether notices to administrators are on and have a chat. */
export function hasAdminChat(t: App): boolean {
  return adminChat(t, TOPIC) !== null;
}

/** Address of a file that the messenger stores. */
export function mediaUrl(app: App, fileId: string): string {
  return `${publicBase(app)}/media/${encodeURIComponent(fileId)}`;
}

/** Notifies the administrators' chat of a new ticket or of a user's reply. Texts of users are escaped. */
export async function notifyAdmins(
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

/** Notifies the owner of an answer: in the messenger, or by mail without one (spec 05 section 1.5). */
export async function notifyOwner(t: App, ticket: Ticket, message: TicketMessage, owner: OwnerContact): Promise<void> {
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

/** Reminds the administrators' chat of a user who waits for an answer (spec 05 section 1.6). */
export async function remindAdmins(t: App, overdue: OverdueTicket): Promise<void> {
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
