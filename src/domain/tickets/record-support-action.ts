import type { AdminActor, TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { findOwner } from './repo.ts';
import { insertSupportAction } from './support-log-repo.ts';
import type { Ticket } from './types.ts';

export type SupportActionName =
  | 'reply_ticket'
  | 'close_ticket'
  | 'change_status'
  | 'change_priority'
  | 'block_user_timed'
  | 'block_user_perm'
  | 'unblock_user';

/** Actions whose details name the user (spec 06 section 8). */
const NAMING_USER: ReadonlySet<SupportActionName> = new Set(['close_ticket', 'block_user_perm', 'unblock_user']);

/**
 * Writes the row of the support log that every change by an administrator leaves; API tokens have no actor, their id is in the details
 * (spec 05 section 1.1).
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
