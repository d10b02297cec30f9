import type { Db } from '../../../core/db/db.ts';
import type { WheelConfig, WheelConfigChanges, WheelPrize } from './types.ts';

interface ConfigRow {
  id: number;
  isEnabled: boolean;
  name: string;
  spinCostStars: number;
  spinCostDays: number;
  spinCostStarsEnabled: boolean;
  spinCostDaysEnabled: boolean;
  rtpPercent: number;
  dailySpinLimit: number;
  minSubscriptionDaysForDayPayment: number;
  promoPrefix: string;
  promoValidityDays: number;
  createdAt: Date;
  updatedAt: Date;
}

const toConfig = (row: ConfigRow): WheelConfig => ({
  id: row.id,
  isEnabled: row.isEnabled,
  name: row.name,
  spinCostStars: row.spinCostStars,
  spinCostDays: row.spinCostDays,
  spinCostStarsEnabled: row.spinCostStarsEnabled,
  spinCostDaysEnabled: row.spinCostDaysEnabled,
  rtpPercent: row.rtpPercent,
  dailySpinLimit: row.dailySpinLimit,
  minSubscriptionDaysForDayPayment: row.minSubscriptionDaysForDayPayment,
  promoPrefix: row.promoPrefix,
  promoValidityDays: row.promoValidityDays,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
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
  configId: number;
  prizeType: WheelPrize['prizeType'];
  prizeValue: number;
  displayName: string;
  emoji: string;
  color: string;
  prizeValueKopeks: number;
  sortOrder: number;
  manualProbability: number | null;
  isActive: boolean;
  promoBalanceBonusKopeks: number;
  promoSubscriptionDays: number;
  promoTrafficGb: number;
  createdAt: Date;
  updatedAt: Date;
}

export const toPrize = (row: PrizeRow): WheelPrize => ({
  id: row.id,
  configId: row.configId,
  prizeType: row.prizeType,
  prizeValue: row.prizeValue,
  displayName: row.displayName,
  emoji: row.emoji,
  color: row.color,
  prizeValueKopeks: row.prizeValueKopeks,
  sortOrder: row.sortOrder,
  manualProbability: row.manualProbability,
  isActive: row.isActive,
  promoBalanceBonusKopeks: row.promoBalanceBonusKopeks,
  promoSubscriptionDays: row.promoSubscriptionDays,
  promoTrafficGb: row.promoTrafficGb,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
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
