import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { type Changes, givenFields } from '../../core/changes.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { type BoundField, checkBounds } from '../../core/field-bounds.ts';
import { text } from '../messaging/texts.ts';
import { listGroupNames, lockExistingGroupIds } from '../promo-groups/find-groups.ts';
import { listAvailableSquads, listSquads } from './find-squads.ts';
import { effectiveSquads, findTariff, lockTariffForUpdate, tariffsInOrder } from './find-tariff.ts';
import {
  countSubscriptionsByTariff,
  countSubscriptionsOf,
  deleteTariffRow,
  flipTariffActive,
  flipTrialFlag,
  insertTariff,
  isTariffTableEmpty,
  listTariffIds,
  lockTariffTable,
  orderTariffs,
  readTariffStats,
  replaceTariffGroups,
  type TariffStats,
  type TariffValues,
  updateTariffRow,
} from './tariff-repo.ts';
import type { ServerSquad, Tariff, TrafficResetMode } from './types.ts';

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
    const tariff = (await findTariff(t, id))!;
    t.audit?.record({ resourceId: id, before: null, after: tariff });
    return tariff;
  });
}

/**
 * Changes the given fields. New squads or another external squad start a background sync of the tariff's subscriptions, sent with
 * the change.
 * @throws AppError 404 'Tariff not found'; ValidationError as for creation
 */
export async function changeTariff(app: App, _actor: Actor, tariffId: number, request: TariffRequest): Promise<Tariff> {
  const { promoGroupIds, ...values } = checked(request);
  return inTransaction(app, async (t) => {
    const before = await lockTariffForUpdate(t, tariffId);
    if (!before) throw tariffNotFound();
    const name = values.name === undefined ? {} : { name: values.name.trim() };
    await updateTariffRow(t.db, tariffId, { ...values, ...name }, t.clock.now());
    if (promoGroupIds) await replaceTariffGroups(t.db, tariffId, await lockExistingGroupIds(t.db, promoGroupIds));
    const after = (await findTariff(t, tariffId))!;
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
    const tariff = await lockTariffForUpdate(t, tariffId);
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

export interface ListedTariff {
  tariff: Tariff;
  /** Servers that a purchase gives; 0 = it cannot be sold (08 P5). */
  serversCount: number;
  subscriptionsCount: number;
}

/** Tariffs by (display order, id) with the numbers of servers and subscriptions each. */
export async function listTariffs(app: Pick<App, 'db'>, options: { includeInactive: boolean }): Promise<ListedTariff[]> {
  const [tariffs, servers, counts] = await Promise.all([
    tariffsInOrder(app, { activeOnly: !options.includeInactive }),
    listAvailableSquads(app),
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
  const tariff = await findTariff(app, tariffId);
  if (!tariff) throw tariffNotFound();
  const [servers, promoGroups, counts] = await Promise.all([
    listSquads(app),
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

export const tariffNotFound = refusal('tariff_not_found', 404, 'Tariff not found');

/**
 * Creates a tariff at the first start: when there is no tariff and a `PRICE_{n}_DAYS` is above 0, one with these prices, the default
 * limits, every available server and the trial flag. Several instances may run it concurrently.
 */
export async function ensureDefaultTariff(app: App): Promise<void> {
  const periodPrices = pricesFromSettings(app);
  if (Object.keys(periodPrices).length === 0) return;
  await inTransaction(app, async (t) => {
    await lockTariffTable(t.db);
    if (!(await isTariffTableEmpty(t.db))) return;
    await insertTariff(
      t.db,
      {
        name: text(app.settings.get('DEFAULT_LANGUAGE'), 'subscriptions.first_tariff'),
        trafficLimitGb: app.settings.get('DEFAULT_TRAFFIC_LIMIT_GB'),
        deviceLimit: Math.max(1, app.settings.get('DEFAULT_DEVICE_LIMIT')),
        periodPrices,
      },
      { isTrialAvailable: true, now: t.clock.now() },
    );
  });
}

function pricesFromSettings(app: App): Record<number, number> {
  const { settings } = app;
  const prices: Record<number, number> = {
    14: settings.get('PRICE_14_DAYS'),
    30: settings.get('PRICE_30_DAYS'),
    60: settings.get('PRICE_60_DAYS'),
    90: settings.get('PRICE_90_DAYS'),
    180: settings.get('PRICE_180_DAYS'),
    360: settings.get('PRICE_360_DAYS'),
  };
  return Object.fromEntries(Object.entries(prices).filter(([, kopeks]) => kopeks > 0));
}
