import type { Db } from '../../../core/db/db.ts';
import type { UserStatus } from '../../identity/types.ts';

/** What a change of an account starts from; the row is locked. */
export interface LockedUser {
  status: UserStatus;
  promoGroupId: number | null;
  commissionPercent: number | null;
  restrictionTopup: boolean;
  restrictionSubscription: boolean;
  restrictionReason: string | null;
  balanceKopeks: number;
  panelUuid: string | null;
}

export async function lockUser(db: Db, userId: number): Promise<LockedUser | null> {
  const [row] = await db.sql<LockedUser>(
    `SELECT status, promo_group_id AS "promoGroupId", referral_commission_percent::float8 AS "commissionPercent",
       restriction_topup AS "restrictionTopup", restriction_subscription AS "restrictionSubscription",
       restriction_reason AS "restrictionReason", balance_kopeks AS "balanceKopeks", vpnpanel_uuid AS "panelUuid"
     FROM users WHERE id = $1::int FOR NO KEY UPDATE`,
    [userId],
  );
  return row ?? null;
}

export async function setStatus(db: Db, userId: number, status: UserStatus, now: Date): Promise<void> {
  await db.sql('UPDATE users SET status = $2, updated_at = $3::timestamptz WHERE id = $1::int RETURNING id', [
    userId,
    status,
    now,
  ]);
}

export async function setRestrictions(
  db: Db,
  userId: number,
  restrictions: Pick<LockedUser, 'restrictionTopup' | 'restrictionSubscription' | 'restrictionReason'>,
  now: Date,
): Promise<void> {
  await db.sql(
    `UPDATE users SET restriction_topup = $2::boolean, restriction_subscription = $3::boolean, restriction_reason = $4::text,
       updated_at = $5::timestamptz WHERE id = $1::int RETURNING id`,
    [userId, restrictions.restrictionTopup, restrictions.restrictionSubscription, restrictions.restrictionReason, now],
  );
}

export async function setCommission(db: Db, userId: number, percent: number | null, now: Date): Promise<void> {
  await db.sql(
    'UPDATE users SET referral_commission_percent = $2::numeric, updated_at = $3::timestamptz WHERE id = $1::int RETURNING id',
    [userId, percent, now],
  );
}

/** The group's name, held until the end of the transaction so that a user cannot be put into a deleted one. */
export async function holdGroupName(db: Db, groupId: number): Promise<string | null> {
  const [row] = await db.sql<{ name: string }>('SELECT name FROM promo_groups WHERE id = $1::bigint FOR KEY SHARE', [groupId]);
  return row?.name ?? null;
}

/** Makes the group the only one of the user, or takes every group away; the primary one follows. */
export async function setOnlyGroup(db: Db, userId: number, groupId: number | null, now: Date): Promise<void> {
  await db.sql(
    `WITH gone AS (DELETE FROM user_promo_groups WHERE user_id = $1::int AND promo_group_id IS DISTINCT FROM $2::int),
       joined AS (INSERT INTO user_promo_groups (user_id, promo_group_id, assigned_by, assigned_at)
         SELECT $1::int, $2::int, 'admin', $3::timestamptz WHERE $2::int IS NOT NULL
         ON CONFLICT (user_id, promo_group_id) DO UPDATE SET assigned_by = 'admin', assigned_at = $3::timestamptz)
     UPDATE users SET promo_group_id = $2::int, updated_at = $3::timestamptz WHERE id = $1::int RETURNING id`,
    [userId, groupId, now],
  );
}
