import type { Db } from '../../../core/db/db.ts';
import type { Tariff, TrafficResetMode } from '../types.ts';

interface TariffRow {
  id: number;
  name: string;
  description: string | null;
  displayOrder: number;
  isActive: boolean;
  tierLevel: number;
  trafficLimitGb: number;
  deviceLimit: number;
  devicePriceKopeks: number | null;
  maxDeviceLimit: number | null;
  allowedSquads: string[];
  serverTrafficLimits: Record<string, { traffic_limit_gb?: number }>;
  periodPrices: Record<string, number>;
  isTrialAvailable: boolean;
  allowTrafficTopup: boolean;
  trafficTopupEnabled: boolean;
  trafficTopupPackages: Record<string, number>;
  maxTopupTrafficGb: number;
  isDaily: boolean;
  dailyPriceKopeks: number;
  customDaysEnabled: boolean;
  pricePerDayKopeks: number;
  minDays: number;
  maxDays: number;
  customTrafficEnabled: boolean;
  trafficPricePerGbKopeks: number;
  minTrafficGb: number;
  maxTrafficGb: number;
  showInGift: boolean;
  trafficResetMode: TrafficResetMode | null;
  externalSquadUuid: string | null;
  promoGroupIds: number[];
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = `t.*, COALESCE((SELECT json_agg(g.promo_group_id ORDER BY g.promo_group_id)
  FROM tariff_promo_groups g WHERE g.tariff_id = t.id), '[]') AS promo_group_ids`;

function toTariff(row: TariffRow): Tariff {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    displayOrder: row.displayOrder,
    isActive: row.isActive,
    tierLevel: row.tierLevel,
    trafficLimitGb: row.trafficLimitGb,
    deviceLimit: row.deviceLimit,
    devicePriceKopeks: row.devicePriceKopeks,
    maxDeviceLimit: row.maxDeviceLimit,
    allowedSquads: row.allowedSquads,
    serverTrafficLimits: Object.fromEntries(
      Object.entries(row.serverTrafficLimits).map(([uuid, limit]) => [uuid, { trafficLimitGb: limit.traffic_limit_gb ?? 0 }]),
    ),
    periodPrices: row.periodPrices as Record<number, number>,
    isTrialAvailable: row.isTrialAvailable,
    allowTrafficTopup: row.allowTrafficTopup,
    trafficTopupEnabled: row.trafficTopupEnabled,
    trafficTopupPackages: row.trafficTopupPackages as Record<number, number>,
    maxTopupTrafficGb: row.maxTopupTrafficGb,
    isDaily: row.isDaily,
    dailyPriceKopeks: row.dailyPriceKopeks,
    customDaysEnabled: row.customDaysEnabled,
    pricePerDayKopeks: row.pricePerDayKopeks,
    minDays: row.minDays,
    maxDays: row.maxDays,
    customTrafficEnabled: row.customTrafficEnabled,
    trafficPricePerGbKopeks: row.trafficPricePerGbKopeks,
    minTrafficGb: row.minTrafficGb,
    maxTrafficGb: row.maxTrafficGb,
    showInGift: row.showInGift,
    trafficResetMode: row.trafficResetMode,
    externalSquadUuid: row.externalSquadUuid,
    allowedPromoGroupIds: row.promoGroupIds,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export async function findTariffById(db: Db, id: number): Promise<Tariff | null> {
  const [row] = await db.sql<TariffRow>(`SELECT ${COLUMNS} FROM tariffs t WHERE t.id = $1::bigint`, [id]);
  return row ? toTariff(row) : null;
}

/** Keeps the tariff from being deleted until the end of the transaction; its other columns may change meanwhile. */
export async function holdTariffById(db: Db, id: number): Promise<Tariff | null> {
  const [row] = await db.sql<TariffRow>(`SELECT ${COLUMNS} FROM tariffs t WHERE t.id = $1::bigint FOR KEY SHARE OF t`, [id]);
  return row ? toTariff(row) : null;
}

/** For changing or deleting it: waits for purchases that hold it. */
export async function lockTariffById(db: Db, id: number): Promise<Tariff | null> {
  const [row] = await db.sql<TariffRow>(`SELECT ${COLUMNS} FROM tariffs t WHERE t.id = $1::bigint FOR UPDATE OF t`, [id]);
  return row ? toTariff(row) : null;
}

/** All tariffs by (display_order, id). */
export async function listAllTariffs(db: Db, options: { activeOnly: boolean }): Promise<Tariff[]> {
  const rows = await db.sql<TariffRow>(
    `SELECT ${COLUMNS} FROM tariffs t WHERE t.is_active OR NOT $1::boolean ORDER BY t.display_order, t.id`,
    [options.activeOnly],
  );
  return rows.map(toTariff);
}

/** The tariff whose trial flag is on; at most one has it (index `tariffs_one_trial`). It may be inactive. */
export async function findFlaggedTrialTariff(db: Db): Promise<Tariff | null> {
  const [row] = await db.sql<TariffRow>(`SELECT ${COLUMNS} FROM tariffs t WHERE t.is_trial_available`);
  return row ? toTariff(row) : null;
}

/** One instance at a time; readers go on. */
export async function lockTariffTable(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('catalog.default_tariff'))::text AS locked");
}

export async function isTariffTableEmpty(db: Db): Promise<boolean> {
  return (await db.sql('SELECT id FROM tariffs LIMIT 1')).length === 0;
}
