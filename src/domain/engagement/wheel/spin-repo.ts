import { columns, type RowOf, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { Period, SpinRecord, WheelPrize, WheelStatistics } from './types.ts';

/** Balance and language of the user, for a spin read after the row is locked. */
export async function readSpinner(db: Db, userId: number): Promise<{ balanceKopeks: number; language: string } | null> {
  const [row] = await db.sql<{ balanceKopeks: number; language: string }>(
    'SELECT balance_kopeks, language FROM users WHERE id = $1::int',
    [userId],
  );
  return row ?? null;
}

/** A spin with its payment and what was given; the other columns are copied from the prize. */
export type NewSpin = Omit<
  Rows['WheelSpin'],
  'id' | 'isApplied' | 'appliedAt' | `prize${'Id' | 'Type' | 'Value' | 'ValueKopeks' | 'DisplayName'}`
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
