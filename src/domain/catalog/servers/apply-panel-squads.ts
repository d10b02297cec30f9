import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { dropSquadsFromSubscriptions } from '../../subscription-state/connected-squads.ts';
import {
  deleteServers,
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
 * Synchronizes the servers with a complete, non-empty list of the panel's squads, in one transaction (spec 02 H17, spec 06
 * section 17, hazard 5). New squads become servers of the default group; they are
 * unavailable unless it is the first list of the installation (08 P5). A server that the panel no longer has is taken
 * off sale first and deleted by a later sync, so that one wrong answer does not delete prices and names. Deleting a server deletes its links
 * and removes its uuid from subscriptions and tariffs; a tariff that would lose its last squad is deactivated instead of meaning "all
 * servers". External squads of tariffs stay.
 */
export function applyPanelSquads(app: App, squads: readonly { uuid: string; name: string }[]): Promise<ServerSyncCounts> {
  if (squads.length === 0) return Promise.reject(new Error('An empty list of squads must not reach the servers'));
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await lockServerTable(t.db);
    const created = await insertPanelSquads(t.db, squads, now);
    const renamed = await refreshOriginalNames(t.db, squads, now);
    const { onSale, offSale } = await splitMissing(
      t.db,
      squads.map((squad) => squad.uuid),
    );
    await takeOffSale(
      t.db,
      onSale.map((server) => server.id),
      now,
    );
    const removedUuids = offSale.map((server) => server.squadUuid);
    await dropSquadsFromTariffs(t.db, removedUuids, now);
    await dropSquadsFromSubscriptions(t.db, removedUuids, now);
    await deleteServers(
      t.db,
      offSale.map((server) => server.id),
    );
    if (onSale.length + offSale.length > 0) {
      t.log.warn({ takenOffSale: onSale.length, deleted: offSale.length }, 'server sync: the panel no longer has these squads');
    }
    return { created, updated: renamed + onSale.length, removed: offSale.length };
  });
}
