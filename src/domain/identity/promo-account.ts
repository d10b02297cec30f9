import type { Db } from '../../core/db/db.ts';

/**
 * Promo fields of an account: personal discount, used codes, primary promo group. Functions that end in `Sql` give one part of a
 * statement that changes other rows with it; they take the texts of its parameters, or the name of its list of users (`id`).
 */

/**
 * Sets the personal discount of a locked user. Percent 0 clears its three fields: somebody took it back or gave it up, and no open invoice
 * reserves it any more (spec 10 M3).
 */
export async function setDiscount(
  db: Db,
  userId: number,
  discount: { percent: number; source: string | null; expiresAt: Date | null },
  now: Date,
): Promise<void> {
  await db.sql(
    `UPDATE users SET promo_offer_discount_percent = $2::int, promo_offer_discount_source = $3::text,
       promo_offer_discount_expires_at = $4::timestamptz, updated_at = $5::timestamptz WHERE id = $1::int RETURNING id`,
    [userId, discount.percent, discount.source, discount.expiresAt, now],
  );
  if (discount.percent === 0) await db.sql('SELECT release_offer($1::int) AS released', [userId]);
}

/** SQL that counts a used promo code; `countsAsPaid` makes the user one who had a paid subscription. */
export function countPromocodeSql({ userId, countsAsPaid, now }: { userId: string; countsAsPaid: string; now: string }): string {
  return `UPDATE users SET used_promocodes = used_promocodes + 1, has_had_paid_subscription = has_had_paid_subscription OR ${countsAsPaid},
       updated_at = ${now} WHERE id = ${userId} RETURNING id`;
}

/** SQL that names another source of the discount of users whose rows are locked. */
export function setDiscountSourceSql({ users, source, now }: { users: string; source: string; now: string }): string {
  return `UPDATE users u SET promo_offer_discount_source = ${source}, updated_at = ${now} FROM ${users} WHERE u.id = ${users}.id
         RETURNING 1`;
}

/** SQL that removes the discount of users whose rows are locked. */
export function clearDiscountSql({ users, now }: { users: string; now: string }): string {
  return `UPDATE users u SET promo_offer_discount_percent = 0, promo_offer_discount_source = NULL,
           promo_offer_discount_expires_at = NULL, updated_at = ${now} FROM ${users} WHERE u.id = ${users}.id RETURNING u.id`;
}

/** SQL that stores the threshold in kopeks by which a user got a promo group; it never decreases. */
export function earnedGroupSql({ userId, threshold, now }: { userId: string; threshold: string; now: string }): string {
  return `UPDATE users SET auto_promo_group_assigned = true, updated_at = ${now},
       auto_promo_group_threshold_kopeks = greatest(auto_promo_group_threshold_kopeks, ${threshold})
     WHERE id = ${userId} RETURNING id`;
}

/**
 * Sets the stored primary group of these users to the membership with the highest (priority, id). A user without
 * memberships keeps the stored group, unless it is `removedGroupId`, which the default group replaces.
 */
export async function syncPrimaryGroups(
  db: Db,
  userIds: readonly number[],
  removedGroupId: number | null,
  now: Date,
): Promise<void> {
  await db.sql(
    `UPDATE users u SET promo_group_id = s.primary_id, updated_at = $3::timestamptz FROM (
       SELECT x.id, coalesce(
         (SELECT g.id FROM user_promo_groups m JOIN promo_groups g ON g.id = m.promo_group_id
          WHERE m.user_id = x.id ORDER BY g.priority DESC, g.id DESC LIMIT 1),
         CASE WHEN x.promo_group_id = $2::int THEN (SELECT id FROM promo_groups WHERE is_default) ELSE x.promo_group_id END
       ) AS primary_id FROM users x WHERE x.id = ANY($1::int[])) s
     WHERE u.id = s.id AND u.promo_group_id IS DISTINCT FROM s.primary_id RETURNING u.id`,
    [userIds, removedGroupId, now],
  );
}

/** The offer that a personal discount came from, as a subquery with `id` and `effect_type`; none for a promo code's. */
export function claimedOfferSql(userId: string, source: string): string {
  return `(SELECT id, effect_type FROM discount_offers
    WHERE user_id = ${userId} AND notification_type = ${source} AND claimed_at IS NOT NULL ORDER BY claimed_at DESC, id DESC LIMIT 1)`;
}
