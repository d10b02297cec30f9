import type { App } from '../../../core/app.ts';
import { countSquadHolders, findSquadsByUuid } from '../../catalog/find-squads.ts';
import type { ServerSquad } from '../../catalog/types.ts';
import { squadNotFound } from '../errors.ts';
import { readOfPanel } from '../panel-access.ts';
import type { PanelInbound, PanelInternalSquad } from '../panel-objects.ts';

/** Internal squads in the panel's order. @throws AppError 503 not configured, 502 the panel gives no answer (08 P10) */
export function listPanelSquads(app: App): Promise<PanelInternalSquad[]> {
  return readOfPanel(app, () => app.ports.panel.listInternalSquads());
}

/** @throws AppError 503 not configured, 404 'Squad not found', 502 the panel gives no answer */
export async function readPanelSquad(app: App, uuid: string): Promise<PanelInternalSquad> {
  const squad = await readOfPanel(app, () => app.ports.panel.getInternalSquad(uuid));
  if (!squad) throw squadNotFound();
  return squad;
}

/** A squad of the panel and its server here; null = the servers have not been synchronised since it was created. */
export interface SquadWithServer {
  squad: PanelInternalSquad;
  server: ServerSquad | null;
}

/** @throws AppError 503 not configured, 502 the panel gives no answer */
export async function listSquadsWithServers(app: App): Promise<SquadWithServer[]> {
  const squads = await listPanelSquads(app);
  const servers = await findSquadsByUuid(
    app,
    squads.map((squad) => squad.uuid),
  );
  const byUuid = new Map(servers.map((server) => [server.squadUuid, server]));
  return squads.map((squad) => ({ squad, server: byUuid.get(squad.uuid) ?? null }));
}

/**
 * One squad with its server and the number of active and trial subscriptions that have it.
 * @throws AppError 503 not configured, 404 'Squad not found', 502 the panel gives no answer
 */
export async function readSquadWithServer(app: App, uuid: string): Promise<SquadWithServer & { activeSubscriptions: number }> {
  const squad = await readPanelSquad(app, uuid);
  const [[server], subscriptions] = await Promise.all([findSquadsByUuid(app, [squad.uuid]), countSquadHolders(app, squad.uuid)]);
  return { squad, server: server ?? null, activeSubscriptions: subscriptions.active };
}

/** Inbounds of all profiles of the panel. @throws AppError 503 not configured, 502 the panel gives no answer */
export function listPanelInbounds(app: App): Promise<PanelInbound[]> {
  return readOfPanel(app, () => app.ports.panel.listInbounds());
}
