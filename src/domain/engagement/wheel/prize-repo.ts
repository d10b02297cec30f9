import { plainRow } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { PRIZE } from './repo.ts';
import type { PrizeFields, WheelPrize } from './types.ts';

export async function lockPrize(db: Db, id: number): Promise<WheelPrize | null> {
  const [row] = await db.sql<WheelPrize>(`SELECT ${PRIZE.of()} FROM wheel_prizes WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ?? null;
}

export async function insertPrize(db: Db, prize: PrizeFields, now: Date): Promise<WheelPrize> {
  const data = { ...prize, configId: 1, createdAt: now, updatedAt: now };
  return plainRow('WheelPrize', await db.prisma.wheelPrize.create({ data }));
}

/** Writes fields of a locked prize. */
export async function updatePrize(db: Db, id: number, changes: Partial<PrizeFields>, now: Date): Promise<WheelPrize> {
  const row = await db.prisma.wheelPrize.update({ where: { id }, data: { ...changes, updatedAt: now } });
  return plainRow('WheelPrize', row);
}

/** Its spins stay, without the prize. */
export async function deletePrize(db: Db, id: number): Promise<void> {
  await db.prisma.wheelPrize.delete({ where: { id }, select: { id: true } });
}

/** The position in the list becomes the order; unknown ids are ignored. */
export async function reorderPrizes(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE wheel_prizes p SET sort_order = (o.at - 1)::int, updated_at = $2::timestamptz
     FROM (SELECT id, min(at) AS at FROM unnest($1::bigint[]) WITH ORDINALITY AS given(id, at) GROUP BY id) o
     WHERE p.id = o.id RETURNING p.id`,
    [ids, now],
  );
}
