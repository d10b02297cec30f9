import type { AdminActor, TokenActor, UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import type { Db } from '../../core/db/db.ts';
import { countGrowingLog } from '../../core/db/growing-log.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { offsetOf } from '../../core/paging.ts';
import { announceStatus, mediaUrl } from './notices.ts';
import {
  countByStatus,
  countSupportEntries,
  countTickets,
  findMessage,
  findOwner,
  findSupportIdBefore,
  findTicket,
  insertSupportAction,
  listActionNames,
  listPlainTickets,
  listSupportEntries,
  listTickets,
  lockTicket,
  type Slice,
  type SupportEntry,
  setPriority,
  setReplyBlock,
  setStatus,
  type TicketFilter,
  ticketExists,
} from './repo.ts';
import { isReplyBlocked, ticketNotFound, ticketsDisabled } from './rules.ts';
import { areTicketsEnabled } from './ticket-settings.ts';
import {
  TICKET_PRIORITIES,
  TICKET_STATUSES,
  type Ticket,
  type TicketDetail,
  type TicketListItem,
  type TicketMessage,
  type TicketStats,
  type TicketStatus,
} from './types.ts';

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

export const blockInThePast = refusal('block_in_the_past', 400, 'Block expiration must be in the future');
export const badTicketStatus = refusal('bad_ticket_status', 400, 'Invalid status. Allowed: open, pending, answered, closed');
export const badTicketPriority = refusal('bad_ticket_priority', 400, 'Invalid priority. Allowed: low, normal, high, urgent');

type Staff = AdminActor | TokenActor;

/** Any status may follow any other (spec 05 section 1.1). @throws AppError 400 unknown status, then 404 */
export function changeTicketStatus(app: App, actor: Staff, ticketId: number, requested: string): Promise<Ticket> {
  const status = TICKET_STATUSES.find((known) => known === requested);
  if (!status) throw badStatus(actor);
  return inTransaction(app, async (t) => {
    const before = await lockOrRefuse(t, ticketId);
    const after = await applyStatus(t, before, status);
    const name = status === 'closed' ? 'close_ticket' : 'change_status';
    await recordSupportAction(
      t,
      actor,
      before,
      name,
      status === 'closed' ? {} : { old_status: before.status, new_status: status },
    );
    t.audit?.record({ resourceId: ticketId, before: { status: before.status }, after: { status } });
    return after;
  });
}

/** A ticket that has the status already keeps its times, and nobody is notified. */
async function applyStatus(t: App, before: Ticket, status: TicketStatus): Promise<Ticket> {
  if (before.status === status) return before;
  const after = await setStatus(t.db, before.id, status, t.clock.now());
  await announceStatus(t, before, after);
  return after;
}

/** @throws AppError 400 unknown priority, then 404 */
export function changeTicketPriority(app: App, actor: Staff, ticketId: number, requested: string): Promise<Ticket> {
  const priority = TICKET_PRIORITIES.find((known) => known === requested);
  if (!priority) throw badPriority(actor);
  return inTransaction(app, async (t) => {
    const before = await lockOrRefuse(t, ticketId);
    const after = await setPriority(t.db, ticketId, priority, t.clock.now());
    await recordSupportAction(t, actor, before, 'change_priority', { old_priority: before.priority, new_priority: priority });
    t.audit?.record({ resourceId: ticketId, before: { priority: before.priority }, after: { priority } });
    return after;
  });
}

/**
 * Sets the reply block: permanent, until a given time, or neither = no block.
 * @throws AppError 400 an end in the past, then 404
 */
export function changeReplyBlock(
  app: App,
  actor: Staff,
  ticketId: number,
  block: { permanent: boolean; until: Date | null },
): Promise<Ticket> {
  if (!block.permanent && block.until !== null && block.until <= app.clock.now()) throw blockInThePast();
  return inTransaction(app, async (t) => {
    const before = await lockOrRefuse(t, ticketId);
    const after = await setReplyBlock(t.db, ticketId, block, t.clock.now());
    const name = block.permanent ? 'block_user_perm' : block.until ? 'block_user_timed' : 'unblock_user';
    const minutes = block.until && Math.ceil((block.until.getTime() - t.clock.now().getTime()) / MINUTE_MS);
    await recordSupportAction(t, actor, before, name, name === 'block_user_timed' ? { minutes } : {});
    return after;
  });
}

async function lockOrRefuse(t: App, ticketId: number): Promise<Ticket> {
  const ticket = await lockTicket(t.db, ticketId, null);
  if (!ticket) throw ticketNotFound();
  return ticket;
}

/** The two areas have different texts for the same refusal. */
function badStatus(actor: Staff) {
  const detail = actor.kind === 'token' ? 'Invalid ticket status' : `Invalid status. Allowed: ${TICKET_STATUSES.join(', ')}`;
  return badTicketStatus({ detail });
}

function badPriority(actor: Staff) {
  const detail = actor.kind === 'token' ? 'Invalid priority' : `Invalid priority. Allowed: ${TICKET_PRIORITIES.join(', ')}`;
  return badTicketPriority({ detail });
}

type SupportActionName =
  | 'reply_ticket'
  | 'close_ticket'
  | 'change_status'
  | 'change_priority'
  | 'block_user_timed'
  | 'block_user_perm'
  | 'unblock_user';

/** Actions whose details name the user. */
const NAMING_USER: ReadonlySet<SupportActionName> = new Set(['close_ticket', 'block_user_perm', 'unblock_user']);

/**
 * Writes the row of the support log that every change by an administrator leaves; API tokens have no actor, their id is in the details.
 */
export async function recordSupportAction(
  t: App,
  actor: AdminActor | TokenActor,
  ticket: Ticket,
  action: SupportActionName,
  details: Record<string, unknown> = {},
): Promise<void> {
  const actorUserId = actor.kind === 'admin' ? actor.userId : null;
  const token = actor.kind === 'token' ? { token_id: actor.tokenId } : {};
  const named = NAMING_USER.has(action) ? await findNames(t.db, ticket.userId) : {};
  const row = {
    actorUserId,
    action,
    ticketId: ticket.id,
    targetUserId: ticket.userId,
    details: { ...details, ...named, ...token },
  };
  await insertSupportAction(t.db, row, t.clock.now());
}

/** Both names where the user has one; empty for a user without. */
async function findNames(db: Db, userId: number): Promise<Record<string, unknown>> {
  const { messengerId, username } = await findOwner(db, userId);
  return messengerId === null && !username ? {} : { target_messenger_id: messengerId, target_username: username };
}

/** A page of the support log, newest first; an empty action is no filter. */
export async function listSupportLog(
  app: App,
  filter: { action?: string | null | undefined },
  page: { limit: number; offset: number },
): Promise<{ items: SupportEntry[]; total: number }> {
  const action = filter.action || null;
  const [items, total] = await Promise.all([
    listSupportEntries(app.db, action, page),
    countGrowingLog(app, `support-total:${JSON.stringify(action)}`, {
      idBefore: (timestamp) => findSupportIdBefore(app.db, timestamp),
      count: (range) => countSupportEntries(app.db, action, range),
    }),
  ]);
  return { items, total };
}

/** The actions that occur in the log, ascending. */
export function listSupportActions(app: App): Promise<string[]> {
  return listActionNames(app.db);
}
