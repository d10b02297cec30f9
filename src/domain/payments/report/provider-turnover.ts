import type { App } from '../../../core/app.ts';

/** What one provider paid in and took back in a period; amounts are kopeks. */
export interface ProviderTurnover {
  method: string;
  payments: number;
  paidKopeks: number;
  /** Fees of the payments whose fee the provider reports. */
  feeKopeks: number;
  paymentsWithFee: number;
  reversals: number;
  reversedKopeks: number;
}

type CountedRow = Record<Exclude<keyof ProviderTurnover, 'method'>, bigint> & { method: string };

/** Credited payments and reversals of [from, to) by provider, by the time of their ledger rows. Times are UTC. */
export async function sumProviderTurnover(app: App, from: Date, to: Date): Promise<ProviderTurnover[]> {
  const rows = await app.db.sql<CountedRow>(
    `WITH paid AS (
       SELECT p.method, count(*) AS payments, sum(p.amount_kopeks) AS paid_kopeks, coalesce(sum(p.fee_kopeks), 0) AS fee_kopeks,
         count(p.fee_kopeks) AS payments_with_fee
       FROM transactions t JOIN payments p ON p.transaction_id = t.id
       WHERE t.completed_at >= $1::timestamptz AND t.completed_at < $2::timestamptz GROUP BY 1),
     reversed AS (
       SELECT r.method, count(*) AS reversals, sum(r.amount_kopeks) AS reversed_kopeks
       FROM payment_reversals r WHERE r.status = 'done' AND r.finished_at >= $1::timestamptz AND r.finished_at < $2::timestamptz GROUP BY 1)
     SELECT method, coalesce(payments, 0)::bigint AS payments, coalesce(paid_kopeks, 0)::bigint AS paid_kopeks,
       coalesce(fee_kopeks, 0)::bigint AS fee_kopeks, coalesce(payments_with_fee, 0)::bigint AS payments_with_fee,
       coalesce(reversals, 0)::bigint AS reversals, coalesce(reversed_kopeks, 0)::bigint AS reversed_kopeks
     FROM paid FULL JOIN reversed USING (method) ORDER BY method`,
    [from, to],
  );
  return rows.map(({ method, ...counts }) => {
    const numbers = Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, Number(value)]));
    return { method, ...(numbers as unknown as Omit<ProviderTurnover, 'method'>) };
  });
}
