import { givenFields } from '../../../core/changes.ts';
import { allColumns, columns, nestedRow, plainRow, type RowOf, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { Period, PrizeFields, SpinRecord, WheelConfig, WheelConfigChanges, WheelPrize, WheelStatistics } from './types.ts';

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

const PRIZE = allColumns('WheelPrize');

/** In the order of the wheel. */
export function listPrizes(db: Db, { activeOnly }: { activeOnly: boolean }): Promise<WheelPrize[]> {
  return db.sql<WheelPrize>(
    `SELECT ${PRIZE.of()} FROM wheel_prizes WHERE config_id = 1 AND (is_active OR NOT $1::boolean) ORDER BY sort_order, id`,
    [activeOnly],
  );
}

/** The wheel, its active prizes in the order of the wheel, and the spins of a user since a given time. */
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

/** Balance and language of the user, for a spin read after the row is locked. */
export async function readSpinner(db: Db, userId: number): Promise<{ balanceKopeks: number; language: string } | null> {
  const [row] = await db.sql<{ balanceKopeks: number; language: string }>(
    'SELECT balance_kopeks, language FROM users WHERE id = $1::int',
    [userId],
  );
  return row ?? null;
}

/** A spin with its payment and what was given; the other columns are copied from the prize. */
type NewSpin = Omit<
  Rows['WheelSpin'],
  'id' | 'isApplied' | 'appliedAt' | 'importedAt' | `prize${'Id' | 'Type' | 'Value' | 'ValueKopeks' | 'DisplayName'}`
>;

/** Adds the row at the end of the transaction, together with its events. Inside of a transaction only. */
export function addSpin(db: Db, prize: WheelPrize, spin: NewSpin): void {
  db.effects!.addRow('WheelSpin', {
    ...spin,
    prizeId: prize.id,
    prizeType: prize.prizeType,
    prizeValue: prize.prizeValue,
    prizeValueKopeks: prize.prizeValueKopeks,
    prizeDisplayName: prize.displayName,
    isApplied: true,
    appliedAt: spin.createdAt,
    importedAt: null,
  });
}

const SPIN = columns('WheelSpin', [
  'id',
  'userId',
  'paymentType',
  'paymentAmount',
  'paymentValueKopeks',
  'prizeType',
  'prizeValue',
  'prizeDisplayName',
  'prizeValueKopeks',
  'isApplied',
  'createdAt',
]);

export type SpinRow = RowOf<typeof SPIN>;

const IN_PERIOD = `($1::timestamptz IS NULL OR w.created_at >= $1::timestamptz)
  AND ($2::timestamptz IS NULL OR w.created_at <= $2::timestamptz)`;
const FILTER = `${IN_PERIOD} AND ($3::bigint IS NULL OR w.user_id = $3::bigint)`;

/** Newest first. @param userId null = everybody */
export async function listSpins(
  db: Db,
  filter: Period & { userId: number | null },
  page: { limit: number; offset: number },
): Promise<{ items: SpinRecord[]; total: number }> {
  const values = [filter.from, filter.to, filter.userId];
  const items = await db.sql<SpinRecord>(
    `SELECT ${SPIN.of('w')}, u.username, z.emoji, z.color
     FROM wheel_spins w JOIN users u ON u.id = w.user_id LEFT JOIN wheel_prizes z ON z.id = w.prize_id
     WHERE ${FILTER} ORDER BY w.created_at DESC, w.id DESC LIMIT $4::int OFFSET $5::bigint`,
    [...values, page.limit, page.offset],
  );
  const [count] = await db.sql<{ n: number }>(`SELECT count(*)::int AS n FROM wheel_spins w WHERE ${FILTER}`, values);
  return { items, total: count!.n };
}

const TOP_WINS = 10;

export async function readStatistics(db: Db, { from, to }: Period): Promise<WheelStatistics> {
  const values = [from, to];
  const payments = await db.sql<{ paymentType: string; count: number; revenue: number; payout: number }>(
    `SELECT w.payment_type, count(*)::int AS count, sum(w.payment_value_kopeks)::bigint AS revenue,
       sum(w.prize_value_kopeks)::bigint AS payout
     FROM wheel_spins w WHERE ${IN_PERIOD} GROUP BY w.payment_type ORDER BY w.payment_type`,
    values,
  );
  const prizesDistribution = await db.sql<WheelStatistics['prizesDistribution'][number]>(
    `SELECT w.prize_type, w.prize_display_name AS display_name, count(*)::int AS count,
       sum(w.prize_value_kopeks)::bigint AS total_kopeks
     FROM wheel_spins w WHERE ${IN_PERIOD} GROUP BY w.prize_type, w.prize_display_name
     ORDER BY count DESC, w.prize_type, w.prize_display_name`,
    values,
  );
  const topWins = await db.sql<WheelStatistics['topWins'][number]>(
    `SELECT w.user_id, u.username, w.prize_display_name, w.prize_value_kopeks, w.created_at
     FROM wheel_spins w JOIN users u ON u.id = w.user_id WHERE ${IN_PERIOD} AND w.prize_value_kopeks > 0
     ORDER BY w.prize_value_kopeks DESC, w.created_at DESC, w.id DESC LIMIT ${TOP_WINS}`,
    values,
  );
  const total = (field: 'count' | 'revenue' | 'payout') => payments.reduce((sum, row) => sum + row[field], 0);
  return {
    totalSpins: total('count'),
    totalRevenueKopeks: total('revenue'),
    totalPayoutKopeks: total('payout'),
    spinsByPaymentType: Object.fromEntries(
      payments.map(({ paymentType, count, revenue }) => [paymentType, { count, totalKopeks: revenue }]),
    ),
    prizesDistribution,
    topWins,
  };
}
