import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { ValidationError } from '../../../core/errors.ts';
import { type BoundField, checkBounds } from '../../../core/field-bounds.ts';
import { lockExistingGroupIds } from '../../promo-groups/find-groups.ts';
import type { Tariff, TrafficResetMode } from '../types.ts';
import { tariffNotFound } from './errors.ts';
import { findTariffById, lockTariffById } from './repo.ts';
import { insertTariff, replaceTariffGroups, type TariffValues, updateTariffRow } from './write-repo.ts';

/** What a request may set; null and undefined keep what is stored, except where null clears. */
export type TariffRequest = Changes<Omit<TariffValues, 'trafficResetMode' | 'externalSquadUuid'>> & {
  /** One of DAY, WEEK, MONTH, NO_RESET; null = the service-wide default. */
  trafficResetMode?: string | null | undefined;
  /** Null = none. */
  externalSquadUuid?: string | null | undefined;
  /** Unknown ids are ignored; [] = everyone. */
  promoGroupIds?: readonly number[] | null | undefined;
};

/**
 * Creates a tariff, without the trial flag and first in the order (spec 02 section 10).
 * @throws ValidationError 422 for an empty name, an unknown reset mode or a number out of bounds
 */
export async function createTariff(app: App, _actor: Actor, request: TariffRequest & { name: string }): Promise<Tariff> {
  const { promoGroupIds = [], ...values } = checked(request);
  return inTransaction(app, async (t) => {
    const id = await insertTariff(
      t.db,
      { ...values, name: request.name.trim(), displayOrder: 0 },
      { isTrialAvailable: false, now: t.clock.now() },
    );
    await replaceTariffGroups(t.db, id, await lockExistingGroupIds(t.db, promoGroupIds));
    const tariff = (await findTariffById(t.db, id))!;
    t.audit?.record({ resourceId: id, before: null, after: tariff });
    return tariff;
  });
}

/**
 * Changes the given fields. New squads or another external squad start a background sync of the tariff's subscriptions, sent with
 * the change (spec 02 section 10).
 * @throws AppError 404 'Tariff not found'; ValidationError as for creation
 */
export async function changeTariff(app: App, _actor: Actor, tariffId: number, request: TariffRequest): Promise<Tariff> {
  const { promoGroupIds, ...values } = checked(request);
  return inTransaction(app, async (t) => {
    const before = await lockTariffById(t.db, tariffId);
    if (!before) throw tariffNotFound();
    const name = values.name === undefined ? {} : { name: values.name.trim() };
    await updateTariffRow(t.db, tariffId, { ...values, ...name }, t.clock.now());
    if (promoGroupIds) await replaceTariffGroups(t.db, tariffId, await lockExistingGroupIds(t.db, promoGroupIds));
    const after = (await findTariffById(t.db, tariffId))!;
    t.audit?.record({ before, after });
    if (needsSquadSync(before, after)) {
      await t.jobs.send('provisioning.sync-squads', { tariffId }, { singletonKey: String(tariffId) });
    }
    return after;
  });
}

function needsSquadSync(before: Tariff, after: Tariff): boolean {
  if (before.externalSquadUuid !== after.externalSquadUuid) return true;
  const [old, now] = [new Set(before.allowedSquads), new Set(after.allowedSquads)];
  return old.size !== now.size || [...now].some((uuid) => !old.has(uuid));
}

function checked(request: TariffRequest): Partial<TariffValues> & { promoGroupIds?: readonly number[] } {
  checkBounds(boundsOf(request));
  const { trafficResetMode, externalSquadUuid, ...changes } = request;
  const { allowedSquads, trafficTopupPackages, ...rest } = givenFields(changes);
  return {
    ...rest,
    trafficResetMode: checkResetMode(trafficResetMode),
    externalSquadUuid: externalSquadUuid?.toLowerCase() ?? externalSquadUuid,
    ...(allowedSquads && { allowedSquads: [...new Set(allowedSquads)] }),
    ...(trafficTopupPackages && { trafficTopupPackages: withWholeKeys(trafficTopupPackages) }),
  };
}

/** A package is a whole number of GB above 0; entries under any other key are left out. */
function withWholeKeys(packages: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(packages).filter(([gb]) => /^[1-9]\d{0,8}$/.test(gb)));
}

/** Numbers by the names of the contract, so that a 422 names the field. */
function boundsOf(request: TariffRequest): BoundField[] {
  const numbers: [string, number | null | undefined][] = [
    ['max_topup_traffic_gb', request.maxTopupTrafficGb],
    ['traffic_limit_gb', request.trafficLimitGb],
    ['device_limit', request.deviceLimit],
    ['device_price_kopeks', request.devicePriceKopeks],
    ['max_device_limit', request.maxDeviceLimit],
    ['display_order', request.displayOrder],
    ['price_per_day_kopeks', request.pricePerDayKopeks],
    ['min_days', request.minDays],
    ['max_days', request.maxDays],
    ['traffic_price_per_gb_kopeks', request.trafficPricePerGbKopeks],
    ['min_traffic_gb', request.minTrafficGb],
    ['max_traffic_gb', request.maxTrafficGb],
    ['daily_price_kopeks', request.dailyPriceKopeks],
    ...Object.values(request.periodPrices ?? {}).map((price): [string, number] => ['period_prices', price]),
    ...Object.values(request.trafficTopupPackages ?? {}).map((price): [string, number] => ['traffic_topup_packages', price]),
  ];
  return [{ name: 'name', value: request.name, minLength: 1 }, ...numbers.map(([name, value]) => ({ name, value, min: 0 }))];
}

const RESET_MODES: readonly TrafficResetMode[] = ['DAY', 'WEEK', 'MONTH', 'MONTH_ROLLING', 'NO_RESET'];

/** @throws ValidationError 422 for a value that the panel does not support */
function checkResetMode(value: string | null | undefined): TrafficResetMode | null | undefined {
  if (value === null || value === undefined) return value;
  const mode = RESET_MODES.find((known) => known === value.trim().toUpperCase());
  if (mode) return mode;
  const expected = "'DAY', 'WEEK', 'MONTH', 'MONTH_ROLLING' or 'NO_RESET'";
  const msg = `Input should be ${expected}`;
  throw new ValidationError([
    { loc: ['body', 'traffic_reset_mode'], type: 'literal_error', msg, input: value, ctx: { expected } },
  ]);
}
