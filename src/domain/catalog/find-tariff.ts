import type { App } from '../../core/app.ts';
import { listSquads } from './find-squads.ts';
import { effectiveSquads } from './rules/tariff-access.ts';
import { findFlaggedTrialTariff, findTariffById, lockTariffForShare } from './tariffs/repo.ts';
import type { Tariff } from './types.ts';

/** A tariff that a SQL function read beside other rows. */
export { tariffOf } from './tariffs/repo.ts';

/** A tariff, active or not; null when there is none. */
export function findTariff(app: App, id: number): Promise<Tariff | null> {
  return findTariffById(app.db, id);
}

/**
 * A tariff that cannot be deleted before the transaction ends, so that a sale never uses a deleted tariff (spec 02 H18). To be called
 * after the rows of users and subscriptions were locked (spec 00, lock order).
 */
export function lockTariff(t: App, id: number): Promise<Tariff | null> {
  return lockTariffForShare(t.db, id);
}

/** The tariff that trials use: the flagged one, else `TRIAL_TARIFF_ID`, else null (spec 02 section 4.1). */
export async function findTrialTariff(app: Pick<App, 'db' | 'settings'>): Promise<Tariff | null> {
  const flagged = await findFlaggedTrialTariff(app.db);
  if (flagged) return flagged;
  const id = app.settings.get('TRIAL_TARIFF_ID');
  return id > 0 ? findTariffById(app.db, id) : null;
}

/** Uuids of the squads that a subscription to the tariff gets, without any page limit (spec 02 H9). */
export async function effectiveSquadsOf(app: App, tariff: Pick<Tariff, 'allowedSquads'>): Promise<string[]> {
  const squads = tariff.allowedSquads.length > 0 ? [] : await listSquads(app);
  return effectiveSquads(tariff, squads);
}
