import type { App } from '../../core/app.ts';
import type { PromoGroup } from '../promo-groups/types.ts';
import { listAvailableSquads } from './find-squads.ts';
import { tariffVisibleTo } from './rules/tariff-access.ts';
import { listAllTariffs } from './tariffs/repo.ts';
import type { Tariff } from './types.ts';

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
export function listActiveTariffs(app: App): Promise<Tariff[]> {
  return listAllTariffs(app.db, { activeOnly: true });
}
