import type { Db } from '../../../core/db/db.ts';
import { fullName } from '../../identity/rules.ts';
import type { Promocode, PromocodeDetails, PromocodeType, PromocodeUse, PromocodeValues } from './types.ts';

interface PromocodeRow {
  id: number;
  code: string;
  type: PromocodeType;
  balanceBonusKopeks: number;
  subscriptionDays: number;
  maxUses: number;
  currentUses: number;
  validFrom: Date;
  validUntil: Date | null;
  isActive: boolean;
  firstPurchaseOnly: boolean;
  promoGroupId: number | null;
  createdBy: number | null;
  createdAt: Date;
  updatedAt: Date;
}

function toPromocode(row: PromocodeRow): Promocode {
  return {
    id: row.id,
    code: row.code,
    type: row.type,
    balanceBonusKopeks: row.balanceBonusKopeks,
    subscriptionDays: row.subscriptionDays,
    maxUses: row.maxUses,
    currentUses: row.currentUses,
    validFrom: row.validFrom,
    validUntil: row.validUntil,
    isActive: row.isActive,
    firstPurchaseOnly: row.firstPurchaseOnly,
    promoGroupId: row.promoGroupId,
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export interface PromocodeFilter {
  /** null = both. */
  isActive: boolean | null;
  limit: number;
  offset: number;
}

/** Newest first. Only a filter that is set stands in the statement, so that each has a plan of its own. */
export async function listCodes(db: Db, filter: PromocodeFilter): Promise<{ items: Promocode[]; total: number }> {
  const where = filter.isActive === null ? '' : `WHERE is_active = ${filter.isActive ? 'true' : 'false'}`;
  const [rows, [count]] = await Promise.all([
    db.sql<PromocodeRow>(`SELECT * FROM promocodes ${where} ORDER BY created_at DESC, id DESC LIMIT $1::int OFFSET $2::bigint`, [
      filter.limit,
      filter.offset,
    ]),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM promocodes ${where}`),
  ]);
  return { items: rows.map(toPromocode), total: count!.total };
}

export async function findCodeById(db: Db, id: number): Promise<Promocode | null> {
  const [row] = await db.sql<PromocodeRow>('SELECT * FROM promocodes WHERE id = $1::bigint', [id]);
  return row ? toPromocode(row) : null;
}

/** @param code as `normaliseCode` makes it */
export async function findCodeByText(db: Db, code: string): Promise<Promocode | null> {
  const [row] = await db.sql<PromocodeRow>('SELECT * FROM promocodes WHERE code = $1', [code]);
  return row ? toPromocode(row) : null;
}

export async function lockCode(db: Db, id: number): Promise<Promocode | null> {
  const [row] = await db.sql<PromocodeRow>('SELECT * FROM promocodes WHERE id = $1::bigint FOR UPDATE', [id]);
  return row ? toPromocode(row) : null;
}

interface UseRow {
  id: number;
  userId: number;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  messengerId: number | null;
  email: string | null;
  usedAt: Date;
}

function toUse(row: UseRow): PromocodeUse {
  const user = { ...row, id: row.userId, firstName: row.firstName, lastName: row.lastName, messengerId: row.messengerId };
  return {
    id: row.id,
    userId: row.userId,
    username: row.username,
    fullName: fullName(user),
    messengerId: row.messengerId,
    usedAt: row.usedAt,
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
      `SELECT p.id, p.user_id, p.used_at, u.username, u.first_name, u.last_name, u.messenger_id, u.email
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
  const [row] = await db.sql<PromocodeRow>(
    `INSERT INTO promocodes (code, type, balance_bonus_kopeks, subscription_days, max_uses, valid_from, valid_until, is_active,
       first_purchase_only, promo_group_id, created_by, created_at, updated_at)
     VALUES ($1, $2, $3::bigint, $4::int, $5::int, $6::timestamptz, $7::timestamptz, $8::boolean, $9::boolean, $10::int, $11::int,
       $12::timestamptz, $12::timestamptz)
     ON CONFLICT (code) DO NOTHING RETURNING *`,
    [...parametersOf(values), createdBy, now],
  );
  return row ? toPromocode(row) : null;
}

export async function updateCode(db: Db, id: number, values: PromocodeValues, now: Date): Promise<Promocode> {
  const [row] = await db.sql<PromocodeRow>(
    `UPDATE promocodes SET code = $1, type = $2, balance_bonus_kopeks = $3::bigint, subscription_days = $4::int, max_uses = $5::int,
       valid_from = $6::timestamptz, valid_until = $7::timestamptz, is_active = $8::boolean, first_purchase_only = $9::boolean,
       promo_group_id = $10::int, updated_at = $11::timestamptz
     WHERE id = $12::int RETURNING *`,
    [...parametersOf(values), now, id],
  );
  return toPromocode(row!);
}

function parametersOf(values: PromocodeValues): unknown[] {
  return [
    values.code,
    values.type,
    values.balanceBonusKopeks,
    values.subscriptionDays,
    values.maxUses,
    values.validFrom,
    values.validUntil,
    values.isActive,
    values.firstPurchaseOnly,
    values.promoGroupId,
  ];
}

/** Its uses go with it; a spin that won it stays and forgets it: both are foreign keys. */
export async function deleteCode(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM promocodes WHERE id = $1::int RETURNING id', [id]);
}

/** Held until the end of the transaction, so that a link to it cannot break. */
export async function holdUser(db: Db, userId: number): Promise<boolean> {
  return (await db.sql('SELECT id FROM users WHERE id = $1::bigint FOR KEY SHARE', [userId])).length > 0;
}
