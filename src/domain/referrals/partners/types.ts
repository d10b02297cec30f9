import type { Rows } from '../../../core/db/columns.ts';

export type { ListedPartner, LockedApplicant, PartnerApplication } from './repo.ts';

export type ApplicationStatus = Rows['PartnerApplication']['status'];

/** What applicants state about themselves; everything may be left out. */
export interface ApplicationRequest {
  companyName?: string | null | undefined;
  websiteUrl?: string | null | undefined;
  messengerChannel?: string | null | undefined;
  description?: string | null | undefined;
  expectedMonthlyReferrals?: number | null | undefined;
  desiredCommissionPercent?: number | null | undefined;
}
