import type { Db } from '../../core/db/db.ts';
import type { LoyaltyTier } from './loyalty-rules.ts';
import { PROMO_GROUP_COLUMNS, type PromoGroupRow, toPromoGroup } from './promo-group-row.ts';

/** Groups that spending earns, lowest threshold first. */
export async function listTiers(db: Db): Promise<LoyaltyTier[]> {
  const rows = await db.sql<PromoGroupRow & { thresholdKopeks: number }>(
    `SELECT ${PROMO_GROUP_COLUMNS}, auto_assign_total_spent_kopeks AS threshold_kopeks FROM promo_groups
     WHERE auto_assign_total_spent_kopeks > 0 ORDER BY auto_assign_total_spent_kopeks, id`,
  );
  return rows.map((row) => ({ group: toPromoGroup(row), thresholdKopeks: row.thresholdKopeks }));
}

/** Kopeks of completed purchases. */
export async function findTotalSpent(db: Db, userId: number): Promise<number> {
  const [row] = await db.sql<{ spent: number }>('SELECT total_spent_kopeks AS spent FROM user_stats WHERE user_id = $1::int', [
    userId,
  ]);
  return row?.spent ?? 0;
}
