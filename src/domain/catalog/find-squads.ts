import type { App } from '../../core/app.ts';
import { findByUuids, listAll } from './server-repo.ts';
import { countSubscriptionsWith } from './servers/stats-repo.ts';
import type { ServerSquad } from './types.ts';

/** Every server in a statement of a later module that reads them beside other rows. */
export { ALL_SERVERS_JSON, serversOf } from './server-repo.ts';

/** Every server, unavailable ones too, by (sort order, display name, id); never a page of them (spec 02 H9). */
export function listSquads(app: Pick<App, 'db'>): Promise<ServerSquad[]> {
  return listAll(app.db, { availableOnly: false });
}

/** Every available server in the same order, full ones included. */
export function listAvailableSquads(app: App): Promise<ServerSquad[]> {
  return listAll(app.db, { availableOnly: true });
}

/** The servers with these squad uuids; unknown uuids are left out. */
export function findSquadsByUuid(app: App, uuids: readonly string[]): Promise<ServerSquad[]> {
  return uuids.length === 0 ? Promise.resolve([]) : findByUuids(app.db, uuids);
}

/** Active and trial subscriptions that have a squad, and the active ones among them that are trials; the squad need not be a server. */
export function countSquadHolders(app: App, uuid: string): Promise<{ active: number; trial: number }> {
  return countSubscriptionsWith(app.db, uuid);
}
