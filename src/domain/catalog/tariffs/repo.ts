import type { Db } from '../../../core/db/db.ts';
import type { Tariff, TrafficResetMode } from '../types.ts';

interface TariffRow {
  id: number;
  name: string;
  description: string | null;
  display_order: number;
  is_active: boolean;
  tier_level: number;
  traffic_limit_gb: number;
  device_limit: number;
  device_price_kopeks: number | null;
  max_device_limit: number | null;
  allowed_squads: string[];
  server_traffic_limits: Record<string, { traffic_limit_gb?: number }>;
  period_prices: Record<string, number>;
  is_trial_available: boolean;
  allow_traffic_topup: boolean;
  traffic_topup_enabled: boolean;
  traffic_topup_packages: Record<string, number>;
  max_topup_traffic_gb: number;
  is_daily: boolean;
  daily_price_kopeks: number;
  custom_days_enabled: boolean;
  price_per_day_kopeks: number;
  min_days: number;
  max_days: number;
  custom_traffic_enabled: boolean;
  traffic_price_per_gb_kopeks: number;
  min_traffic_gb: number;
  max_traffic_gb: number;
  show_in_gift: boolean;
  traffic_reset_mode: TrafficResetMode | null;
  external_squad_uuid: string | null;
  promo_group_ids: number[];
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = `t.*, COALESCE((SELECT json_agg(g.promo_group_id ORDER BY g.promo_group_id)
  FROM tariff_promo_groups g WHERE g.tariff_id = t.id), '[]') AS promo_group_ids`;

function toTariff(row: TariffRow): Tariff {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    displayOrder: row.display_order,
    isActive: row.is_active,
    tierLevel: row.tier_level,
    trafficLimitGb: row.traffic_limit_gb,
    deviceLimit: row.device_limit,
    devicePriceKopeks: row.device_price_kopeks,
    maxDeviceLimit: row.max_device_limit,
    allowedSquads: row.allowed_squads,
    serverTrafficLimits: Object.fromEntries(
      Object.entries(row.server_traffic_limits).map(([uuid, limit]) => [uuid, { trafficLimitGb: limit.traffic_limit_gb ?? 0 }]),
    ),
    periodPrices: row.period_prices as Record<number, number>,
    isTrialAvailable: row.is_trial_available,
    allowTrafficTopup: row.allow_traffic_topup,
    trafficTopupEnabled: row.traffic_topup_enabled,
    trafficTopupPackages: row.traffic_topup_packages as Record<number, number>,
    maxTopupTrafficGb: row.max_topup_traffic_gb,
    isDaily: row.is_daily,
    dailyPriceKopeks: row.daily_price_kopeks,
    customDaysEnabled: row.custom_days_enabled,
    pricePerDayKopeks: row.price_per_day_kopeks,
    minDays: row.min_days,
    maxDays: row.max_days,
    customTrafficEnabled: row.custom_traffic_enabled,
    trafficPricePerGbKopeks: row.traffic_price_per_gb_kopeks,
    minTrafficGb: row.min_traffic_gb,
    maxTrafficGb: row.max_traffic_gb,
    showInGift: row.show_in_gift,
    trafficResetMode: row.traffic_reset_mode,
    externalSquadUuid: row.external_squad_uuid,
    allowedPromoGroupIds: row.promo_group_ids,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
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
