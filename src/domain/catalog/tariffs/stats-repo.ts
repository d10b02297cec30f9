import type { Db } from '../../../core/db/db.ts';

/** @param tariffId null = all tariffs */
export async function countSubscriptionsByTariff(db: Db, tariffId: number | null): Promise<Map<number, number>> {
  const rows = await db.sql<{ tariffId: number; total: number }>(
    `SELECT tariff_id, count(*)::int AS total FROM subscriptions
     WHERE tariff_id = $1::int OR ($1::int IS NULL AND tariff_id IS NOT NULL) GROUP BY tariff_id`,
    [tariffId],
  );
  return new Map(rows.map((row) => [row.tariffId, row.total]));
}

export interface TariffStats {
  id: number;
  name: string;
  subscriptionsCount: number;
  activeSubscriptions: number;
  trialSubscriptions: number;
  /** All subscription payments of the current subscribers. */
  revenueKopeks: number;
}

export async function readTariffStats(db: Db, tariffId: number): Promise<TariffStats | null> {
  const [row] = await db.sql<TariffStats>(
    `SELECT t.id, t.name, count(s.id)::int AS subscriptions_count,
       count(s.id) FILTER (WHERE s.status = 'active')::int AS active_subscriptions,
       count(s.id) FILTER (WHERE s.is_trial)::int AS trial_subscriptions,
       COALESCE((SELECT sum(abs(x.amount_kopeks)) FROM subscriptions o JOIN transactions x ON x.user_id = o.user_id
         WHERE o.tariff_id = t.id AND x.type = 'subscription_payment' AND x.is_completed), 0)::bigint AS revenue_kopeks
     FROM tariffs t LEFT JOIN subscriptions s ON s.tariff_id = t.id
     WHERE t.id = $1::bigint GROUP BY t.id`,
    [tariffId],
  );
  return row ?? null;
}
