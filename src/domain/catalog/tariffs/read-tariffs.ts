import type { App } from '../../../core/app.ts';
import { listGroupNames } from '../../promo-groups/find-groups.ts';
import { listAll } from '../servers/repo.ts';
import type { ServerSquad, Tariff } from '../types.ts';
import { tariffNotFound } from './errors.ts';
import { findTariffById, listAllTariffs } from './repo.ts';
import { countSubscriptionsByTariff, readTariffStats, type TariffStats } from './stats-repo.ts';

/** Tariffs by (display order, id) with the number of subscriptions each (spec 02 section 10). */
export async function listTariffs(
  app: App,
  options: { includeInactive: boolean },
): Promise<{ tariff: Tariff; subscriptionsCount: number }[]> {
  const [tariffs, counts] = await Promise.all([
    listAllTariffs(app.db, { activeOnly: !options.includeInactive }),
    countSubscriptionsByTariff(app.db, null),
  ]);
  return tariffs.map((tariff) => ({ tariff, subscriptionsCount: counts.get(tariff.id) ?? 0 }));
}

/** A tariff with every server and promo group to choose from (spec 02 H16: all of them, no page). */
export interface TariffForm {
  tariff: Tariff;
  subscriptionsCount: number;
  servers: ServerSquad[];
  /** By name. */
  promoGroups: { id: number; name: string }[];
}

/** @throws AppError 404 'Tariff not found' */
export async function readTariffForm(app: App, tariffId: number): Promise<TariffForm> {
  const tariff = await findTariffById(app.db, tariffId);
  if (!tariff) throw tariffNotFound();
  const [servers, promoGroups, counts] = await Promise.all([
    listAll(app.db, { availableOnly: false }),
    listGroupNames(app.db),
    countSubscriptionsByTariff(app.db, tariff.id),
  ]);
  return { tariff, servers, promoGroups, subscriptionsCount: counts.get(tariff.id) ?? 0 };
}

/** Subscriptions and revenue of a tariff. @throws AppError 404 'Tariff not found' */
export async function tariffStats(app: App, tariffId: number): Promise<TariffStats> {
  const stats = await readTariffStats(app.db, tariffId);
  if (!stats) throw tariffNotFound();
  return stats;
}
