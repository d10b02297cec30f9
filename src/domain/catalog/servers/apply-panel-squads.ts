import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import {
  deleteServers,
  dropSquadsFromSubscriptions,
  dropSquadsFromTariffs,
  insertPanelSquads,
  lockServerTable,
  refreshOriginalNames,
  splitMissing,
  takeOffSale,
} from './sync-repo.ts';

export interface ServerSyncCounts {
  created: number;
  /** Renamed at the panel, or taken off sale because the panel no longer has them. */
  updated: number;
  removed: number;
}

/**
 * Brings the servers in step with a complete, non-empty list of the panel's squads, in one transaction (spec 02 H17, spec 06
 * 17.5). New squads become unavailable servers of the default group. One that the panel lost is taken off sale first and deleted
 * by a later sync that still misses it, so that one wrong answer costs no prices and names. With a server go its links, and its
 * uuid leaves subscriptions and tariffs; a tariff that would lose its last squad is switched off instead of meaning "all
 * servers". External squads of tariffs are kept.
 */
export function applyPanelSquads(app: App, squads: readonly { uuid: string; name: string }[]): Promise<ServerSyncCounts> {
  if (squads.length === 0) return Promise.reject(new Error('An empty list of squads must not reach the servers'));
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await lockServerTable(t.db);
    const created = await insertPanelSquads(t.db, squads, now);
    const renamed = await refreshOriginalNames(t.db, squads, now);
    const { onSale, gone } = await splitMissing(
      t.db,
      squads.map((squad) => squad.uuid),
    );
    await takeOffSale(
      t.db,
      onSale.map((server) => server.id),
      now,
    );
    const goneUuids = gone.map((server) => server.squadUuid);
    await dropSquadsFromTariffs(t.db, goneUuids, now);
    await dropSquadsFromSubscriptions(t.db, goneUuids, now);
    await deleteServers(
      t.db,
      gone.map((server) => server.id),
    );
    if (onSale.length + gone.length > 0) {
      t.log.warn({ takenOffSale: onSale.length, deleted: gone.length }, 'server sync: the panel no longer has these squads');
    }
    return { created, updated: renamed + onSale.length, removed: gone.length };
  });
}
