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
export interface WheelFor {
  config: WheelConfig;
  prizes: WheelPrize[];
  spinsToday: number;
}

/** Reads the wheel together with the locks of a sale; `wheelOf` understands the answer. */
export const wheelReads = (userId: number, since: Date) => ({
  sql: 'wheel_facts($10::int, $11::timestamptz)',
  values: [userId, since],
});

export async function readWheelFor(db: Db, userId: number, { now, since }: { now: Date; since: Date }): Promise<WheelFor> {
  const [row] = await db.sql<{ facts: unknown }>('SELECT wheel_facts($1::int, $2::timestamptz) AS facts', [userId, since]);
  return wheelOf(db, row!.facts, now);
}

/** @param facts answer of `wheel_facts()` in prisma/sql/wheel.sql; null when there is no row of the wheel, and then there is no prize and no spin either */
export async function wheelOf(db: Db, facts: unknown, now: Date): Promise<WheelFor> {
  if (facts === null) return { config: await readConfig(db, now), prizes: [], spinsToday: 0 };
  const { config, prizes, spins } = facts as { config: object; prizes: object[]; spins: number };
  return {
    config: nestedRow('WheelConfig', config),
    prizes: prizes.map((prize) => nestedRow('WheelPrize', prize)),
    spinsToday: spins,
  };
}
