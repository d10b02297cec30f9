export type ApplicationStatus = 'pending' | 'approved' | 'rejected';

/** What an applicant tells about himself; everything may be left out. */
export interface ApplicationRequest {
  companyName: string | null;
  websiteUrl: string | null;
  messengerChannel: string | null;
  description: string | null;
  expectedMonthlyReferrals: number | null;
  desiredCommissionPercent: number | null;
}

/** A request to become a partner (spec 04 section 3.1). */
export interface PartnerApplication extends ApplicationRequest {
  id: number;
  userId: number;
  status: ApplicationStatus;
  adminComment: string | null;
  approvedCommissionPercent: number | null;
  createdAt: Date;
  processedAt: Date | null;
}

/** The same in the administrators' list. */
export interface ListedApplication extends PartnerApplication {
  username: string | null;
  firstName: string | null;
  messengerId: number | null;
}

/** A partner in the administrators' list; amounts in kopeks. */
export interface ListedPartner {
  userId: number;
  username: string | null;
  firstName: string | null;
  messengerId: number | null;
  /** Personal; null = the service-wide one. */
  commissionPercent: number | null;
  partnerStatus: string;
  balanceKopeks: number;
  totalReferrals: number;
  totalEarningsKopeks: number;
  createdAt: Date;
}

/** What of a user decides about partnership; the row is locked. */
export interface LockedApplicant {
  id: number;
  status: string;
  language: string;
  partnerStatus: string;
  commissionPercent: number | null;
}
