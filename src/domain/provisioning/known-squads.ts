import type { App } from '../../core/app.ts';
import { isPanelError, type PanelUser } from './ports.ts';
import { recordStaleExternalSquad } from './stale-external-squads.ts';

/** The panel's code for a username that is taken. */
export const USERNAME_TAKEN = 'A019';

/** The panel's code for an internal error; the request may be correct. */
const PANEL_INTERNAL_ERROR = 'A001';

interface SquadFields {
  squadUuids?: string[];
  externalSquadUuid?: string | null;
}

/**
 * Sends; when the panel answers with a code of its own (`A018`, `A039`, `A088` …), compares the squads that were sent with the panel's
 * lists and sends again with those that exist there, so that a squad deleted at the panel does not block a paid purchase (08 P3). A stale external squad is recorded for its tariff.
 * @param without what is sent instead of a stale external squad
 */
export async function sendKnownSquads<B extends SquadFields>(
  app: App,
  request: { body: B; tariffId: number | null; without: Partial<B> },
  send: (body: B) => Promise<PanelUser>,
): Promise<PanelUser> {
  const { body, tariffId } = request;
  try {
    return await send(body);
  } catch (error) {
    if (!mayNameStaleSquads(error, body)) throw error;
    const stale = await findStaleSquads(app, body);
    if (stale.internal.length === 0 && stale.external === null) throw error;
    app.log.warn({ stale }, 'provisioning: squads unknown to the panel were left out');
    const user = await send(withoutStale(request, stale));
    if (stale.external !== null && tariffId !== null) await recordStaleExternalSquad(app, tariffId, stale.external);
    return user;
  }
}

interface StaleSquads {
  internal: string[];
  external: string | null;
}

function withoutStale<B extends SquadFields>(request: { body: B; without: Partial<B> }, stale: StaleSquads): B {
  const { squadUuids, externalSquadUuid, ...rest } = request.body;
  const remaining = squadUuids?.filter((uuid) => !stale.internal.includes(uuid)) ?? [];
  const sameExternal = externalSquadUuid === undefined ? {} : { externalSquadUuid };
  return {
    ...rest,
    ...(remaining.length === 0 ? {} : { squadUuids: remaining }),
    ...(stale.external === null ? sameExternal : request.without),
  } as B;
}

function mayNameStaleSquads(error: unknown, body: SquadFields): boolean {
  if (!isPanelError(error) || error.errorCode === null) return false;
  if (error.errorCode === USERNAME_TAKEN || error.errorCode === PANEL_INTERNAL_ERROR) return false;
  return Boolean(body.squadUuids?.length || body.externalSquadUuid);
}

async function findStaleSquads(app: App, body: SquadFields): Promise<StaleSquads> {
  const { panel } = app.ports;
  const [internal, external] = await Promise.all([
    body.squadUuids?.length ? panel.listInternalSquads() : [],
    body.externalSquadUuid ? panel.listExternalSquads() : [],
  ]);
  const known = new Set([...internal, ...external].map((squad) => squad.uuid));
  const { externalSquadUuid } = body;
  return {
    internal: (body.squadUuids ?? []).filter((uuid) => !known.has(uuid)),
    external: externalSquadUuid && !known.has(externalSquadUuid) ? externalSquadUuid : null,
  };
}
