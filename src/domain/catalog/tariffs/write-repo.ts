import type { Db } from '../../../core/db/db.ts';
import type { Tariff } from '../types.ts';

/** The columns that the administration writes. */
export type TariffValues = Omit<Tariff, 'id' | 'allowedPromoGroupIds' | 'isTrialAvailable' | 'createdAt' | 'updatedAt'>;

const COLUMNS: { readonly [K in keyof TariffValues]: readonly [column: string, type: string] } = {
  name: ['name', 'text'],
  description: ['description', 'text'],
  displayOrder: ['display_order', 'int'],
  isActive: ['is_active', 'boolean'],
  tierLevel: ['tier_level', 'int'],
  trafficLimitGb: ['traffic_limit_gb', 'int'],
  deviceLimit: ['device_limit', 'int'],
  devicePriceKopeks: ['device_price_kopeks', 'int'],
  maxDeviceLimit: ['max_device_limit', 'int'],
  allowedSquads: ['allowed_squads', 'jsonb'],
  serverTrafficLimits: ['server_traffic_limits', 'jsonb'],
  periodPrices: ['period_prices', 'jsonb'],
  allowTrafficTopup: ['allow_traffic_topup', 'boolean'],
  trafficTopupEnabled: ['traffic_topup_enabled', 'boolean'],
  trafficTopupPackages: ['traffic_topup_packages', 'jsonb'],
  maxTopupTrafficGb: ['max_topup_traffic_gb', 'int'],
  isDaily: ['is_daily', 'boolean'],
  dailyPriceKopeks: ['daily_price_kopeks', 'int'],
  customDaysEnabled: ['custom_days_enabled', 'boolean'],
  pricePerDayKopeks: ['price_per_day_kopeks', 'int'],
  minDays: ['min_days', 'int'],
  maxDays: ['max_days', 'int'],
  customTrafficEnabled: ['custom_traffic_enabled', 'boolean'],
  trafficPricePerGbKopeks: ['traffic_price_per_gb_kopeks', 'int'],
  minTrafficGb: ['min_traffic_gb', 'int'],
  maxTrafficGb: ['max_traffic_gb', 'int'],
  showInGift: ['show_in_gift', 'boolean'],
  trafficResetMode: ['traffic_reset_mode', 'text'],
  externalSquadUuid: ['external_squad_uuid', 'uuid'],
};

/** `[column, placeholder type, value]` of the given values; undefined ones are left out. */
function columnsOf(values: Partial<TariffValues>): [string, string, unknown][] {
  return Object.entries(values).flatMap(([key, value]): [string, string, unknown][] => {
    if (value === undefined) return [];
    const [column, type] = COLUMNS[key as keyof TariffValues];
    return [[column, type, type === 'jsonb' ? storedJson(key, value) : value]];
  });
}

function storedJson(key: string, value: unknown): string {
  if (key !== 'serverTrafficLimits') return JSON.stringify(value);
  const limits = Object.entries(value as Tariff['serverTrafficLimits']);
  return JSON.stringify(Object.fromEntries(limits.map(([uuid, limit]) => [uuid, { traffic_limit_gb: limit.trafficLimitGb }])));
}

