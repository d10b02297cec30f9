import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { serverNotFound } from './errors.ts';
import { findById } from './repo.ts';
import { deleteServers } from './sync-repo.ts';
import { flipServerFlag, lockServerUse, recountUsers } from './write-repo.ts';

export const serverInUse = refusal('server_in_use', 400, 'Server cannot be deleted because it has active connections');

/** @returns whether the server is on sale now @throws AppError 404 'Server not found' */
export function toggleServer(app: App, _actor: Actor, serverId: number): Promise<boolean> {
  return flip(app, serverId, 'is_available');
}

/** @returns whether trials may use the server now @throws AppError 404 'Server not found' */
export function toggleTrialServer(app: App, _actor: Actor, serverId: number): Promise<boolean> {
  return flip(app, serverId, 'is_trial_eligible');
}

async function flip(app: App, serverId: number, column: 'is_available' | 'is_trial_eligible'): Promise<boolean> {
  const flag = await flipServerFlag(app.db, serverId, column, app.clock.now());
  if (flag === null) throw serverNotFound();
  app.audit?.record({ before: { [column]: !flag }, after: { [column]: flag } });
  return flag;
}

/**
 * Deletes a server that no subscription is linked to or uses.
 * @throws AppError 404 'Server not found', 400 'Server cannot be deleted because it has active connections'
 */
export async function deleteServer(app: App, _actor: Actor, serverId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const use = await lockServerUse(t.db, serverId);
    if (!use) throw serverNotFound();
    if (use.isInUse) throw serverInUse();
    const before = await findById(t.db, serverId);
    await deleteServers(t.db, [serverId]);
    t.audit?.record({ before, after: null });
  });
}

/** Recounts the active and trial subscriptions of each squad (spec 02 section 8, H20). @returns the number of servers */
export function recountServerUsers(app: App): Promise<number> {
  return recountUsers(app.db);
}
