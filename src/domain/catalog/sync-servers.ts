import type { App } from '../../core/app.ts';
import { refusal, rethrowUnavailable } from '../../core/errors.ts';
import { isPanelFailure } from './panel-failure.ts';
import { applyPanelSquads, type ServerSyncCounts } from './servers/apply-panel-squads.ts';
import { countAll } from './servers/repo.ts';

const panelNotConfigured = refusal('panel_not_configured', 503, 'VPNPANEL_API_URL and VPNPANEL_API_KEY are not set');
export const panelUnavailable = refusal('panel_unavailable', 502, 'VPN panel did not answer');
const serverSyncFailed = refusal('server_sync_failed', 500, 'Sync failed: the servers could not be saved');
const panelNotConfiguredRefusal = refusal('panel_not_configured', 400, 'VpnPanel is not configured');
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
 * The form of the Web API (spec 02 section 8): without a list from the panel nothing changes, and the answer says why (08 P10).
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
