import type { Db } from '../../../core/db/db.ts';
import type { PromoGroup } from '../types.ts';

export interface PromoGroupRow {
  id: number;
  name: string;
  is_default: boolean;
  priority: number;
  server_discount_percent: number;
  traffic_discount_percent: number;
  device_discount_percent: number;
  period_discounts: Record<string, number>;
  apply_discounts_to_addons: boolean;
}

export const PROMO_GROUP_COLUMNS = `id, name, is_default, priority, server_discount_percent, traffic_discount_percent,
  device_discount_percent, period_discounts, apply_discounts_to_addons`;

export function toPromoGroup(row: PromoGroupRow): PromoGroup {
  return {
    id: row.id,
    name: row.name,
    isDefault: row.is_default,
    priority: row.priority,
    serverDiscountPercent: row.server_discount_percent,
    trafficDiscountPercent: row.traffic_discount_percent,
    deviceDiscountPercent: row.device_discount_percent,
    periodDiscounts: row.period_discounts as Record<number, number>,
    applyDiscountsToAddons: row.apply_discounts_to_addons,
  };
}

/** The membership with the highest (priority, id), else the group stored on the user (spec 04 section 8.1). */
export async function findPrimaryGroupOf(db: Db, userId: number): Promise<PromoGroup | null> {
  const [row] = await db.sql<PromoGroupRow>(
    `SELECT ${PROMO_GROUP_COLUMNS} FROM promo_groups WHERE id = COALESCE(
       (SELECT g.id FROM user_promo_groups m JOIN promo_groups g ON g.id = m.promo_group_id
        WHERE m.user_id = $1::int ORDER BY g.priority DESC, g.id DESC LIMIT 1),
       (SELECT promo_group_id FROM users WHERE id = $1::int))`,
    [userId],
  );
  return row ? toPromoGroup(row) : null;
}

export async function listGroups(db: Db): Promise<PromoGroup[]> {
  const rows = await db.sql<PromoGroupRow>(`SELECT ${PROMO_GROUP_COLUMNS} FROM promo_groups ORDER BY priority DESC, name, id`);
  return rows.map(toPromoGroup);
}

export async function findDefaultGroup(db: Db): Promise<PromoGroup | null> {
  const [row] = await db.sql<PromoGroupRow>(`SELECT ${PROMO_GROUP_COLUMNS} FROM promo_groups WHERE is_default`);
  return row ? toPromoGroup(row) : null;
}

/** Those of `ids` that exist, in ascending order. Held until the end of the transaction, so that a link to them cannot break. */
export async function lockExistingGroupIds(db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await db.sql<{ id: number }>(
    'SELECT id FROM promo_groups WHERE id = ANY($1::bigint[]) ORDER BY id FOR KEY SHARE',
    [[...new Set(ids)]],
  );
  return rows.map((row) => row.id);
}

/** Every group by name, for choosing. */
export function listGroupNames(db: Db): Promise<{ id: number; name: string }[]> {
  return db.sql<{ id: number; name: string }>('SELECT id, name FROM promo_groups ORDER BY name, id');
}

export async function nameOfGroup(db: Db, id: number): Promise<string | null> {
  const [row] = await db.sql<{ name: string }>('SELECT name FROM promo_groups WHERE id = $1::bigint', [id]);
  return row?.name ?? null;
}
