import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { WithdrawalStatus } from './types.ts';

const REQUEST = columns('WithdrawalRequest', [
  ...(['id', 'userId', 'amountKopeks', 'status', 'riskScore', 'paymentDetails', 'adminComment'] as const),
  ...(['createdAt', 'processedAt'] as const),
]);
const USER = columns('User', ['username', 'firstName', 'messengerId']);

/** A request in the administrators' list. */
export type ListedRequest = RowOf<typeof REQUEST> & RowOf<typeof USER>;

/** A page of requests, newest first. The page is taken from the index alone, so that a page far down reads only its own rows. */
export function listRequests(
  db: Db,
  status: WithdrawalStatus | null,
  slice: { limit: number; offset: number },
): Promise<ListedRequest[]> {
  const condition = status === null ? '$1::text IS NULL' : 'q.status = $1::text';
  return db.sql<ListedRequest>(
    `WITH page AS MATERIALIZED (
       SELECT q.id, q.created_at FROM withdrawal_requests q WHERE ${condition}
       ORDER BY q.created_at DESC, q.id DESC LIMIT $2::int OFFSET $3::bigint)
     SELECT ${REQUEST.of('w')}, ${USER.of('u')}
     FROM page p JOIN withdrawal_requests w ON w.id = p.id LEFT JOIN users u ON u.id = w.user_id
     ORDER BY p.created_at DESC, p.id DESC`,
    [status, slice.limit, slice.offset],
  );
}

/** Numbers of requests; kopeks. */
export interface RequestTotals {
  total: number;
  pendingCount: number;
  pendingTotalKopeks: number;
}

/** @param status null = `total` counts every request; the pending ones are counted in any case */
export async function countRequests(db: Db, status: WithdrawalStatus | null): Promise<RequestTotals> {
  const [row] = await db.sql<RequestTotals>(
    `SELECT coalesce(sum(requests) FILTER (WHERE $1::text IS NULL OR status = $1::text), 0)::int AS total,
       coalesce(sum(requests) FILTER (WHERE status = 'pending'), 0)::int AS pending_count,
       coalesce(sum(amount_kopeks) FILTER (WHERE status = 'pending'), 0)::bigint AS pending_total_kopeks
     FROM withdrawal_counters`,
    [status],
  );
  return row!;
}

/** A request with its analysis, and the user's referrals and earnings; kopeks. */
export type RequestDetail = ListedRequest & {
  /** JSON. */
  riskAnalysis: string | null;
  balanceKopeks: number;
  totalReferrals: number;
  totalEarningsKopeks: number;
  /** Earnings that were taken back after they had been spent or withdrawn; later ones pay it first. */
  referralDebtKopeks: number;
};

export async function findRequestDetail(db: Db, id: number): Promise<RequestDetail | null> {
  const [row] = await db.sql<RequestDetail>(
    `SELECT ${REQUEST.of('w')}, ${USER.of('u')}, w.risk_analysis, coalesce(u.balance_kopeks, 0)::bigint AS balance_kopeks,
       coalesce(f.referrals, 0) AS total_referrals, coalesce(f.earned_kopeks, 0)::bigint AS total_earnings_kopeks,
       coalesce((SELECT d.kopeks FROM referral_debts d WHERE d.user_id = w.user_id), 0)::bigint AS referral_debt_kopeks
     FROM withdrawal_requests w LEFT JOIN users u ON u.id = w.user_id LEFT JOIN referrer_stats f ON f.user_id = w.user_id
     WHERE w.id = $1::bigint`,
    [id],
  );
  return row ?? null;
}
