import type { AdminActor, TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { announceStatus } from './announce.ts';
import { recordSupportAction } from './record-support-action.ts';
import { lockTicket, setPriority, setReplyBlock, setStatus } from './repo.ts';
import { ticketNotFound } from './rules.ts';
import { TICKET_PRIORITIES, TICKET_STATUSES, type Ticket, type TicketStatus } from './types.ts';

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
 * Sets the reply block: permanent, until a moment, or neither = no block (spec 05 section 1.3).
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