/** @returns the id of the new tariff */
export async function insertTariff(
  db: Db,
  values: Partial<TariffValues> & { name: string },
  options: { isTrialAvailable: boolean; now: Date },
): Promise<number> {
  const columns = columnsOf(values);
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO tariffs (${columns.map(([column]) => column).join(', ')}, is_trial_available, created_at, updated_at)
     VALUES (${columns.map(([, type], index) => `$${index + 3}::${type}`).join(', ')}, $1::boolean, $2::timestamptz, $2::timestamptz)
     RETURNING id`,
    [options.isTrialAvailable, options.now, ...columns.map(([, , value]) => value)],
  );
  return row!.id;
}

export async function updateTariffRow(db: Db, id: number, values: Partial<TariffValues>, now: Date): Promise<void> {
  const columns = columnsOf(values);
  const sets = columns.map(([column, type], index) => `, ${column} = $${index + 3}::${type}`).join('');
  await db.sql(`UPDATE tariffs SET updated_at = $2::timestamptz${sets} WHERE id = $1::int RETURNING id`, [
    id,
    now,
    ...columns.map(([, , value]) => value),
  ]);
}

/** Replaces the groups that may see the tariff. `groupIds` must exist. */
export async function replaceTariffGroups(db: Db, tariffId: number, groupIds: readonly number[]): Promise<void> {
  await db.sql(
    'DELETE FROM tariff_promo_groups WHERE tariff_id = $1::int AND promo_group_id <> ALL($2::int[]) RETURNING tariff_id',
    [tariffId, [...groupIds]],
  );
  if (groupIds.length === 0) return;
  await db.sql(
    `INSERT INTO tariff_promo_groups (tariff_id, promo_group_id) SELECT $1::int, unnest($2::int[])
     ON CONFLICT DO NOTHING RETURNING tariff_id`,
    [tariffId, [...groupIds]],
  );
}

/** @returns the new flag; null when there is no such tariff */
export async function flipTariffActive(db: Db, id: number, now: Date): Promise<boolean | null> {
  const [row] = await db.sql<{ isActive: boolean }>(
    'UPDATE tariffs SET is_active = NOT is_active, updated_at = $2::timestamptz WHERE id = $1::bigint RETURNING is_active',
    [id, now],
  );
  return row?.isActive ?? null;
}

/**
 * Flips the trial flag; switched on it leaves every other tariff. The lock makes two administrators take turns, since clearing one
 * row and setting another would meet the unique index of the flag half-way. In a transaction.
 */
export async function flipTrialFlag(db: Db, id: number, now: Date): Promise<boolean | null> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('catalog.trial_flag'))::text AS locked");
  const [row] = await db.sql<{ isTrialAvailable: boolean }>(
    'SELECT is_trial_available FROM tariffs WHERE id = $1::bigint FOR UPDATE',
    [id],
  );
  if (!row) return null;
  await db.sql(
    `UPDATE tariffs SET is_trial_available = false, updated_at = $2::timestamptz
     WHERE is_trial_available AND (id <> $1::int OR $3::boolean) RETURNING id`,
    [id, now, row.isTrialAvailable],
  );
  if (row.isTrialAvailable) return false;
  await db.sql('UPDATE tariffs SET is_trial_available = true, updated_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
    id,
    now,
  ]);
  return true;
}

/** Places in the order in which `ids` come; unknown ids are passed over. */
export async function orderTariffs(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE tariffs t SET display_order = (p.place - 1)::int, updated_at = $2::timestamptz
     FROM unnest($1::bigint[]) WITH ORDINALITY AS p(id, place) WHERE t.id = p.id RETURNING t.id`,
    [[...new Set(ids)], now],
  );
}

/** In their display order. */
export async function listTariffIds(db: Db): Promise<number[]> {
  return (await db.sql<{ id: number }>('SELECT id FROM tariffs ORDER BY display_order, id')).map((row) => row.id);
}

/** Subscriptions of the tariff: those whose time runs (or that wait for their payment), and all. */
export async function countSubscriptionsOf(db: Db, tariffId: number, now: Date): Promise<{ running: number; all: number }> {
  const [row] = await db.sql<{ running: number; all: number }>(
    `SELECT count(*) FILTER (WHERE status = 'pending' OR (status IN ('active', 'trial', 'limited') AND end_date > $2::timestamptz))::int
       AS running, count(*)::int AS all
     FROM subscriptions WHERE tariff_id = $1::int`,
    [tariffId, now],
  );
  return row!;
}

/** Subscriptions lose the tariff (foreign key SET NULL). */
export async function deleteTariffRow(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM tariffs WHERE id = $1::int RETURNING id', [id]);
}
