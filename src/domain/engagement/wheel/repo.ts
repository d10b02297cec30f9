import { givenFields } from '../../../core/changes.ts';
import { allColumns, plainRow } from '../../../core/db/columns.ts';
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

export async function countSpinsSince(db: Db, userId: number, since: Date): Promise<number> {
  const [row] = await db.sql<{ n: number }>(
    'SELECT count(*)::int AS n FROM wheel_spins WHERE user_id = $1::int AND created_at >= $2::timestamptz',
    [userId, since],
  );
  return row!.n;
}
