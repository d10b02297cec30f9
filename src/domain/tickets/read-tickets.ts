import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { offsetOf } from '../../core/paging.ts';
import { ticketsDisabled } from './errors.ts';
import { mediaUrl } from './notices.ts';
import {
  countByStatus,
  countTickets,
  findMessage,
  findTicket,
  listPlainTickets,
  listTickets,
  type Slice,
  type TicketFilter,
  ticketExists,
} from './repo.ts';
import { isReplyBlocked, ticketNotFound } from './rules.ts';
import { areTicketsEnabled } from './ticket-settings.ts';
import type { Ticket, TicketDetail, TicketListItem, TicketMessage, TicketStats } from './types.ts';

export const messageNotFound = refusal('message_not_found', 404, 'Message not found');
export const mediaNotFound = refusal('media_not_found', 404, 'Media not found for this message');

interface Page {
  page: number;
  perPage: number;
}

/** Own tickets, last changed first; an unknown status matches none. @throws AppError 403 'Support tickets are disabled' */
export async function listMyTickets(
  app: App,
  actor: UserActor,
  query: Page & Pick<TicketFilter, 'status'>,
): Promise<{ items: TicketListItem[]; total: number }> {
  if (!areTicketsEnabled(app)) throw ticketsDisabled();
  return listAllTickets(app, { userId: actor.userId, status: query.status }, query);
}

/** Tickets of all users, last changed first. */
export async function listAllTickets(
  app: App,
  filter: TicketFilter,
  { page, perPage }: Page,
): Promise<{ items: TicketListItem[]; total: number }> {
  const slice = { limit: perPage, offset: offsetOf(page, perPage) };
  const [items, total] = await Promise.all([listTickets(app.db, filter, slice), countTickets(app.db, filter)]);
  return { items, total };
}

/** Tickets of all users without their messages, last changed first (Web API). */
export function listTicketsPlainly(app: App, filter: TicketFilter, slice: Slice): Promise<Ticket[]> {
  return listPlainTickets(app.db, filter, slice);
}

/** @throws AppError 404 unknown, or of another user */
export function readMyTicket(app: App, actor: UserActor, ticketId: number): Promise<TicketDetail> {
  return detailOf(app, ticketId, actor.userId);
}

/** @throws AppError 404 */
export function readTicket(app: App, ticketId: number): Promise<TicketDetail> {
  return detailOf(app, ticketId, null);
}

async function detailOf(app: App, ticketId: number, userId: number | null): Promise<TicketDetail> {
  const ticket = await findTicket(app.db, ticketId, userId);
  if (!ticket) throw ticketNotFound();
  return { ...ticket, isReplyBlocked: isReplyBlocked(ticket, app.clock.now()) };
}

export function readTicketStats(app: App): Promise<TicketStats> {
  return countByStatus(app.db);
}

export interface TicketFile extends Pick<TicketMessage, 'id' | 'ticketId' | 'mediaCaption'> {
  mediaType: string;
  mediaFileId: string;
  /** Null when neither the storage nor the messenger has the file. */
  mediaUrl: string | null;
}

/** The file of a message (spec 05 section 1.3). @throws AppError 404 unknown ticket, message, or no file */
export async function readTicketFile(app: App, ticketId: number, messageId: number): Promise<TicketFile> {
  const message = await findMessage(app.db, ticketId, messageId);
  if (!message) {
    if (!(await ticketExists(app.db, ticketId))) throw ticketNotFound();
    throw messageNotFound();
  }
  const { mediaType, mediaFileId, mediaCaption } = message;
  if (mediaType === null || mediaFileId === null) throw mediaNotFound();
  const isThere = await hasFile(app, mediaFileId);
  return { id: messageId, ticketId, mediaType, mediaFileId, mediaCaption, mediaUrl: isThere ? mediaUrl(app, mediaFileId) : null };
}

/** False also when the messenger does not answer. */
async function hasFile(app: App, fileId: string): Promise<boolean> {
  try {
    const file = await app.ports.messengerFiles.resolve(app, fileId);
    return 'bytes' in file || (await app.ports.messenger.hasFile(file.fileId));
  } catch (error) {
    // Any failure: the message is answered without its file.
    app.log.info({ err: error }, 'a file could not be looked up in the messenger');
    return false;
  }
}
