import type { App } from '../../../core/app.ts';
import { listTariffs } from '../../catalog/tariffs/read-tariffs.ts';
import type { Tariff } from '../../catalog/types.ts';
import { requireUser } from '../../identity/require-user.ts';
import { findPrimaryPromoGroup } from '../../promo-groups/find-groups.ts';
import type { PromoGroup } from '../../promo-groups/types.ts';
import { readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';

export interface AvailableTariffs {
  userId: number;
  promoGroup: PromoGroup | null;
  tariffs: { tariff: Tariff; isAvailable: boolean }[];
  current: { id: number; name: string | null } | null;
}

/**
 * Tariffs that an administrator may give a user, by (display order, tier level, id). One is marked available when it names no
 * group, the user has none, or the user's is named (spec 01 section 11.1).
 * @throws AppError 404 'User not found'
 */
export async function listAvailableTariffs(
  app: App,
  userId: number,
  options: { includeInactive: boolean },
): Promise<AvailableTariffs> {
  const user = await requireUser(app, userId);
  const [promoGroup, listed, subscribed] = await Promise.all([
    findPrimaryPromoGroup(app.db, user.id),
    listTariffs(app, { includeInactive: true }),
    readUserSubscription(app, user.id),
  ]);
  const all = listed.map(({ tariff }) => tariff);
  const currentId = subscribed?.subscription.tariffId ?? null;
  return {
    userId: user.id,
    promoGroup,
    tariffs: all
      .filter((tariff) => tariff.isActive || options.includeInactive)
      .toSorted((a, b) => a.displayOrder - b.displayOrder || a.tierLevel - b.tierLevel || a.id - b.id)
      .map((tariff) => ({ tariff, isAvailable: isAvailableTo(tariff, promoGroup) })),
    current: currentId === null ? null : { id: currentId, name: all.find((tariff) => tariff.id === currentId)?.name ?? null },
  };
}

/** Less strict than what the user may buy: to a user without a group every tariff may be given. */
function isAvailableTo(tariff: Tariff, promoGroup: PromoGroup | null): boolean {
  const { allowedPromoGroupIds: ids } = tariff;
  return ids.length === 0 || promoGroup === null || ids.includes(promoGroup.id);
}
