import type { Db } from '../../../core/db/db.ts';
import type { WheelConfig, WheelConfigChanges, WheelPrize } from './types.ts';

interface ConfigRow {
  id: number;
  is_enabled: boolean;
  name: string;
  spin_cost_stars: number;
  spin_cost_days: number;
  spin_cost_stars_enabled: boolean;
  spin_cost_days_enabled: boolean;
  rtp_percent: number;
  daily_spin_limit: number;
  min_subscription_days_for_day_payment: number;
  promo_prefix: string;
  promo_validity_days: number;
  created_at: Date;
  updated_at: Date;
}

const toConfig = (row: ConfigRow): WheelConfig => ({
  id: row.id,
  isEnabled: row.is_enabled,
  name: row.name,
  spinCostStars: row.spin_cost_stars,
  spinCostDays: row.spin_cost_days,
  spinCostStarsEnabled: row.spin_cost_stars_enabled,
  spinCostDaysEnabled: row.spin_cost_days_enabled,
  rtpPercent: row.rtp_percent,
  dailySpinLimit: row.daily_spin_limit,
  minSubscriptionDaysForDayPayment: row.min_subscription_days_for_day_payment,
  promoPrefix: row.promo_prefix,
  promoValidityDays: row.promo_validity_days,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const CONFIG = 'SELECT * FROM wheel_configs WHERE id = 1';

/** The one row, made when first needed (spec 04 section 13.1). */
export async function readConfig(db: Db, now: Date): Promise<WheelConfig> {
  const [known] = await db.sql<ConfigRow>(CONFIG);
  if (known) return toConfig(known);
  await db.sql(
    `INSERT INTO wheel_configs (id, created_at, updated_at) VALUES (1, $1::timestamptz, $1::timestamptz)
     ON CONFLICT DO NOTHING RETURNING id`,
    [now],
  );
  const [made] = await db.sql<ConfigRow>(CONFIG);
  return toConfig(made!);
}

/** Holds the row while it is changed. */
export async function lockConfig(db: Db, now: Date): Promise<WheelConfig> {
  await readConfig(db, now);
  const [row] = await db.sql<ConfigRow>(`${CONFIG} FOR UPDATE`);
  return toConfig(row!);
}

/** Writes what is given, leaves the rest. */
export async function updateConfig(db: Db, changes: WheelConfigChanges, now: Date): Promise<WheelConfig> {
  const [row] = await db.sql<ConfigRow>(
    `UPDATE wheel_configs SET is_enabled = coalesce($1::boolean, is_enabled), name = coalesce($2, name),
       spin_cost_stars = coalesce($3::int, spin_cost_stars), spin_cost_days = coalesce($4::int, spin_cost_days),
       spin_cost_stars_enabled = coalesce($5::boolean, spin_cost_stars_enabled),
       spin_cost_days_enabled = coalesce($6::boolean, spin_cost_days_enabled), rtp_percent = coalesce($7::int, rtp_percent),
       daily_spin_limit = coalesce($8::int, daily_spin_limit),
       min_subscription_days_for_day_payment = coalesce($9::int, min_subscription_days_for_day_payment),
       promo_prefix = coalesce($10, promo_prefix), promo_validity_days = coalesce($11::int, promo_validity_days),
       updated_at = $12::timestamptz
     WHERE id = 1 RETURNING *`,
    [
      changes.isEnabled ?? null,
      changes.name ?? null,
      changes.spinCostStars ?? null,
      changes.spinCostDays ?? null,
      changes.spinCostStarsEnabled ?? null,
      changes.spinCostDaysEnabled ?? null,
      changes.rtpPercent ?? null,
      changes.dailySpinLimit ?? null,
      changes.minSubscriptionDaysForDayPayment ?? null,
      changes.promoPrefix ?? null,
      changes.promoValidityDays ?? null,
      now,
    ],
  );
  return toConfig(row!);
}

export interface PrizeRow {
  id: number;
  config_id: number;
  prize_type: WheelPrize['prizeType'];
  prize_value: number;
  display_name: string;
  emoji: string;
  color: string;
  prize_value_kopeks: number;
  sort_order: number;
  manual_probability: number | null;
  is_active: boolean;
  promo_balance_bonus_kopeks: number;
  promo_subscription_days: number;
  promo_traffic_gb: number;
  created_at: Date;
  updated_at: Date;
}

export const toPrize = (row: PrizeRow): WheelPrize => ({
  id: row.id,
  configId: row.config_id,
  prizeType: row.prize_type,
  prizeValue: row.prize_value,
  displayName: row.display_name,
  emoji: row.emoji,
  color: row.color,
  prizeValueKopeks: row.prize_value_kopeks,
  sortOrder: row.sort_order,
  manualProbability: row.manual_probability,
  isActive: row.is_active,
  promoBalanceBonusKopeks: row.promo_balance_bonus_kopeks,
  promoSubscriptionDays: row.promo_subscription_days,
  promoTrafficGb: row.promo_traffic_gb,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** In the order of the wheel. */
export async function listPrizes(db: Db, { activeOnly }: { activeOnly: boolean }): Promise<WheelPrize[]> {
  const rows = await db.sql<PrizeRow>(
    'SELECT * FROM wheel_prizes WHERE config_id = 1 AND (is_active OR NOT $1::boolean) ORDER BY sort_order, id',
    [activeOnly],
  );
  return rows.map(toPrize);
}

export async function countSpinsSince(db: Db, userId: number, since: Date): Promise<number> {
  const [row] = await db.sql<{ n: number }>(
    'SELECT count(*)::int AS n FROM wheel_spins WHERE user_id = $1::int AND created_at >= $2::timestamptz',
    [userId, since],
  );
  return row!.n;
}
