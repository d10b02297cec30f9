import type { App } from '../../../core/app.ts';
import { readReferralTotals } from '../stats/read-stats.ts';
import {
  countPartners,
  countPendingApplications,
  findLatestApplication,
  type ListedApplication,
  listApplications,
  listPartners,
} from './repo.ts';
import type { ApplicationStatus, ListedPartner, PartnerApplication } from './types.ts';

interface Slice {
  limit: number;
  offset: number;
}

/** Applications, newest first. Status: `none` is a status that no application has. */
export function listPartnerApplications(
  app: App,
  { status = null, ...slice }: Slice & { status?: ApplicationStatus | 'none' | null | undefined },
): Promise<{ items: ListedApplication[]; total: number }> {
  return listApplications(app.db, status, slice);
}

/** The last application of a user; null without one. */
export function findLatestApplicationOf(app: App, userId: number): Promise<PartnerApplication | null> {
  return findLatestApplication(app.db, userId);
}

/** Approved partners, newest registration first. */
export function listApprovedPartners(app: App, slice: Slice): Promise<{ items: ListedPartner[]; total: number }> {
  return listPartners(app.db, slice);
}

/** Number of partners and pending applications, and all referrals and earnings of the service (spec 04 section 3.3). */
export async function readPartnerTotals(app: App) {
  const [totalPartners, pendingApplications, { totalReferrals, earningsKopeks }] = await Promise.all([
    countPartners(app.db),
    countPendingApplications(app.db),
    readReferralTotals(app),
  ]);
  return { totalPartners, pendingApplications, totalReferrals, totalEarningsKopeks: earningsKopeks };
}
