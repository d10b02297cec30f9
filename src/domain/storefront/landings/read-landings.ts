import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { landingNotFound } from './landings.ts';
import { findLanding, listLandings, type PurchaseCounts } from './repo.ts';
import { isDiscountActive } from './rules.ts';
import { countPurchases, type LandingStats, type ListedPurchase, listPurchasesOf, type PurchaseFilter } from './stats-repo.ts';
import type { Landing } from './types.ts';

export type { LandingStats, ListedPurchase } from './stats-repo.ts';

/** UTC days of the daily counters, today included (spec 03 section 7.3). */
const DAYS = 31;

export type ListedLanding = Landing & { purchases: PurchaseCounts; hasActiveDiscount: boolean };

/** All pages in their order (spec 03 section 7.3). */
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
