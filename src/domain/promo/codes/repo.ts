import { allColumns, columns, plainRow, type RowOf, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import { fullName } from '../../identity/rules.ts';
import type { Promocode, PromocodeDetails, PromocodeUse, PromocodeValues } from './types.ts';

export const CODE = allColumns('Promocode').of();

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
