import type { Db } from '../../../core/db/db.ts';
import type { Period, SpinPayment, SpinRecord, WheelPrize, WheelStatistics } from './types.ts';

/** What a spin needs of the user, read once the row is locked. */
export async function readSpinner(db: Db, userId: number): Promise<{ balanceKopeks: number; language: string } | null> {
  const [row] = await db.sql<{ balanceKopeks: number; language: string }>(
    'SELECT balance_kopeks, language FROM users WHERE id = $1::int',
    [userId],
  );
  return row ? { balanceKopeks: row.balanceKopeks, language: row.language } : null;
}

export interface NewSpin {
  userId: number;
  prize: WheelPrize;
  paymentType: SpinPayment;
  /** Stars or days. */
  paymentAmount: number;
  paymentValueKopeks: number;
  promocodeId: number | null;
  debitTransactionId: number | null;
  prizeTransactionId: number | null;
  /** Of a spin paid by an invoice. */
  paymentId: number | null;
  chargeId: string | null;
  now: Date;
}

export async function insertSpin(db: Db, spin: NewSpin): Promise<number> {
  const { prize } = spin;
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO wheel_spins (user_id, prize_id, payment_type, payment_amount, payment_value_kopeks, prize_type, prize_value,
       prize_value_kopeks, prize_display_name, generated_promocode_id, debit_transaction_id, prize_transaction_id, payment_id,
       external_charge_id, is_applied, applied_at, created_at)
     VALUES ($1::int, $2::int, $3, $4::int, $5::bigint, $6, $7::bigint, $8::bigint, $9, $10::int, $11::int, $12::int, $13::int, $14,
       true, $15::timestamptz, $15::timestamptz) RETURNING id`,
    [
      spin.userId,
      prize.id,
      spin.paymentType,
      spin.paymentAmount,
      spin.paymentValueKopeks,
      prize.prizeType,
      prize.prizeValue,
      prize.prizeValueKopeks,
      prize.displayName,
      spin.promocodeId,
      spin.debitTransactionId,
      spin.prizeTransactionId,
      spin.paymentId,
      spin.chargeId,
      spin.now,
    ],
  );
  return row!.id;
}

export interface NewPromocode {
  code: string;
  balanceKopeks: number;
  days: number;
  userId: number;
  validUntil: Date;
  now: Date;
}

/** A code that anyone may use once. @returns null when the code exists already */
export async function insertPromocode(db: Db, code: NewPromocode): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO promocodes (code, type, balance_bonus_kopeks, subscription_days, max_uses, valid_from, valid_until, created_by,
       created_at, updated_at)
     VALUES ($1, CASE WHEN $3::int > 0 THEN 'subscription_days' ELSE 'balance' END, $2::bigint, $3::int, 1, $5::timestamptz,
       $6::timestamptz, $4::int, $5::timestamptz, $5::timestamptz)
     ON CONFLICT (code) DO NOTHING RETURNING id`,
    [code.code, code.balanceKopeks, code.days, code.userId, code.now, code.validUntil],
  );
  return row?.id ?? null;
}

interface SpinRow {
  id: number;
  userId: number;
  username: string | null;
  paymentType: string;
  paymentAmount: number;
  paymentValueKopeks: number;
  prizeType: string;
  prizeValue: number;
  prizeDisplayName: string;
  prizeValueKopeks: number;
  emoji: string | null;
  color: string | null;
  isApplied: boolean;
  createdAt: Date;
}

const toSpin = (row: SpinRow): SpinRecord => ({
  id: row.id,
  userId: row.userId,
  username: row.username,
  paymentType: row.paymentType,
  paymentAmount: row.paymentAmount,
  paymentValueKopeks: row.paymentValueKopeks,
  prizeType: row.prizeType,
  prizeValue: row.prizeValue,
  prizeDisplayName: row.prizeDisplayName,
  prizeValueKopeks: row.prizeValueKopeks,
  emoji: row.emoji,
  color: row.color,
  isApplied: row.isApplied,
  createdAt: row.createdAt,
});

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
  const rows = await db.sql<SpinRow>(
    `SELECT w.id, w.user_id, u.username, w.payment_type, w.payment_amount, w.payment_value_kopeks, w.prize_type, w.prize_value,
       w.prize_display_name, w.prize_value_kopeks, z.emoji, z.color, w.is_applied, w.created_at
     FROM wheel_spins w JOIN users u ON u.id = w.user_id LEFT JOIN wheel_prizes z ON z.id = w.prize_id
     WHERE ${FILTER} ORDER BY w.created_at DESC, w.id DESC LIMIT $4::int OFFSET $5::bigint`,
    [...values, page.limit, page.offset],
  );
  const [count] = await db.sql<{ n: number }>(`SELECT count(*)::int AS n FROM wheel_spins w WHERE ${FILTER}`, values);
  return { items: rows.map(toSpin), total: count!.n };
}

const TOP_WINS = 10;

export async function readStatistics(db: Db, { from, to }: Period): Promise<WheelStatistics> {
  const values = [from, to];
  const payments = await db.sql<{ paymentType: string; n: number; revenue: number; payout: number }>(
    `SELECT w.payment_type, count(*)::int AS n, sum(w.payment_value_kopeks)::bigint AS revenue,
       sum(w.prize_value_kopeks)::bigint AS payout
     FROM wheel_spins w WHERE ${IN_PERIOD} GROUP BY w.payment_type ORDER BY w.payment_type`,
    values,
  );
  const prizes = await db.sql<{ prizeType: string; prizeDisplayName: string; n: number; total: number }>(
    `SELECT w.prize_type, w.prize_display_name, count(*)::int AS n, sum(w.prize_value_kopeks)::bigint AS total
     FROM wheel_spins w WHERE ${IN_PERIOD} GROUP BY w.prize_type, w.prize_display_name
     ORDER BY n DESC, w.prize_type, w.prize_display_name`,
    values,
  );
  const wins = await db.sql<SpinRow>(
    `SELECT w.user_id, u.username, w.prize_display_name, w.prize_value_kopeks, w.created_at
     FROM wheel_spins w JOIN users u ON u.id = w.user_id WHERE ${IN_PERIOD} AND w.prize_value_kopeks > 0
     ORDER BY w.prize_value_kopeks DESC, w.created_at DESC, w.id DESC LIMIT ${TOP_WINS}`,
    values,
  );
  const total = (pick: (row: (typeof payments)[number]) => number) => payments.reduce((sum, row) => sum + pick(row), 0);
  return {
    totalSpins: total((row) => row.n),
    revenueKopeks: total((row) => Number(row.revenue)),
    payoutKopeks: total((row) => Number(row.payout)),
    byPayment: payments.map((row) => ({ paymentType: row.paymentType, count: row.n, totalKopeks: Number(row.revenue) })),
    prizes: prizes.map((row) => ({
      prizeType: row.prizeType,
      displayName: row.prizeDisplayName,
      count: row.n,
      totalKopeks: Number(row.total),
    })),
    topWins: wins.map((row) => ({
      userId: row.userId,
      username: row.username,
      displayName: row.prizeDisplayName,
      valueKopeks: row.prizeValueKopeks,
      createdAt: row.createdAt,
    })),
  };
}
