import { givenFields } from '../../../core/changes.ts';
import { allColumns, nestedRow, plainRow } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { WheelConfig, WheelConfigChanges, WheelPrize } from './types.ts';

const CONFIG = `SELECT ${allColumns('WheelConfig').of()} FROM wheel_configs WHERE id = 1`;

/** The only row, created when first needed (spec 04 section 13.1). */
export async function readConfig(db: Db, now: Date): Promise<WheelConfig> {
  const [known] = await db.sql<WheelConfig>(CONFIG);
  if (known) return known;
  await db.prisma.wheelConfig.createMany({ data: [{ id: 1, createdAt: now, updatedAt: now }], skipDuplicates: true });
  const [created] = await db.sql<WheelConfig>(CONFIG);
  return created!;
}

/** Locks the row for a change. */
export async function lockConfig(db: Db, now: Date): Promise<WheelConfig> {
  await readConfig(db, now);
  const [row] = await db.sql<WheelConfig>(`${CONFIG} FOR UPDATE`);
  return row!;
}

/** Writes the given fields. */
export async function updateConfig(db: Db, changes: WheelConfigChanges, now: Date): Promise<WheelConfig> {
  const row = await db.prisma.wheelConfig.update({ where: { id: 1 }, data: { ...givenFields(changes), updatedAt: now } });
  return plainRow('WheelConfig', row);
}

export const PRIZE = allColumns('WheelPrize');

/** In the order of the wheel. */
export function listPrizes(db: Db, { activeOnly }: { activeOnly: boolean }): Promise<WheelPrize[]> {
  return db.sql<WheelPrize>(
    `SELECT ${PRIZE.of()} FROM wheel_prizes WHERE config_id = 1 AND (is_active OR NOT $1::boolean) ORDER BY sort_order, id`,
    [activeOnly],
  );
}

/** The wheel, its active prizes in the order of the wheel, and the spins of a user since a moment. */
export async function readWheelFor(
  db: Db,
  userId: number,
  { now, since }: { now: Date; since: Date },
): Promise<{ config: WheelConfig; prizes: WheelPrize[]; spinsToday: number }> {
  const [row] = await db.sql<WheelConfig & { prizes: object[]; spinsToday: number }>(
    `SELECT ${allColumns('WheelConfig').of('c')},
       COALESCE((SELECT json_agg(p ORDER BY p.sort_order, p.id) FROM wheel_prizes p WHERE p.config_id = 1 AND p.is_active), '[]') AS prizes,
       (SELECT count(*)::int FROM wheel_spins w WHERE w.user_id = $1::int AND w.created_at >= $2::timestamptz) AS spins_today
     FROM wheel_configs c WHERE c.id = 1`,
    [userId, since],
  );
  // Without a row of the wheel there is no prize and no spin either.
  if (!row) return { config: await readConfig(db, now), prizes: [], spinsToday: 0 };
  const { prizes, spinsToday, ...config } = row;
  return { config, prizes: prizes.map((prize) => nestedRow('WheelPrize', prize)), spinsToday };
}
