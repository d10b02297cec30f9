import type { Db } from '../../core/db/db.ts';
import { earnedGroupSql } from '../identity/promo-account.ts';
import { findTotalSpent } from './repo.ts';

export interface SpendingUser {
  /** Kopeks of completed purchases. */
  spentKopeks: number;
  primaryGroupId: number | null;
}

/** Locks the user, which waits for the purchase that is being recorded. Null for an unknown user. */
export async function lockSpender(db: Db, userId: number): Promise<SpendingUser | null> {
  const [user] = await db.sql<{ promoGroupId: number | null }>(
    'SELECT promo_group_id FROM users WHERE id = $1::int FOR NO KEY UPDATE',
    [userId],
  );
  return user ? { spentKopeks: await findTotalSpent(db, userId), primaryGroupId: user.promoGroupId } : null;
}

/** The group with the largest threshold that the amount reaches. */
export async function findGroupForSpending(
  db: Db,
  spentKopeks: number,
): Promise<{ id: number; name: string; threshold: number } | null> {
  const [row] = await db.sql<{ id: number; name: string; threshold: number }>(
    `SELECT id, name, auto_assign_total_spent_kopeks AS threshold FROM promo_groups
     WHERE auto_assign_total_spent_kopeks > 0 AND auto_assign_total_spent_kopeks <= $1::bigint
     ORDER BY auto_assign_total_spent_kopeks DESC, id DESC LIMIT 1 FOR KEY SHARE`,
    [spentKopeks],
  );
  return row ?? null;
}

/** Removes memberships from earlier thresholds and promo codes, and stores the threshold that was reached. */
export async function replaceEarnedGroups(
  db: Db,
  userId: number,
  target: { id: number; threshold: number },
  now: Date,
): Promise<void> {
  await db.sql(
    `WITH removed AS (DELETE FROM user_promo_groups
         WHERE user_id = $1::int AND promo_group_id <> $2::int AND assigned_by IN ('auto', 'promocode'))
     ${earnedGroupSql({ userId: '$1::int', threshold: '$3::bigint', now: '$4::timestamptz' })}`,
    [userId, target.id, target.threshold, now],
  );
}
