import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { isRowId } from '../../core/row-id.ts';

/** A promo group as discounts and visibility need it (spec 04 section 8.1). Percentages 0 to 100, of a period by its days. */
export type PromoGroup = RowOf<typeof PROMO_GROUP>;

export const PROMO_GROUP = columns('PromoGroup', [
  'id',
  'name',
  'isDefault',
  'priority',
  'serverDiscountPercent',
  'trafficDiscountPercent',
  'deviceDiscountPercent',
  'periodDiscounts',
  'applyDiscountsToAddons',
]);

/** The membership with the highest (priority, id), else the group stored on the user (spec 04 section 8.1). */
export async function findPrimaryGroupOf(db: Db, userId: number): Promise<PromoGroup | null> {
  const [row] = await db.sql<PromoGroup>(
    `SELECT ${PROMO_GROUP.of()} FROM promo_groups WHERE id = COALESCE(
       (SELECT g.id FROM user_promo_groups m JOIN promo_groups g ON g.id = m.promo_group_id
        WHERE m.user_id = $1::int ORDER BY g.priority DESC, g.id DESC LIMIT 1),
       (SELECT promo_group_id FROM users WHERE id = $1::int))`,
    [userId],
  );
  return row ?? null;
}

export function listGroups(db: Db): Promise<PromoGroup[]> {
  return db.sql<PromoGroup>(`SELECT ${PROMO_GROUP.of()} FROM promo_groups ORDER BY priority DESC, name, id`);
}

export async function findDefaultGroup(db: Db): Promise<PromoGroup | null> {
  const [row] = await db.sql<PromoGroup>(`SELECT ${PROMO_GROUP.of()} FROM promo_groups WHERE is_default`);
  return row ?? null;
}

/** Those of `ids` that exist, in ascending order. Locked for share until the end of the transaction, so that links to them stay valid. */
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
  return db.prisma.promoGroup.findMany({ select: { id: true, name: true }, orderBy: [{ name: 'asc' }, { id: 'asc' }] });
}

export async function nameOfGroup(db: Db, id: number): Promise<string | null> {
  if (!isRowId(id)) return null;
  const group = await db.prisma.promoGroup.findUnique({ where: { id }, select: { name: true } });
  return group?.name ?? null;
}

/** Groups with a threshold of total spending, lowest first. */
export async function listTiers(db: Db): Promise<{ group: PromoGroup; thresholdKopeks: number }[]> {
  const rows = await db.sql<PromoGroup & { thresholdKopeks: number }>(
    `SELECT ${PROMO_GROUP.of()}, auto_assign_total_spent_kopeks AS threshold_kopeks FROM promo_groups
     WHERE auto_assign_total_spent_kopeks > 0 ORDER BY auto_assign_total_spent_kopeks, id`,
  );
  return rows.map(({ thresholdKopeks, ...group }) => ({ group, thresholdKopeks }));
}

/** Kopeks of completed purchases of a user. */
export async function findTotalSpent(db: Db, userId: number): Promise<number> {
  const [row] = await db.sql<{ spent: number }>('SELECT total_spent_kopeks AS spent FROM user_stats WHERE user_id = $1::int', [
    userId,
  ]);
  return row?.spent ?? 0;
}
