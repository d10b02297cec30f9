import type { AdminActor, TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { insertSupportAction } from './repo.ts';
import type { Ticket } from './types.ts';

export type SupportActionName =
  | 'reply_ticket'
  | 'close_ticket'
  | 'change_status'
  | 'change_priority'
  | 'block_user_timed'
  | 'block_user_perm'
  | 'unblock_user';

/** Writes the row of the support log that every change by an administrator leaves; API tokens have no actor (spec 05 section 1.1). */
export async function recordSupportAction(
  t: App,
  actor: AdminActor | TokenActor,
  ticket: Ticket,
  action: SupportActionName,
  details: Record<string, unknown>,
): Promise<void> {
  const actorUserId = actor.kind === 'admin' ? actor.userId : null;
  const token = actor.kind === 'token' ? { token_id: actor.tokenId } : {};
  const row = { actorUserId, action, ticketId: ticket.id, targetUserId: ticket.userId, details: { ...details, ...token } };
  await insertSupportAction(t.db, row, t.clock.now());
}
