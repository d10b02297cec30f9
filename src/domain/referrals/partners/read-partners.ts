import type { App } from '../../../core/app.ts';
import { readReferralTotals } from '../stats/read-stats.ts';
import { countPartnersAndApplications, findLatestApplication, listApplications, listPartners } from './repo.ts';
import type { ApplicationStatus, ListedApplication, ListedPartner, PartnerApplication } from './types.ts';

interface Slice {
  limit: number;
  offset: number;
}

/** Applications, newest first. @param status `none` is a status that no application has */
export function listPartnerApplications(
  app: App,
  status: ApplicationStatus | 'none' | null,
  slice: Slice,
): Promise<{ items: ListedApplication[]; total: number }> {
  return listApplications(app.db, status, slice);
}

/** The last application of a user; null when there is none. */
export function findLatestApplicationOf(app: App, userId: number): Promise<PartnerApplication | null> {
  return findLatestApplication(app.db, userId);
}

/** Approved partners, newest registration first. */
export function listApprovedPartners(app: App, slice: Slice): Promise<{ items: ListedPartner[]; total: number }> {
  return listPartners(app.db, slice);
}

/** Partners, waiting applications, and all referrals and earnings of the service (spec 04 section 3.3). */
export async function readPartnerTotals(app: App) {
  const [{ partners, pendingApplications }, { totalReferrals, earnedKopeks }] = await Promise.all([
    countPartnersAndApplications(app.db),
    readReferralTotals(app),
  ]);
  return { partners, pendingApplications, totalReferrals, totalEarningsKopeks: earnedKopeks };
}
