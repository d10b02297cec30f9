import type { Db } from '../../../core/db/db.ts';
import type { HeldDiscount } from './types.ts';

/** The user who activates, with the row locked. */
export interface Redeemer {
  language: string;
  /** Kopeks. */
  balanceKopeks: number;
  hasHadPaid: boolean;
  discount: HeldDiscount;
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

/** The discount as it is stored, run out or not. Null for an unknown user. */
export async function findDiscount(db: Db, userId: number): Promise<HeldDiscount | null> {
  const [row] = await db.sql<HeldDiscount>(
    `SELECT promo_offer_discount_percent AS percent, promo_offer_discount_source AS source,
       promo_offer_discount_expires_at AS "expiresAt" FROM users WHERE id = $1::int`,
    [userId],
  );
  return row ?? null;
}

/** Whether the user holds this code, and how many codes were activated since a moment. */
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
 * Takes one use of the code, if one is left (spec 04 section 7.5).
 * @returns what the code is called from here to the end of the transaction, for it may have been renamed since it was found; null = none
 * was left
 */
export async function takeUse(db: Db, promocodeId: number): Promise<string | null> {
  const [row] = await db.sql<{ code: string }>(
    `UPDATE promocodes SET current_uses = current_uses + 1 WHERE id = $1::int AND current_uses < max_uses AND is_active
     RETURNING code`,
    [promocodeId],
  );
  return row?.code ?? null;
}

/** The use row, the line in the append-only log and the marks on the user. */
export async function recordUse(
  db: Db,
  use: { userId: number; promocodeId: number; code: string; countsAsPaid: boolean; now: Date },
): Promise<void> {
  await db.sql(
    `WITH used AS (INSERT INTO promocode_uses (promocode_id, user_id, used_at) VALUES ($2::int, $1::int, $5::timestamptz)),
       logged AS (INSERT INTO promocode_activations (user_id, code, activated_at) VALUES ($1::int, $3, $5::timestamptz))
     UPDATE users SET used_promocodes = used_promocodes + 1, has_had_paid_subscription = has_had_paid_subscription OR $4::boolean,
       updated_at = $5::timestamptz WHERE id = $1::int RETURNING id`,
    [use.userId, use.promocodeId, use.code, use.countsAsPaid, use.now],
  );
}

/** Sets the personal discount, or with percent 0 clears its three fields. */
export async function setDiscount(db: Db, userId: number, discount: HeldDiscount, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET promo_offer_discount_percent = $2::int, promo_offer_discount_source = $3::text,
       promo_offer_discount_expires_at = $4::timestamptz, updated_at = $5::timestamptz WHERE id = $1::int RETURNING id`,
    [userId, discount.percent, discount.source, discount.expiresAt, now],
  );
}

/** Whoever holds a discount of a code: found by the uses of the code, which are indexed, not by the text on every user. */
const HOLDERS = `SELECT u.id FROM users u JOIN promocode_uses x ON x.user_id = u.id
  WHERE x.promocode_id = $1::int AND u.promo_offer_discount_source = $2`;

/** Locks the users who hold a discount of this code, in the order of their ids. @returns how many; no more than the limit are locked */
export async function lockHolders(db: Db, promocodeId: number, source: string, limit: number): Promise<number> {
  const [row] = await db.sql<{ n: number }>(
    `SELECT count(*)::int AS n FROM (${HOLDERS} ORDER BY u.id LIMIT $3::int FOR NO KEY UPDATE OF u) held`,
    [promocodeId, source, limit],
  );
  return row!.n;
}

/** Lets the discounts of a code name it as it is called now. */
export async function renameSource(
  db: Db,
  promocodeId: number,
  { from, to, now }: { from: string; to: string; now: Date },
): Promise<void> {
  await db.sql(
    `WITH held AS MATERIALIZED (${HOLDERS} ORDER BY u.id FOR NO KEY UPDATE OF u),
       named AS (UPDATE users u SET promo_offer_discount_source = $3, updated_at = $4::timestamptz FROM held WHERE u.id = held.id
         RETURNING 1)
     SELECT count(*)::int AS n FROM named`,
    [promocodeId, from, to, now],
  );
}

/** Gives a use back: the row goes and the count with it, or neither. @returns the group of the code, null when it has none */
export async function giveUseBack(db: Db, userId: number, code: string): Promise<{ promoGroupId: number | null } | null> {
  const [row] = await db.sql<{ promoGroupId: number | null }>(
    `WITH gone AS (DELETE FROM promocode_uses x USING promocodes p
         WHERE x.promocode_id = p.id AND p.code = $2 AND x.user_id = $1::int RETURNING p.id)
     UPDATE promocodes SET current_uses = greatest(0, current_uses - 1) FROM gone WHERE promocodes.id = gone.id
     RETURNING promocodes.promo_group_id`,
    [userId, code],
  );
  return row ? { promoGroupId: row.promoGroupId } : null;
}
