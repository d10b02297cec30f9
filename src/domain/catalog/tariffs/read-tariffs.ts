import type { App } from '../../../core/app.ts';
import { listGroupNames } from '../../promo-groups/find-groups.ts';
import { effectiveSquads } from '../rules/tariff-access.ts';
import { listAll } from '../servers/repo.ts';
import type { ServerSquad, Tariff } from '../types.ts';
import { tariffNotFound } from './errors.ts';
import { findTariffById, listAllTariffs } from './repo.ts';
import { countSubscriptionsByTariff, readTariffStats, type TariffStats } from './stats-repo.ts';

/** A tariff in a list. */
export interface ListedTariff {
  tariff: Tariff;
  /** Servers that a purchase gives; 0 = it cannot be sold (08 P5). */
  serversCount: number;
  subscriptionsCount: number;
}

/** Tariffs by (display order, id) with the numbers of servers and subscriptions each (spec 02 section 10). */
export async function listTariffs(app: Pick<App, 'db'>, options: { includeInactive: boolean }): Promise<ListedTariff[]> {
  const [tariffs, servers, counts] = await Promise.all([
    listAllTariffs(app.db, { activeOnly: !options.includeInactive }),
    listAll(app.db, { availableOnly: true }),
    countSubscriptionsByTariff(app.db, null),
  ]);
  return tariffs.map((tariff) => ({
    tariff,
    serversCount: effectiveSquads(tariff, servers).length,
    subscriptionsCount: counts.get(tariff.id) ?? 0,
  }));
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
