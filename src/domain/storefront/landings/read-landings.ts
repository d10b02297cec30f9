import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { landingNotFound } from './landings.ts';
import { findLanding, listLandings, type PurchaseCounts } from './repo.ts';
import { isDiscountActive } from './rules.ts';
import type { Landing } from './types.ts';

/** UTC days of the daily counters, today included. */
const DAYS = 31;

export type ListedLanding = Landing & { purchases: PurchaseCounts; hasActiveDiscount: boolean };

/** All pages in their order. */
export async function listAllLandings(app: App): Promise<ListedLanding[]> {
  const now = app.clock.now();
  const landings = await listLandings(app.db);
  return landings.map((landing) => ({ ...landing, hasActiveDiscount: isDiscountActive(landing, now) }));
}

/** @throws AppError 404 'Landing page not found' */
export async function readLanding(app: App, id: number): Promise<Landing> {
  const landing = await findLanding(app.db, id);
  if (!landing) throw landingNotFound();
  return landing;
}

/** What a page sold: totals, and the last 31 UTC days, oldest first. @throws AppError 404 */
export async function readLandingStats(app: App, id: number): Promise<LandingStats> {
  const { id: landingId } = await readLanding(app, id);
  const now = app.clock.now();
  return countPurchases(app.db, landingId, utcDay(addDays(now, 1 - DAYS)), utcDay(now));
}

/** Purchases of a page, newest first. @throws AppError 404 */
export async function listLandingPurchases(
  app: App,
  id: number,
  filter: PurchaseFilter,
): Promise<{ items: ListedPurchase[]; total: number }> {
  const { id: landingId } = await readLanding(app, id);
  return listPurchasesOf(app.db, landingId, filter);
}

function utcDay(timestamp: Date): string {
  return timestamp.toISOString().slice(0, 10);
}

/** States of a paid purchase. */
const SUCCESSFUL = "status IN ('paid', 'delivered', 'pending_activation')";

interface Totals {
  created: number;
  successful: number;
  revenueKopeks: number;
  gifts: number;
}

/** `date` is a UTC day, `YYYY-MM-DD`. */
interface DayStats {
  date: string;
  created: number;
  purchases: number;
  revenueKopeks: number;
  gifts: number;
}

/** A tariff that was deleted since has neither id nor name. */
interface TariffStats {
  tariffId: number | null;
  tariffName: string | null;
  purchases: number;
  revenueKopeks: number;
}

/** Counters of one page; kopeks. */
export interface LandingStats extends Totals {
  days: DayStats[];
  tariffs: TariffStats[];
}

/** @param firstDay first UTC day of the daily counters, `YYYY-MM-DD` @param lastDay the last one, included */
async function countPurchases(db: Db, landingId: number, firstDay: string, lastDay: string): Promise<LandingStats> {
  const [totals, days, tariffs] = await Promise.all([
    db.sql<Totals>(
      `SELECT count(*)::int AS created, count(*) FILTER (WHERE ${SUCCESSFUL})::int AS successful,
         coalesce(sum(amount_kopeks) FILTER (WHERE ${SUCCESSFUL}), 0)::bigint AS revenue_kopeks,
         count(*) FILTER (WHERE ${SUCCESSFUL} AND is_gift)::int AS gifts
       FROM guest_purchases WHERE landing_id = $1::int`,
      [landingId],
    ),
    db.sql<DayStats>(
      `WITH made AS (SELECT (created_at AT TIME ZONE 'UTC')::date AS day, count(*)::int AS created FROM guest_purchases
           WHERE landing_id = $1::int AND created_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' GROUP BY 1),
         paid AS (SELECT (paid_at AT TIME ZONE 'UTC')::date AS day, count(*)::int AS purchases, sum(amount_kopeks)::bigint AS revenue,
             count(*) FILTER (WHERE is_gift)::int AS gifts FROM guest_purchases
           WHERE landing_id = $1::int AND paid_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' AND ${SUCCESSFUL} GROUP BY 1)
       SELECT to_char(d.day, 'YYYY-MM-DD') AS date, coalesce(made.created, 0) AS created, coalesce(paid.purchases, 0) AS purchases,
         coalesce(paid.revenue, 0)::bigint AS revenue_kopeks, coalesce(paid.gifts, 0) AS gifts
       FROM (SELECT generate_series($2::date, $3::date, interval '1 day')::date AS day) d
         LEFT JOIN made ON made.day = d.day LEFT JOIN paid ON paid.day = d.day ORDER BY d.day`,
      [landingId, firstDay, lastDay],
    ),
    db.sql<TariffStats>(
      `SELECT p.tariff_id, t.name AS tariff_name, count(*)::int AS purchases, sum(p.amount_kopeks)::bigint AS revenue_kopeks
       FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id
       WHERE p.landing_id = $1::int AND p.${SUCCESSFUL}
       GROUP BY p.tariff_id, t.name ORDER BY revenue_kopeks DESC, p.tariff_id NULLS LAST`,
      [landingId],
    ),
  ]);
  return { ...totals[0]!, days, tariffs };
}

const LISTED = columns('GuestPurchase', [
  ...(['id', 'token', 'contactType', 'contactValue', 'isGift', 'giftRecipientType', 'giftRecipientValue', 'periodDays'] as const),
  ...(['amountKopeks', 'currency', 'paymentMethod', 'status', 'createdAt', 'paidAt'] as const),
]);

/** A purchase in the administrators' list. */
export type ListedPurchase = RowOf<typeof LISTED> & { tariffName: string | null };

interface PurchaseFilter {
  /** Null = every state. */
  status: string | null;
  limit: number;
  offset: number;
}

/** Purchases of a page, newest first, and how many match the filter. */
async function listPurchasesOf(
  db: Db,
  landingId: number,
  filter: PurchaseFilter,
): Promise<{ items: ListedPurchase[]; total: number }> {
  const state = filter.status === null ? '' : 'AND p.status = $2::text';
  const values = filter.status === null ? [landingId] : [landingId, filter.status];
  const [items, [count]] = await Promise.all([
    db.sql<ListedPurchase>(
      `SELECT ${LISTED.of('p')}, t.name AS tariff_name
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
