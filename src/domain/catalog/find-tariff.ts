import type { App } from '../../core/app.ts';
import { allColumns, nestedRow, type Rows } from '../../core/db/columns.ts';
import { isRowId } from '../../core/row-id.ts';
import type { PromoGroup } from '../promo-groups/types.ts';
import { listAvailableSquads, listSquads } from './find-squads.ts';
import type { ServerSquad, Tariff } from './types.ts';

type TariffRow = Rows['Tariff'] & Pick<Tariff, 'allowedPromoGroupIds'>;

/** @param json of `tariff_json()` in prisma/sql/tariffs.sql */
export function tariffOf(json: object | null): Tariff | null {
  return json === null ? null : toTariff(nestedRow('Tariff', json) as TariffRow);
}

function toTariff({ serverTrafficLimits, ...row }: TariffRow): Tariff {
  const limits = Object.entries(serverTrafficLimits).map(([uuid, limit]) => [
    uuid,
    { trafficLimitGb: limit.traffic_limit_gb ?? 0 },
  ]);
  return { ...row, serverTrafficLimits: Object.fromEntries(limits) };
}

const SELECT = `SELECT ${allColumns('Tariff').of('t')}, tariff_group_ids(t.id) AS allowed_promo_group_ids FROM tariffs t`;

async function selectTariff({ db }: Pick<App, 'db'>, rest: string, values: unknown[] = []): Promise<Tariff | null> {
  const [row] = await db.sql<TariffRow>(`${SELECT} WHERE ${rest}`, values);
  return row ? toTariff(row) : null;
}

/** A tariff, active or not; null when there is none. */
export function findTariff(app: Pick<App, 'db'>, id: number): Promise<Tariff | null> {
  return selectTariff(app, 't.id = $1::bigint', [id]);
}

/**
 * A tariff that cannot be deleted before the transaction ends, so that a sale never uses a deleted tariff (spec 02 H18). To be called
 * after the rows of users and subscriptions were locked (spec 00, lock order).
 */
export function lockTariff(t: App, id: number): Promise<Tariff | null> {
  return selectTariff(t, 't.id = $1::bigint FOR KEY SHARE OF t', [id]);
}

/** For changing or deleting it: waits for purchases that have locked it for share. */
export function lockTariffForUpdate(t: App, id: number): Promise<Tariff | null> {
  return selectTariff(t, 't.id = $1::bigint FOR UPDATE OF t', [id]);
}

/** The tariff that trials use: the flagged one, else `TRIAL_TARIFF_ID`, else null (spec 02 section 4.1). */
export async function findTrialTariff(app: Pick<App, 'db' | 'settings'>): Promise<Tariff | null> {
  // At most one has the flag (index `tariffs_one_trial`); it may be inactive.
  const flagged = await selectTariff(app, 't.is_trial_available');
  if (flagged) return flagged;
  const id = app.settings.get('TRIAL_TARIFF_ID');
  return id > 0 ? findTariff(app, id) : null;
}

/** Uuids of the squads that a subscription to the tariff gets, without any page limit (spec 02 H9). */
export async function effectiveSquadsOf(app: App, tariff: Pick<Tariff, 'allowedSquads'>): Promise<string[]> {
  const squads = tariff.allowedSquads.length > 0 ? [] : await listSquads(app);
  return effectiveSquads(tariff, squads);
}

/**
 * The active tariffs that a user with this primary promo group may see and buy, by (display order, id) (spec 02 sections 1.4, H19). One
 * that would give no server is not offered (08 P5).
 */
export async function listVisibleTariffs(app: App, primaryPromoGroup: Pick<PromoGroup, 'id'> | null): Promise<Tariff[]> {
  const tariffs = await listActiveTariffs(app);
  const isOpenEmpty =
    tariffs.some((tariff) => tariff.allowedSquads.length === 0) && (await listAvailableSquads(app)).length === 0;
  return tariffs.filter(
    (tariff) => tariffVisibleTo(tariff, primaryPromoGroup) && !(isOpenEmpty && tariff.allowedSquads.length === 0),
  );
}

/** Every active tariff, visible to everyone or not, by (display order, id). */
export const listActiveTariffs = (app: App): Promise<Tariff[]> => tariffsInOrder(app, { activeOnly: true });

/** Tariffs by (display order, id). */
export async function tariffsInOrder({ db }: Pick<App, 'db'>, options: { activeOnly: boolean }): Promise<Tariff[]> {
  const rows = await db.sql<TariffRow>(`${SELECT} WHERE t.is_active OR NOT $1::boolean ORDER BY t.display_order, t.id`, [
    options.activeOnly,
  ]);
  return rows.map(toTariff);
}

/** Active tariffs by name. */
export function listAllActiveTariffNames(app: App): Promise<{ id: number; name: string }[]> {
  return app.db.prisma.tariff.findMany({
    where: { isActive: true },
    select: { id: true, name: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  });
}

/** Whether there is such a tariff, active or not. */
export async function tariffExists(app: App, id: number): Promise<boolean> {
  return isRowId(id) && (await app.db.prisma.tariff.count({ where: { id } })) > 0;
}

/**
 * The squads that a subscription to the tariff gets: the tariff's own, or every available server when it names none.
 * The one resolver of spec 02 H9, for purchase, switch and squad sync alike.
 * @param squads all servers, never a page of them
 * @returns uuids without repetition
 */
export function effectiveSquads(
  tariff: Pick<Tariff, 'allowedSquads'>,
  squads: readonly Pick<ServerSquad, 'squadUuid' | 'isAvailable'>[],
): string[] {
  const uuids =
    tariff.allowedSquads.length > 0
      ? tariff.allowedSquads
      : squads.filter((squad) => squad.isAvailable).map((squad) => squad.squadUuid);
  return [...new Set(uuids)];
}

/**
 * Whether a user may see and buy a tariff: one without groups is for everyone, a restricted one for members of a listed
 * group, by the primary group. The same rule for lists and purchases (spec 02 H19).
 */
export function tariffVisibleTo(
  tariff: Pick<Tariff, 'allowedPromoGroupIds'>,
  primaryPromoGroup: { readonly id: number } | null,
): boolean {
  return isOpenTo(tariff.allowedPromoGroupIds, primaryPromoGroup);
}

/** The same rule for a server (spec 02 H19). */
export function squadVisibleTo(
  squad: Pick<ServerSquad, 'allowedPromoGroupIds'>,
  primaryPromoGroup: { readonly id: number } | null,
): boolean {
  return isOpenTo(squad.allowedPromoGroupIds, primaryPromoGroup);
}

/** Whether a server has reached its cap of users. */
export function isFull(squad: Pick<ServerSquad, 'maxUsers' | 'currentUsers'>): boolean {
  return squad.maxUsers !== null && squad.currentUsers >= squad.maxUsers;
}

function isOpenTo(groupIds: readonly number[], primaryPromoGroup: { readonly id: number } | null): boolean {
  return groupIds.length === 0 || (primaryPromoGroup !== null && groupIds.includes(primaryPromoGroup.id));
}
