import { allColumns, columns, nestedRow, plainRow, type RowOf, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import { countPromocodeSql, setDiscountSourceSql } from '../../identity/promo-account.ts';
import { fullName } from '../../identity/rules.ts';
import type { PersonalDiscount, Promocode, PromocodeDetails, PromocodeUse, PromocodeValues } from './types.ts';

const CODE = allColumns('Promocode').of();

export interface PromocodeFilter {
  /** Null and absent = both. */
  isActive?: boolean | null | undefined;
  limit: number;
  offset: number;
}

/** Newest first. */
export async function listCodes(db: Db, filter: PromocodeFilter): Promise<{ items: Promocode[]; total: number }> {
  const where = typeof filter.isActive === 'boolean' ? { isActive: filter.isActive } : {};
  const [rows, total] = await Promise.all([
    db.prisma.promocode.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: filter.limit,
      skip: filter.offset,
    }),
    db.prisma.promocode.count({ where }),
  ]);
  return { items: rows.map((row) => plainRow('Promocode', row)), total };
}

export async function findCodeById(db: Db, id: number): Promise<Promocode | null> {
  if (!isRowId(id)) return null;
  const row = await db.prisma.promocode.findUnique({ where: { id } });
  return row && plainRow('Promocode', row);
}

/** @param code as `normaliseCode` returns it */
export async function findCodeByText(db: Db, code: string): Promise<Promocode | null> {
  const [row] = await db.sql<Promocode>(`SELECT ${CODE} FROM promocodes WHERE code = $1`, [code]);
  return row ?? null;
}

export async function lockCode(db: Db, id: number): Promise<Promocode | null> {
  const [row] = await db.sql<Promocode>(`SELECT ${CODE} FROM promocodes WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ?? null;
}

const USER = columns('User', ['messengerId', 'username', 'firstName', 'lastName', 'email']);

type UseRow = Pick<Rows['PromocodeUse'], 'id' | 'userId' | 'usedAt'> & RowOf<typeof USER>;

function toUse({ id, userId, usedAt, ...user }: UseRow): PromocodeUse {
  return {
    id,
    userId,
    usedAt,
    userUsername: user.username,
    userFullName: fullName({ ...user, id: userId }),
    userMessengerId: user.messengerId,
  };
}

/** @param since counts `todayUses` from here */
export async function readUses(db: Db, id: number, since: Date): Promise<Omit<PromocodeDetails, 'promocode'>> {
  const [[counts], rows] = await Promise.all([
    db.sql<{ total: number; today: number }>(
      `SELECT count(*)::int AS total, count(*) FILTER (WHERE used_at >= $2::timestamptz)::int AS today
       FROM promocode_uses WHERE promocode_id = $1::int`,
      [id, since],
    ),
    db.sql<UseRow>(
      `SELECT p.id, p.user_id, p.used_at, ${USER.of('u')}
       FROM promocode_uses p JOIN users u ON u.id = p.user_id WHERE p.promocode_id = $1::int
       ORDER BY p.used_at DESC, p.id DESC LIMIT 10`,
      [id],
    ),
  ]);
  return { totalUses: counts!.total, todayUses: counts!.today, recentUses: rows.map(toUse) };
}

/** @returns null when the code's text is taken */
export async function insertCode(
  db: Db,
  values: PromocodeValues,
  createdBy: number | null,
  now: Date,
): Promise<Promocode | null> {
  const data = { ...valuesOf(values), createdBy, createdAt: now, updatedAt: now };
  const [row] = await db.prisma.promocode.createManyAndReturn({ data: [data], skipDuplicates: true });
  return row ? plainRow('Promocode', row) : null;
}

/** @throws a unique violation of `code` when another code has the text */
export async function updateCode(db: Db, id: number, values: PromocodeValues, now: Date): Promise<Promocode> {
  const row = await db.prisma.promocode.update({ where: { id }, data: { ...valuesOf(values), updatedAt: now } });
  return plainRow('Promocode', row);
}

/** The columns that may be set; other properties of the object are dropped. */
function valuesOf(values: PromocodeValues): PromocodeValues {
  const { code, type, balanceBonusKopeks, subscriptionDays, maxUses, validFrom, validUntil } = values;
  const { isActive, firstPurchaseOnly, promoGroupId } = values;
  return {
    ...{ code, type, balanceBonusKopeks, subscriptionDays, maxUses, validFrom, validUntil },
    ...{ isActive, firstPurchaseOnly, promoGroupId },
  };
}

/** Deletes also its uses; a spin that won the code stays without it: both by foreign keys. */
export async function deleteCode(db: Db, id: number): Promise<void> {
  await db.prisma.promocode.delete({ where: { id }, select: { id: true } });
}

/** Whether the user exists; locked for share until the end of the transaction, so that a link to it stays valid. */
export async function lockUserForShare(db: Db, userId: number): Promise<boolean> {
  return (await db.sql('SELECT id FROM users WHERE id = $1::bigint FOR KEY SHARE', [userId])).length > 0;
}

/** The user who activates a code; the row is locked. */
export interface Redeemer {
  language: string;
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

/**
 * Reads a code together with the locks of a sale; `codeFactsOf` understands the answer.
 * @param code as `normaliseCode` returns it
 */
export const codeReads = (userId: number, code: string, since: Date) => ({
  sql: 'promocode_facts($10::int, $11::text, $12::timestamptz)',
  values: [userId, code, since],
});

/** @param facts answer of `promocode_facts()` in prisma/sql/promocodes.sql. Null when there is no such code. */
export function codeFactsOf(facts: unknown) {
  if (facts === null) return null;
  const json = facts as { promocode: object; has_used_code: boolean; activations_today: number };
  return {
    promocode: nestedRow('Promocode', json.promocode),
    hasUsedCode: json.has_used_code,
    activationsToday: json.activations_today,
  };
}

/**
 * Counts one use of the code, if one remains (spec 04 section 7.5), and then inserts the use and the row of the append-only log, and
 * updates the user.
 * @returns the text of the code, which cannot change until the end of the transaction but may have changed since the code was read;
 * null = no use remains, and nothing was written
 */
export async function takeUse(
  db: Db,
  use: { userId: number; promocodeId: number; countsAsPaid: boolean; now: Date },
): Promise<string | null> {
  const [row] = await db.sql<{ code: string }>(
    `WITH taken AS (UPDATE promocodes SET current_uses = current_uses + 1
         WHERE id = $2::int AND current_uses < max_uses AND is_active RETURNING id, code),
       used AS (INSERT INTO promocode_uses (promocode_id, user_id, used_at) SELECT id, $1::int, $4::timestamptz FROM taken),
       logged AS (INSERT INTO promocode_activations (user_id, code, activated_at) SELECT $1::int, code, $4::timestamptz FROM taken),
       counted AS (${countPromocodeSql({ userId: '(SELECT $1::int FROM taken)', countsAsPaid: '$3::boolean', now: '$4::timestamptz' })})
     SELECT code FROM taken`,
    [use.userId, use.promocodeId, use.countsAsPaid, use.now],
  );
  return row?.code ?? null;
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
