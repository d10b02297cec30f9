import type { Db } from '../../../core/db/db.ts';
import { countPromocodeSql, setDiscountSourceSql } from '../../identity/promo-account.ts';
import type { PersonalDiscount } from './types.ts';

/** The user who activates a code; the row is locked. */
export interface Redeemer {
  language: string;
  /** Kopeks. */
  balanceKopeks: number;
  hasHadPaid: boolean;
  discount: PersonalDiscount;
}

/** Locks the user's row. Null when there is none. */
export async function lockRedeemer(db: Db, userId: number): Promise<Redeemer | null> {
  const [row] = await db.sql<{
    language: string;
    balanceKopeks: number;
    hasHadPaidSubscription: boolean;
    percent: number;
    source: string | null;
    expiresAt: Date | null;
  }>(
    `SELECT language, balance_kopeks, has_had_paid_subscription, promo_offer_discount_percent AS percent,
       promo_offer_discount_source AS source, promo_offer_discount_expires_at AS expires_at
     FROM users WHERE id = $1::bigint FOR NO KEY UPDATE`,
    [userId],
  );
  if (!row) return null;
  return {
    language: row.language,
    balanceKopeks: row.balanceKopeks,
    hasHadPaid: row.hasHadPaidSubscription,
    discount: { percent: row.percent, source: row.source, expiresAt: row.expiresAt },
  };
}

/** The discount as it is stored, expired or not. Null for an unknown user. */
export async function findDiscount(db: Db, userId: number): Promise<PersonalDiscount | null> {
  const [row] = await db.sql<PersonalDiscount>(
    `SELECT promo_offer_discount_percent AS percent, promo_offer_discount_source AS source,
       promo_offer_discount_expires_at AS expires_at FROM users WHERE id = $1::int`,
    [userId],
  );
  return row ?? null;
}

/** Whether the user has used this code, and how many codes were activated since a moment. */
export async function countActivations(
  db: Db,
  userId: number,
  promocodeId: number,
  since: Date,
): Promise<{ hasUsedCode: boolean; recent: number }> {
  const [row] = await db.sql<{ hasUsed: boolean; recent: number }>(
    `SELECT EXISTS (SELECT 1 FROM promocode_uses WHERE user_id = $1::int AND promocode_id = $2::int) AS has_used,
       (SELECT count(*)::int FROM promocode_activations WHERE user_id = $1::int AND activated_at > $3::timestamptz) AS recent`,
    [userId, promocodeId, since],
  );
  return { hasUsedCode: row!.hasUsed, recent: row!.recent };
}

/**
 * Counts one use of the code, if one remains (spec 04 section 7.5).
 * @returns the text of the code, which cannot change until the end of the transaction but may have changed since the code was read;
 * null = no use remains
 */
export async function takeUse(db: Db, promocodeId: number): Promise<string | null> {
  const [row] = await db.sql<{ code: string }>(
    `UPDATE promocodes SET current_uses = current_uses + 1 WHERE id = $1::int AND current_uses < max_uses AND is_active
     RETURNING code`,
    [promocodeId],
  );
  return row?.code ?? null;
}

/** Inserts the use row and the row of the append-only log, and updates the user. */
export async function recordUse(
  db: Db,
  use: { userId: number; promocodeId: number; code: string; countsAsPaid: boolean; now: Date },
): Promise<void> {
  await db.sql(
    `WITH used AS (INSERT INTO promocode_uses (promocode_id, user_id, used_at) VALUES ($2::int, $1::int, $5::timestamptz)),
       logged AS (INSERT INTO promocode_activations (user_id, code, activated_at) VALUES ($1::int, $3, $5::timestamptz))
     ${countPromocodeSql({ userId: '$1::int', countsAsPaid: '$4::boolean', now: '$5::timestamptz' })}`,
    [use.userId, use.promocodeId, use.code, use.countsAsPaid, use.now],
  );
}

/** Users with a discount of a code, found by the uses of the code, which are indexed, not by the text on every user. */
const DISCOUNTED_USERS = `SELECT u.id FROM users u JOIN promocode_uses x ON x.user_id = u.id
  WHERE x.promocode_id = $1::int AND u.promo_offer_discount_source = $2`;

/** Locks the users who have a discount of this code, in the order of their ids. @returns how many, `limit` at most */
export async function lockDiscountedUsers(db: Db, promocodeId: number, source: string, limit: number): Promise<number> {
  const [row] = await db.sql<{ n: number }>(
    `SELECT count(*)::int AS n FROM (${DISCOUNTED_USERS} ORDER BY u.id LIMIT $3::int FOR NO KEY UPDATE OF u) locked`,
    [promocodeId, source, limit],
  );
  return row!.n;
}

/** Updates the source of discounts to the new text of their code. */
export async function renameSource(
  db: Db,
  promocodeId: number,
  { from, to, now }: { from: string; to: string; now: Date },
): Promise<void> {
  await db.sql(
    `WITH locked AS MATERIALIZED (${DISCOUNTED_USERS} ORDER BY u.id FOR NO KEY UPDATE OF u),
       named AS (${setDiscountSourceSql({ users: 'locked', source: '$3', now: '$4::timestamptz' })})
     SELECT count(*)::int AS n FROM named`,
    [promocodeId, from, to, now],
  );
}

/** Deletes a use and decrements the counter of the code. @returns the group of the code; null when the user has not used it */
export async function deleteUse(db: Db, userId: number, code: string): Promise<{ promoGroupId: number | null } | null> {
  const [row] = await db.sql<{ promoGroupId: number | null }>(
    `WITH removed AS (DELETE FROM promocode_uses x USING promocodes p
         WHERE x.promocode_id = p.id AND p.code = $2 AND x.user_id = $1::int RETURNING p.id)
     UPDATE promocodes SET current_uses = greatest(0, current_uses - 1) FROM removed WHERE promocodes.id = removed.id
     RETURNING promocodes.promo_group_id`,
    [userId, code],
  );
  return row ? { promoGroupId: row.promoGroupId } : null;
}
