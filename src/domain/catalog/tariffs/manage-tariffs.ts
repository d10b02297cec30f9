import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { tariffNotFound } from './errors.ts';
import { lockTariffById } from './repo.ts';
import {
  countSubscriptionsOf,
  deleteTariffRow,
  flipTariffActive,
  flipTrialFlag,
  listTariffIds,
  orderTariffs,
} from './write-repo.ts';

export const tariffInUse = refusal(
  'tariff_in_use',
  409,
  'Tariff has <n> active subscriptions; move them to another tariff first',
);

/** Puts a tariff on or off sale. @returns whether it is on sale now @throws AppError 404 'Tariff not found' */
export async function toggleTariff(app: App, _actor: Actor, tariffId: number): Promise<boolean> {
  const isActive = await flipTariffActive(app.db, tariffId, app.clock.now());
  if (isActive === null) throw tariffNotFound();
  app.audit?.record({ before: { isActive: !isActive }, after: { isActive } });
  return isActive;
}

/**
 * Makes a tariff the trial tariff or removes that role; at most one tariff has it (spec 02 section 1.4).
 * @returns whether it is the trial tariff now @throws AppError 404 'Tariff not found'
 */
export function toggleTrialTariff(app: App, _actor: Actor, tariffId: number): Promise<boolean> {
  return inTransaction(app, async (t) => {
    const isTrial = await flipTrialFlag(t.db, tariffId, t.clock.now());
    if (isTrial === null) throw tariffNotFound();
    t.audit?.record({ before: { isTrialAvailable: !isTrial }, after: { isTrialAvailable: isTrial } });
    return isTrial;
  });
}

/** Display order = place in the list; unknown ids are ignored. */
export async function sortTariffs(app: App, _actor: Actor, tariffIds: readonly number[]): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = await listTariffIds(t.db);
    await orderTariffs(t.db, tariffIds, t.clock.now());
    t.audit?.record({ before: { tariff_ids: before }, after: { tariff_ids: await listTariffIds(t.db) } });
  });
}

/**
 * Deletes a tariff without running subscriptions: a daily one would no longer be charged and renewals would cost another price
 * (spec 02 H18). Expired subscriptions lose the tariff.
 * @returns `affectedSubscriptions`: how many lost it
 * @throws AppError 404 'Tariff not found', 409 `tariff_in_use`
 */
export function deleteTariff(
  app: App,
  _actor: Actor,
  tariffId: number,
): Promise<{ name: string; affectedSubscriptions: number }> {
  return inTransaction(app, async (t) => {
    // Waits for purchases in progress, which have locked the row for share; later ones find no tariff.
    const tariff = await lockTariffById(t.db, tariffId);
    if (!tariff) throw tariffNotFound();
    const counts = await countSubscriptionsOf(t.db, tariffId, t.clock.now());
    if (counts.running > 0) {
      throw tariffInUse({ detail: `Tariff has ${counts.running} active subscriptions; move them to another tariff first` });
    }
    await deleteTariffRow(t.db, tariffId);
    t.audit?.record({ before: tariff, after: null });
    return { name: tariff.name, affectedSubscriptions: counts.all };
  });
}
