import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import type { Changes } from '../../core/changes.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { type BoundField, checkBounds } from '../../core/field-bounds.ts';
import { defaultPromoGroup, lockExistingGroupIds } from '../promo-groups/find-groups.ts';
import type { DatedServer } from './find-squads.ts';
import {
  deleteServers,
  findById,
  flipServerFlag,
  insertServer,
  lockServerUse,
  recountUsers,
  replaceServerGroups,
  type ServerValues,
  updateServerRow,
} from './server-repo.ts';

export const promoGroupRequired = refusal('promo_group_required', 400, 'Server squad must be linked to at least one promo group');
export const serverExists = refusal('server_exists', 400, 'Server with this UUID already exists');
export const promoGroupsNotFound = refusal('promo_groups_not_found', 400, 'Promo groups not found');

type OptionalText = 'originalName' | 'countryCode' | 'description' | 'maxUsers';

export type NewServer = Omit<ServerValues, OptionalText> &
  Changes<Pick<ServerValues, OptionalText>> & {
    squadUuid: string;
    /** Null and absent = the default group; unknown ids are left out with a warning in the log. */
    promoGroupIds?: readonly number[] | null | undefined;
  };

/**
 * Creates a server by hand (spec 02 section 8).
 * @throws AppError 400 'Server with this UUID already exists', 400 'Server squad must be linked to at least one promo group';
 *   ValidationError 422 for texts and numbers out of bounds
 */
export async function createServer(app: App, _actor: Actor, request: NewServer): Promise<DatedServer> {
  const { squadUuid, promoGroupIds = null, ...given } = request;
  const { originalName = null, countryCode = null, description = null, maxUsers = null } = given;
  const values = { ...given, originalName, countryCode, description, maxUsers };
  checkBounds([{ name: 'squadUuid', value: squadUuid, minLength: 1, maxLength: 255 }, ...boundsOf(values)]);
  return inTransaction(app, async (t) => {
    const groupIds = await groupsOfNewServer(t, promoGroupIds);
    if (groupIds.length === 0) throw promoGroupRequired();
    const id = await insertServer(t.db, squadUuid.trim(), values, t.clock.now());
    if (id === null) throw serverExists();
    await replaceServerGroups(t.db, id, groupIds);
    const server = (await findById(t.db, id))!;
    t.audit?.record({ resourceId: id, before: null, after: server });
    return server;
  });
}

/** The names are those of the Web API; the schema of the administration has its own bounds for the texts. */
function boundsOf(values: Partial<ServerValues>): BoundField[] {
  return [
    { name: 'displayName', value: values.displayName, minLength: 1, maxLength: 255 },
    { name: 'originalName', value: values.originalName, maxLength: 255 },
    { name: 'countryCode', value: values.countryCode, maxLength: 5 },
    { name: 'priceKopeks', value: values.priceKopeks, min: 0 },
    { name: 'maxUsers', value: values.maxUsers, min: 0 },
    { name: 'sortOrder', value: values.sortOrder },
  ];
}

async function groupsOfNewServer(t: App, groupIds: readonly number[] | null): Promise<number[]> {
  if (groupIds === null) return [(await defaultPromoGroup(t)).id];
  const known = await lockExistingGroupIds(t.db, groupIds);
  if (known.length < new Set(groupIds).size) t.log.warn({ groupIds, known }, 'server: unknown promo groups were left out');
  return known;
}

/** Texts of refusals, which differ between the interfaces. */
export interface ServerChangeTexts {
  noGroups: string;
  unknownGroups: string;
}

/** What a request may set; undefined keeps what is stored. */
export type ServerChanges = Partial<ServerValues> & { promoGroupIds?: readonly number[] };

/**
 * Changes the given fields of a server; groups replace the old ones.
 * @throws AppError 404 'Server not found'; 400 for no group at all, or none that exists
 */
export async function changeServer(
  app: App,
  _actor: Actor,
  serverId: number,
  changes: ServerChanges,
  texts: ServerChangeTexts,
): Promise<DatedServer> {
  const { promoGroupIds, ...values } = changes;
  checkBounds(boundsOf(values));
  return inTransaction(app, async (t) => {
    const before = await findById(t.db, serverId);
    if (!before || !(await updateServerRow(t.db, serverId, values, t.clock.now()))) throw serverNotFound();
    if (promoGroupIds) {
      if (promoGroupIds.length === 0) throw promoGroupRequired({ detail: texts.noGroups });
      const known = await lockExistingGroupIds(t.db, promoGroupIds);
      if (known.length === 0) throw promoGroupsNotFound({ detail: texts.unknownGroups });
      await replaceServerGroups(t.db, serverId, known);
    }
    const after = (await findById(t.db, serverId))!;
    t.audit?.record({ before, after });
    return after;
  });
}

export const serverInUse = refusal('server_in_use', 400, 'Server cannot be deleted because it has active connections');

/** @returns whether the server is on sale now @throws AppError 404 'Server not found' */
export function toggleServer(app: App, _actor: Actor, serverId: number): Promise<boolean> {
  return flip(app, serverId, 'is_available');
}

/** @returns whether trials may use the server now @throws AppError 404 'Server not found' */
export function toggleTrialServer(app: App, _actor: Actor, serverId: number): Promise<boolean> {
  return flip(app, serverId, 'is_trial_eligible');
}

async function flip(app: App, serverId: number, column: 'is_available' | 'is_trial_eligible'): Promise<boolean> {
  const flag = await flipServerFlag(app.db, serverId, column, app.clock.now());
  if (flag === null) throw serverNotFound();
  app.audit?.record({ before: { [column]: !flag }, after: { [column]: flag } });
  return flag;
}

/**
 * Deletes a server that no subscription is linked to or uses.
 * @throws AppError 404 'Server not found', 400 'Server cannot be deleted because it has active connections'
 */
export async function deleteServer(app: App, _actor: Actor, serverId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const use = await lockServerUse(t.db, serverId);
    if (!use) throw serverNotFound();
    if (use.isInUse) throw serverInUse();
    const before = await findById(t.db, serverId);
    await deleteServers(t.db, [serverId]);
    t.audit?.record({ before, after: null });
  });
}

/** Recounts the active and trial subscriptions of each squad (spec 02 section 8, H20). @returns the number of servers */
export function recountServerUsers(app: App): Promise<number> {
  return recountUsers(app.db);
}

export const serverNotFound = refusal('server_not_found', 404, 'Server not found');
