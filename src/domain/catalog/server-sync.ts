import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, rethrowUnavailable } from '../../core/errors.ts';
import { dropSquadsFromSubscriptions } from '../subscription-state/provision-state.ts';
import {
  countAll,
  deleteServers,
  dropSquadsFromTariffs,
  insertPanelSquads,
  lockServerTable,
  refreshOriginalNames,
  splitMissing,
  takeOffSale,
} from './server-repo.ts';

export const panelNotConfigured = refusal('panel_not_configured', 503, 'VPNPANEL_API_URL and VPNPANEL_API_KEY are not set');
export const panelUnavailable = refusal('panel_unavailable', 502, 'VPN panel did not answer');
const serverSyncFailed = refusal('server_sync_failed', 500, 'Sync failed: the servers could not be saved');
export const panelNotConfiguredRefusal = refusal('panel_not_configured', 400, 'VpnPanel is not configured');
const panelUnavailableRefusal = refusal('panel_unavailable', 500, 'Failed to fetch squads from VpnPanel');

/** `no_list`: the panel gave no list, for this reason, or (null) an empty one; nothing was changed then (spec 02 H17). */
export type ServerSyncOutcome =
  | ({ outcome: 'synced'; total: number } & ServerSyncCounts)
  | { outcome: 'not_configured'; reason: string }
  | { outcome: 'no_list'; reason: string | null };

/**
 * Reads the panel's internal squads and synchronizes the servers (spec 06 section 10, spec 02 section 8). The panel is read
 * before the transaction opens. `total` is the number of squads at the panel.
 */
export async function syncServers(app: App): Promise<ServerSyncOutcome> {
  const { panel } = app.ports;
  const reason = panel.configurationError();
  if (reason !== null) return { outcome: 'not_configured', reason };
  const squads = await panel.listInternalSquads().catch((error: unknown) => {
    app.log.warn({ err: error }, 'server sync: the panel gave no list of squads');
    return safeText(error);
  });
  if (typeof squads === 'string') return { outcome: 'no_list', reason: squads };
  if (squads.length === 0) return { outcome: 'no_list', reason: null };
  const counts = await applyPanelSquads(app, squads);
  return { outcome: 'synced', ...counts, total: squads.length };
}

/** The panel's error names no host and no key; of another error nothing is shown. */
function safeText(error: unknown): string {
  return isPanelFailure(error) ? error.message : 'The VPN panel gave no list of squads';
}

/**
 * At start: fills an empty server table; a missing or unavailable panel is not an error then (spec 02 section 8).
 * @returns whether this call filled it
 */
export async function syncServersOnce(app: App): Promise<boolean> {
  return (await countAll(app.db)) === 0 && (await syncServers(app)).outcome === 'synced';
}

/**
 * The form of the Web API: without a list from the panel nothing changes, and the answer says why (08 P10).
 * @throws AppError 503 with the configuration error, 502 with the reason
 */
export async function syncServersOrFail(app: App): Promise<ServerSyncCounts & { total: number }> {
  const result = await syncServers(app);
  if (result.outcome === 'not_configured') throw panelNotConfigured({ detail: result.reason });
  if (result.outcome === 'no_list') throw panelUnavailable({ detail: result.reason ?? 'The VPN panel has no squads' });
  const { outcome: _outcome, ...counts } = result;
  return counts;
}

/**
 * The form of the administration (spec 02 section 9).
 * @throws AppError 400 'VpnPanel is not configured', 500 'Failed to fetch squads from VpnPanel', 500 'Sync failed: …'
 */
export async function syncServersOrRefuse(app: App): Promise<ServerSyncCounts> {
  const result = await syncServers(app).catch((error: unknown) => {
    rethrowUnavailable(error);
    throw serverSyncFailed({ cause: error });
  });
  if (result.outcome === 'not_configured') throw panelNotConfiguredRefusal();
  if (result.outcome === 'no_list') throw panelUnavailableRefusal();
  const { created, updated, removed } = result;
  app.audit?.record({ after: { created, updated, removed } });
  return result;
}

interface ServerSyncCounts {
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

/**
 * Whether this is the panel port's failure, whose message is safe to show. By its name, since the port belongs to a later module.
 */
export function isPanelFailure(error: unknown): error is Error {
  return error instanceof Error && error.name === 'PanelError';
}
