import type { Db } from '../../../core/db/db.ts';

/** States of a purchase whose money came (spec 03 section 7.3). */
const SUCCESSFUL = "status IN ('paid', 'delivered', 'pending_activation')";

/** Figures of one page; kopeks. `date` is a UTC day, `YYYY-MM-DD`. */
export interface LandingFigures {
  created: number;
  successful: number;
  revenueKopeks: number;
  gifts: number;
  days: { date: string; created: number; purchases: number; revenueKopeks: number; gifts: number }[];
  tariffs: { tariffId: number | null; tariffName: string | null; purchases: number; revenueKopeks: number }[];
}

/** @param firstDay first UTC day of the daily figures, `YYYY-MM-DD` @param lastDay the last one, included */
export async function countPurchases(db: Db, landingId: number, firstDay: string, lastDay: string): Promise<LandingFigures> {
  const [totals, days, tariffs] = await Promise.all([
    db.sql<{ created: number; successful: number; revenue: number; gifts: number }>(
      `SELECT count(*)::int AS created, count(*) FILTER (WHERE ${SUCCESSFUL})::int AS successful,
         coalesce(sum(amount_kopeks) FILTER (WHERE ${SUCCESSFUL}), 0)::bigint AS revenue,
         count(*) FILTER (WHERE ${SUCCESSFUL} AND is_gift)::int AS gifts
       FROM guest_purchases WHERE landing_id = $1::int`,
      [landingId],
    ),
    db.sql<{ date: string; created: number; purchases: number; revenue: number; gifts: number }>(
      `WITH made AS (SELECT (created_at AT TIME ZONE 'UTC')::date AS day, count(*)::int AS created FROM guest_purchases
           WHERE landing_id = $1::int AND created_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' GROUP BY 1),
         paid AS (SELECT (paid_at AT TIME ZONE 'UTC')::date AS day, count(*)::int AS purchases, sum(amount_kopeks)::bigint AS revenue,
             count(*) FILTER (WHERE is_gift)::int AS gifts FROM guest_purchases
           WHERE landing_id = $1::int AND paid_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' AND ${SUCCESSFUL} GROUP BY 1)
       SELECT to_char(d.day, 'YYYY-MM-DD') AS date, coalesce(made.created, 0) AS created, coalesce(paid.purchases, 0) AS purchases,
         coalesce(paid.revenue, 0)::bigint AS revenue, coalesce(paid.gifts, 0) AS gifts
       FROM (SELECT generate_series($2::date, $3::date, interval '1 day')::date AS day) d
         LEFT JOIN made ON made.day = d.day LEFT JOIN paid ON paid.day = d.day ORDER BY d.day`,
      [landingId, firstDay, lastDay],
    ),
    db.sql<{ tariffId: number | null; tariffName: string | null; purchases: number; revenue: number }>(
      `SELECT p.tariff_id, t.name AS tariff_name, count(*)::int AS purchases, sum(p.amount_kopeks)::bigint AS revenue
       FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id
       WHERE p.landing_id = $1::int AND p.${SUCCESSFUL} GROUP BY p.tariff_id, t.name ORDER BY revenue DESC, p.tariff_id NULLS LAST`,
      [landingId],
    ),
  ]);
  const total = totals[0]!;
  return {
    created: total.created,
    successful: total.successful,
    revenueKopeks: total.revenue,
    gifts: total.gifts,
    days: days.map(({ revenue, ...day }) => ({ ...day, revenueKopeks: revenue })),
    tariffs: tariffs.map((row) => ({
      tariffId: row.tariffId,
      tariffName: row.tariffName,
      purchases: row.purchases,
      revenueKopeks: row.revenue,
    })),
  };
}

/** A purchase in the administrators' list. */
export interface ListedPurchase {
  id: number;
  token: string;
  contactType: string;
  contactValue: string;
  isGift: boolean;
  giftRecipientType: string | null;
  giftRecipientValue: string | null;
  tariffName: string | null;
  periodDays: number;
  amountKopeks: number;
  currency: string;
  paymentMethod: string | null;
  status: string;
  createdAt: Date;
  paidAt: Date | null;
}

export interface PurchaseFilter {
  /** Null = every state. */
  status: string | null;
  limit: number;
  offset: number;
}

/** Purchases of a page, newest first, and how many the filter has. */
export async function listPurchasesOf(
  db: Db,
  landingId: number,
  filter: PurchaseFilter,
): Promise<{ items: ListedPurchase[]; total: number }> {
  const state = filter.status === null ? '' : 'AND p.status = $2::text';
  const values = filter.status === null ? [landingId] : [landingId, filter.status];
  const [items, [count]] = await Promise.all([
    db.sql<ListedPurchase>(
      `SELECT p.id, p.token, p.contact_type AS "contactType", p.contact_value AS "contactValue", p.is_gift AS "isGift",
         p.gift_recipient_type AS "giftRecipientType", p.gift_recipient_value AS "giftRecipientValue", t.name AS "tariffName",
         p.period_days AS "periodDays", p.amount_kopeks AS "amountKopeks", p.currency, p.payment_method AS "paymentMethod", p.status,
         p.created_at AS "createdAt", p.paid_at AS "paidAt"
       FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id WHERE p.landing_id = $1::int ${state}
       ORDER BY p.created_at DESC, p.id DESC LIMIT $${values.length + 1}::int OFFSET $${values.length + 2}::bigint`,
      [...values, filter.limit, filter.offset],
    ),
    db.sql<{ total: number }>(
      `SELECT count(*)::int AS total FROM guest_purchases p WHERE p.landing_id = $1::int ${state}`,
      values,
    ),
  ]);
  return { items, total: count!.total };
}
