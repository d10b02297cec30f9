import type { App } from '../../../core/app.ts';
import { listGroupNames, listPromoGroups } from '../../promo-groups/find-groups.ts';
import type { PromoGroup } from '../../promo-groups/types.ts';
import { countSquadHolders, type DatedServer, listAvailableSquads, listSquads } from '../find-squads.ts';
import { isFull } from '../find-tariff.ts';
import { findById, listPage, type ServerFilter } from '../server-repo.ts';
import { serverNotFound } from '../servers.ts';
import type { ServerSquad } from '../types.ts';
import { listServerUsers, listTariffsUsing, readServerTotals, type ServerTotals, type ServerUser } from './stats-repo.ts';

export type { DatedServer } from '../find-squads.ts';
export type { ServerTotals, ServerUser } from './stats-repo.ts';

/** A server with the promo groups that may use it, by id. */
export type ServerWithGroups = DatedServer & { promoGroups: PromoGroup[] };

/** Every server for the administration, by (sort order, display name, id) (spec 02 H16: all of them). */
export function listServers(app: App, options: { includeUnavailable: boolean }): Promise<DatedServer[]> {
  return options.includeUnavailable ? listSquads(app) : listAvailableSquads(app);
}

/** A page of servers with their promo groups, and the number of all that match (spec 02 section 8). */
export async function listServerPage(
  app: App,
  filter: ServerFilter,
  page: { offset: number; limit: number },
): Promise<{ servers: ServerWithGroups[]; total: number }> {
  const [{ servers, total }, groups] = await Promise.all([listPage(app.db, filter, page), listPromoGroups(app)]);
  return { servers: servers.map((server) => withGroups(server, groups)), total };
}

/** @throws AppError 404 'Server not found' */
export async function readServer(app: App, serverId: number): Promise<ServerWithGroups> {
  const [server, groups] = await Promise.all([findById(app.db, serverId), listPromoGroups(app)]);
  if (!server) throw serverNotFound();
  return withGroups(server, groups);
}

/** A server with everything that its form shows. */
export interface ServerForm {
  server: DatedServer;
  /** Every group by name. */
  promoGroups: { id: number; name: string }[];
  /** Active and trial subscriptions that have the squad. */
  activeSubscriptions: number;
  tariffsUsing: string[];
}

/** @throws AppError 404 'Server not found' */
export async function readServerForm(app: App, serverId: number): Promise<ServerForm> {
  const server = await findById(app.db, serverId);
  if (!server) throw serverNotFound();
  const [promoGroups, { active }, tariffsUsing] = await Promise.all([
    listGroupNames(app.db),
    countSquadHolders(app, server.squadUuid),
    listTariffsUsing(app.db, server.squadUuid),
  ]);
  return { server, promoGroups, activeSubscriptions: active, tariffsUsing };
}

/** @throws AppError 404 'Server not found' */
export async function serverStats(
  app: App,
  serverId: number,
): Promise<DatedServer & { activeSubscriptions: number; trialSubscriptions: number; usagePercent: number | null }> {
  const server = await findById(app.db, serverId);
  if (!server) throw serverNotFound();
  const { active, trial } = await countSquadHolders(app, server.squadUuid);
  const usagePercent = server.maxUsers ? Math.round((server.currentUsers * 1000) / server.maxUsers) / 10 : null;
  return { ...server, activeSubscriptions: active, trialSubscriptions: trial, usagePercent };
}

/** Users of a server by id. @throws AppError 404 'Server not found' */
export async function listUsersOfServer(
  app: App,
  serverId: number,
  page: { offset: number; limit: number },
): Promise<{ users: ServerUser[]; total: number }> {
  const server = await findById(app.db, serverId);
  if (!server) throw serverNotFound();
  return listServerUsers(app.db, server, page);
}

/** Totals of all servers; revenue in kopeks. */
export function serverTotals(app: App): Promise<ServerTotals> {
  return readServerTotals(app.db);
}

/** The first state that applies, in this order (spec 02 section 1.2). */
export function availabilityStatus(server: ServerSquad): 'unavailable' | 'full' | 'available' {
  if (!server.isAvailable) return 'unavailable';
  return isFull(server) ? 'full' : 'available';
}

function withGroups(server: DatedServer, groups: readonly PromoGroup[]): ServerWithGroups {
  const promoGroups = groups.filter((group) => server.allowedPromoGroupIds.includes(group.id));
  return { ...server, promoGroups: promoGroups.sort((a, b) => a.id - b.id) };
}
