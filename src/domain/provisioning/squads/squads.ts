import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { countSquadHolders, findSquadsByUuid } from '../../catalog/find-squads.ts';
import type { ServerSquad } from '../../catalog/types.ts';
import { askPanel, type PanelOutcome, readOfPanel, requirePanel } from '../panel-access.ts';
import type { PanelInbound, PanelInternalSquad } from '../panel-objects.ts';
import { squadNotFound } from '../rules.ts';

/** Internal squads in the panel's order. @throws AppError 503 not configured, 502 the panel does not answer (08 P10) */
export function listPanelSquads(app: App): Promise<PanelInternalSquad[]> {
  return readOfPanel(app, () => app.ports.panel.listInternalSquads());
}

/** @throws AppError 503 not configured, 404 'Squad not found', 502 the panel does not answer */
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

/** @throws AppError 503 not configured, 502 the panel does not answer */
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
 * @throws AppError 503 not configured, 404 'Squad not found', 502 the panel does not answer
 */
export async function readSquadWithServer(app: App, uuid: string): Promise<SquadWithServer & { activeSubscriptions: number }> {
  const squad = await readPanelSquad(app, uuid);
  const [[server], subscriptions] = await Promise.all([findSquadsByUuid(app, [squad.uuid]), countSquadHolders(app, squad.uuid)]);
  return { squad, server: server ?? null, activeSubscriptions: subscriptions.active };
}

/** Inbounds of all profiles of the panel. @throws AppError 503 not configured, 502 the panel does not answer */
export function listPanelInbounds(app: App): Promise<PanelInbound[]> {
  return readOfPanel(app, () => app.ports.panel.listInbounds());
}

export const squadNameRequired = refusal('squad_name_required', 400, 'Name is required for rename');
export const squadInboundsRequired = refusal('squad_inbounds_required', 400, 'Inbound UUIDs are required for update_inbounds');

// Changes of the panel's internal squads (spec 06 section 11). Only the panel changes: the servers here follow with the next server
// sync, which first takes the server of a deleted squad off sale. A panel that does not answer may still have made the change.

/** A field that is null or left out stays as it is. */
interface SquadChanges {
  name?: string | null | undefined;
  inboundUuids?: string[] | null | undefined;
}

/** @throws AppError 503 not configured */
export async function createSquad(
  app: App,
  _actor: Actor,
  request: { name: string; inboundUuids: string[] },
): Promise<PanelOutcome<PanelInternalSquad>> {
  return withRecordedFailure(
    app,
    await askPanel(app, async () => {
      const squad = await app.ports.panel.createInternalSquad(request);
      app.audit?.record({ resourceId: squad.uuid, before: null, after: stateOf(squad) });
      return squad;
    }),
  );
}

/** Reason of the failure when a change names nothing to change. */
export const NO_UPDATE_DATA = 'No update data provided';

/** An empty list of inbounds removes all inbounds of the squad. @throws AppError 503 not configured */
export async function updateSquad(
  app: App,
  _actor: Actor,
  uuid: string,
  changes: SquadChanges,
): Promise<PanelOutcome<PanelInternalSquad>> {
  const name = changes.name ?? undefined;
  const inboundUuids = changes.inboundUuids ?? undefined;
  if (name === undefined && inboundUuids === undefined) {
    requirePanel(app);
    return withRecordedFailure(app, { outcome: 'failed', reason: NO_UPDATE_DATA });
  }
  return changing(app, uuid, async (before) => {
    const squad = await app.ports.panel.updateInternalSquad({
      uuid,
      ...(name === undefined ? {} : { name }),
      ...(inboundUuids === undefined ? {} : { inboundUuids }),
    });
    if (squad) app.audit?.record({ before: stateOf(before), after: stateOf(squad) });
    return squad;
  });
}

/** The panel takes the squad from its users. @throws AppError 503 not configured */
export async function deleteSquad(app: App, _actor: Actor, uuid: string): Promise<PanelOutcome<true>> {
  return changing(app, uuid, async (before) => {
    if (!(await app.ports.panel.deleteInternalSquad(uuid))) return null;
    app.audit?.record({ before: stateOf(before), after: null });
    return true as const;
  });
}

export type SquadAction = 'add_all_users' | 'remove_all_users' | 'delete' | 'rename' | 'update_inbounds';

/**
 * Adds every user of the panel to the squad, removes every user from it, or makes one of the changes above.
 * @throws AppError 503 not configured, 400 'Name is required for rename', 400 'Inbound UUIDs are required for update_inbounds'
 */
export async function runSquadAction(
  app: App,
  actor: Actor,
  uuid: string,
  request: SquadChanges & { action: SquadAction },
): Promise<PanelOutcome<unknown>> {
  requirePanel(app);
  const { action, name, inboundUuids } = request;
  switch (action) {
    case 'add_all_users':
      return moveAllUsers(app, uuid, 'added');
    case 'remove_all_users':
      return moveAllUsers(app, uuid, 'removed');
    case 'delete':
      return deleteSquad(app, actor, uuid);
    case 'rename':
      if (!name?.trim()) throw squadNameRequired();
      return updateSquad(app, actor, uuid, { name });
    case 'update_inbounds':
      if (!inboundUuids?.length) throw squadInboundsRequired();
      return updateSquad(app, actor, uuid, { inboundUuids });
  }
}

function moveAllUsers(app: App, uuid: string, direction: 'added' | 'removed'): Promise<PanelOutcome<true>> {
  const { panel } = app.ports;
  return changing(app, uuid, async (before) => {
    const isDone = await (direction === 'added' ? panel.addAllUsersToSquad(uuid) : panel.removeAllUsersFromSquad(uuid));
    if (!isDone) return null;
    app.audit?.record({ before: { ...stateOf(before), members: before.membersCount }, after: { all_users: direction } });
    return true as const;
  });
}

/** A change to an existing squad; its state before the change goes into the audit log. */
async function changing<T>(
  app: App,
  uuid: string,
  run: (before: PanelInternalSquad) => Promise<T | null>,
): Promise<PanelOutcome<T>> {
  app.audit?.record({ resourceId: uuid });
  return withRecordedFailure(
    app,
    await askPanel(app, async () => {
      const before = await app.ports.panel.getInternalSquad(uuid);
      return before && run(before);
    }),
  );
}

function withRecordedFailure<T>(app: App, result: PanelOutcome<T>): PanelOutcome<T> {
  if (result.outcome === 'done') return result;
  const reason = result.outcome === 'absent' ? 'Squad not found' : result.reason;
  app.audit?.record({ after: { success: false, reason } });
  return result;
}

const stateOf = (squad: PanelInternalSquad) => ({
  name: squad.name,
  inbound_uuids: squad.inbounds.map((inbound) => inbound.uuid),
});
