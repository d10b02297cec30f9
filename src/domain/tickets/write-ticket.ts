import type { AdminActor, TokenActor, UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { runOnce } from '../ledger/run-once.ts';
import { attachableFile, keepFile, knownFile, recordReceived, storedFileId } from '../media/media.ts';
import { announceAnswer, announceStatus, announceTicket, announceUserReply } from './notices.ts';
import { insertMessage, insertTicket, isUserBlocked, lastReplyAt, lockTicket, setStatus, setWaitingSince } from './repo.ts';
import {
  attachmentOf,
  freeAttachmentOf,
  isReplyBlocked,
  MESSAGE_PAUSE_SECONDS,
  statusAfterUserMessage,
  ticketNotFound,
  ticketsDisabled,
  unknownFile,
} from './rules.ts';
import { areTicketsEnabled } from './ticket-settings.ts';
import { recordSupportAction } from './tickets.ts';
import type { Attachment, AttachmentInput, Ticket, TicketDetail, TicketMessage } from './types.ts';

export const supportBlocked = refusal('support_blocked', 403, 'Support requests are blocked');
export const ticketClosed = refusal('ticket_closed', 400, 'Cannot add message to closed ticket');
export const repliesBlocked = refusal('replies_blocked', 403, 'Replies to this ticket are blocked');
export const emptyMessage = refusal('empty_message', 400, 'Message text or media is required');
export const rateLimited = refusal('rate_limited', 429, 'Too many requests');

/** Its texts are trimmed and within their bounds. */
export interface TicketDraft extends AttachmentInput {
  title: string;
  text: string;
}

/** A ticket as its owner sees it. */
export type OpenedTicket = Omit<TicketDetail, 'owner'>;

export interface MessageDraft extends AttachmentInput {
  text: string;
}

/**
 * A user opens a ticket with its first message (spec 05 section 1.2).
 * @throws AppError 403 tickets are off, or any of the user's tickets is blocked; ValidationError 422 for a bad attachment
 */
export async function openTicket(
  app: App,
  actor: UserActor,
  draft: TicketDraft,
  idempotencyKey: string | null = null,
): Promise<OpenedTicket> {
  const attachment = await withFile(attachmentOf(draft), (id) => attachableFile(app, actor.userId, id));
  if (!areTicketsEnabled(app)) throw ticketsDisabled();
  // Without the file: a client that repeats the request has uploaded it again, under another id.
  const once = { key: idempotencyKey, operation: 'ticket.open', input: { title: draft.title, text: draft.text } };
  return runOnce(app, actor, once, async (t) => {
    const now = t.clock.now();
    if (await isUserBlocked(t.db, actor.userId, now)) throw supportBlocked();
    await checkFile(t, attachment);
    const ticket = await insertTicket(t.db, actor.userId, draft.title, now);
    const message = await insertMessage(t.db, { ...byUser(ticket), text: draft.text, attachment }, now);
    await announceTicket(t, ticket, message);
    return { ...ticket, isReplyBlocked: false, messages: [message] };
  });
}

/**
 * A user writes into an own ticket; an answered one becomes pending, and the answer time starts again (spec 05 section 1.1).
 * @throws AppError 404 unknown or of another user, 400 closed, 403 blocked, 429 less than 2 s after the last message;
 *   ValidationError 422 for a bad attachment
 */
export async function postUserMessage(
  app: App,
  actor: UserActor,
  ticketId: number,
  draft: MessageDraft,
  idempotencyKey: string | null = null,
): Promise<TicketMessage> {
  const attachment = await withFile(attachmentOf(draft), (id) => attachableFile(app, actor.userId, id));
  const once = { key: idempotencyKey, operation: 'ticket.message', input: { ticketId, text: draft.text } };
  return runOnce(app, actor, once, async (t) => {
    const ticket = await lockTicket(t.db, ticketId, actor.userId);
    if (!ticket) throw ticketNotFound();
    const now = t.clock.now();
    if (ticket.status === 'closed') throw ticketClosed();
    if (isReplyBlocked(ticket, now)) throw repliesBlocked();
    await checkPause(t, ticketId, now);
    await checkFile(t, attachment);
    const message = await insertMessage(t.db, { ...byUser(ticket), text: draft.text, attachment }, now);
    const after = await setStatus(t.db, ticketId, statusAfterUserMessage(ticket.status), now);
    await setWaitingSince(t.db, ticketId, now);
    await announceUserReply(t, after, message);
    await announceStatus(t, ticket, after);
    return message;
  });
}

/**
 * An administrator answers in the cabinet; the ticket becomes answered, also a closed one (spec 05 section 1.4).
 * @throws AppError 404; ValidationError 422 for a bad attachment
 */
export async function answerTicket(app: App, actor: AdminActor, ticketId: number, draft: MessageDraft): Promise<TicketMessage> {
  const attachment = await withFile(attachmentOf(draft), (id) => knownFile(app, id));
  return inTransaction(app, async (t) => {
    const ticket = await lockTicket(t.db, ticketId, null);
    if (!ticket) throw ticketNotFound();
    await checkFile(t, attachment);
    const { message } = await answer(t, actor, ticket, { text: draft.text, attachment });
    t.audit?.record({ before: { status: ticket.status }, after: { status: 'answered', message_id: message.id } });
    return message;
  });
}

/**
 * An answer through the Web API, with the same effects. The stored text is the text, else the caption, else `[media]`.
 * @throws AppError 404, 400 neither text nor file; ValidationError 422 for half an attachment
 */
export async function answerTicketByToken(
  app: App,
  actor: TokenActor,
  ticketId: number,
  draft: AttachmentInput & { text?: string | null | undefined },
): Promise<{ ticket: Ticket; message: TicketMessage }> {
  const storedId = draft.mediaFileId && (await storedFileId(app, draft.mediaFileId.trim()));
  return inTransaction(app, async (t) => {
    const ticket = await lockTicket(t.db, ticketId, null);
    if (!ticket) throw ticketNotFound();
    const text = draft.text?.trim() ?? '';
    if (text === '' && !draft.mediaFileId?.trim()) throw emptyMessage();
    const attachment = freeAttachmentOf({ ...draft, mediaFileId: storedId });
    if (attachment) await recordReceived(t, attachment.fileId, attachment.type, 'ticket');
    return answer(t, actor, ticket, { text: text || draft.mediaCaption?.trim() || '[media]', attachment });
  });
}

async function answer(
  t: App,
  actor: AdminActor | TokenActor,
  ticket: Ticket,
  { text, attachment }: { text: string; attachment: Attachment | null },
): Promise<{ ticket: Ticket; message: TicketMessage }> {
  const now = t.clock.now();
  const adminUserId = actor.kind === 'admin' ? actor.userId : null;
  const { id: ticketId, userId } = ticket;
  const message = await insertMessage(t.db, { ticketId, userId, adminUserId, isFromAdmin: true, text, attachment }, now);
  const after = await setStatus(t.db, ticketId, 'answered', now);
  await setWaitingSince(t.db, ticketId, null);
  await announceAnswer(t, after, message);
  await announceStatus(t, ticket, after);
  await recordSupportAction(t, actor, ticket, 'reply_ticket', { message_id: message.id });
  return { ticket: after, message };
}

const byUser = (ticket: Ticket) => ({ ticketId: ticket.id, userId: ticket.userId, adminUserId: null, isFromAdmin: false });

/** Called under the ticket's lock, so that of parallel messages each sees the one before. */
async function checkPause(t: App, ticketId: number, now: Date): Promise<void> {
  const last = await lastReplyAt(t.db, ticketId);
  if (last === null || addMs(last, MESSAGE_PAUSE_SECONDS * SECOND_MS) <= now) return;
  throw rateLimited({ headers: { 'Retry-After': String(MESSAGE_PAUSE_SECONDS) } });
}

/** An attachment with the stored id of its file, looked up before the transaction; `isKnown` false where the author may not attach it. */
async function withFile(
  attachment: Attachment | null,
  lookUp: (fileId: string) => Promise<string | null>,
): Promise<(Attachment & { isKnown: boolean }) | null> {
  if (!attachment) return null;
  const fileId = await lookUp(attachment.fileId);
  return { ...attachment, fileId: fileId ?? attachment.fileId, isKnown: fileId !== null };
}

/** In the transaction that stores the message. @throws ValidationError 422 */
async function checkFile(t: App, attachment: { fileId: string; isKnown: boolean } | null): Promise<void> {
  if (attachment && !(attachment.isKnown && (await keepFile(t, attachment.fileId)))) throw unknownFile(attachment.fileId);
}
