import type { ServerSquad, Tariff } from '../types.ts';

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
