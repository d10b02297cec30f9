import type { App } from '../../../core/app.ts';
import { type AppError, refuse } from '../../../core/errors.ts';
import { countSquadHolders, findSquadsByUuid } from '../../catalog/find-squads.ts';
import type { ServerSquad } from '../../catalog/types.ts';
import { readListOfPanel, readOneOfPanel } from '../panel-access.ts';
import type { PanelInbound, PanelInternalSquad } from '../ports.ts';

function squadNotFound(): AppError {
  return refuse('squad_not_found', 404, 'Squad not found');
}

/** Internal squads in the panel's order; empty while the panel gives no answer. @throws AppError 503 not configured (spec 06 section 11) */
export function listPanelSquads(app: App): Promise<PanelInternalSquad[]> {
  return readListOfPanel(app, 'squads', () => app.ports.panel.listInternalSquads());
}

/** @throws AppError 503 not configured, 404 'Squad not found', 502 the panel gives no answer */
export async function readPanelSquad(app: App, uuid: string): Promise<PanelInternalSquad> {
  const squad = await readOneOfPanel(app, () => app.ports.panel.getInternalSquad(uuid));
  if (!squad) throw squadNotFound();
  return squad;
}

/** A squad of the panel and its server here; null = the servers have not been synchronised since it was created. */
export interface SquadWithServer {
  squad: PanelInternalSquad;
  server: ServerSquad | null;
}

/** @throws AppError 503 not configured */
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

/** Inbounds of all profiles of the panel; empty while the panel gives no answer. @throws AppError 503 not configured */
export function listPanelInbounds(app: App): Promise<PanelInbound[]> {
  return readListOfPanel(app, 'inbounds', () => app.ports.panel.listInbounds());
}
