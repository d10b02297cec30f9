import type { Db } from '../../../core/db/db.ts';
import { type PrizeRow, toPrize } from './repo.ts';
import type { PrizeFields, WheelPrize } from './types.ts';

export async function lockPrize(db: Db, id: number): Promise<WheelPrize | null> {
  const [row] = await db.sql<PrizeRow>('SELECT * FROM wheel_prizes WHERE id = $1::bigint FOR UPDATE', [id]);
  return row ? toPrize(row) : null;
}

const COLUMNS = `prize_type, prize_value, display_name, emoji, color, prize_value_kopeks, sort_order, manual_probability, is_active,
  promo_balance_bonus_kopeks, promo_subscription_days, promo_traffic_gb`;
const VALUES = `$1, $2::bigint, $3, $4, $5, $6::bigint, $7::int, $8::float8, $9::boolean, $10::bigint, $11::int, $12::int`;

const valuesOf = (prize: PrizeFields) => [
  prize.prizeType,
  prize.prizeValue,
  prize.displayName,
  prize.emoji,
  prize.color,
  prize.prizeValueKopeks,
  prize.sortOrder,
  prize.manualProbability,
  prize.isActive,
  prize.promoBalanceBonusKopeks,
  prize.promoSubscriptionDays,
  prize.promoTrafficGb,
];

export async function insertPrize(db: Db, prize: PrizeFields, now: Date): Promise<WheelPrize> {
  const [row] = await db.sql<PrizeRow>(
    `INSERT INTO wheel_prizes (${COLUMNS}, config_id, created_at, updated_at)
     VALUES (${VALUES}, 1, $13::timestamptz, $13::timestamptz) RETURNING *`,
    [...valuesOf(prize), now],
  );
  return toPrize(row!);
}

/** Writes the fields of a locked prize. */
export async function updatePrize(db: Db, id: number, prize: PrizeFields, now: Date): Promise<WheelPrize> {
  const [row] = await db.sql<PrizeRow>(
    `UPDATE wheel_prizes SET (${COLUMNS}) = (${VALUES}), updated_at = $13::timestamptz WHERE id = $14::int RETURNING *`,
    [...valuesOf(prize), now, id],
  );
  return toPrize(row!);
}

/** Its spins stay, without it. */
export async function deletePrize(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM wheel_prizes WHERE id = $1::int RETURNING id', [id]);
}

/** The position in the list becomes the order; ids that are no prize are left out of account. */
export async function reorderPrizes(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE wheel_prizes p SET sort_order = (o.at - 1)::int, updated_at = $2::timestamptz
     FROM (SELECT id, min(at) AS at FROM unnest($1::bigint[]) WITH ORDINALITY AS given(id, at) GROUP BY id) o
     WHERE p.id = o.id RETURNING p.id`,
    [ids, now],
  );
}
