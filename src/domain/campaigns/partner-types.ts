import type { DayStats, PeriodChange, WindowSums } from '../referrals/stats/types.ts';
import type { PartnerCampaignReferral, PartnerCampaignSums } from './partner-repo.ts';

export type { PartnerCampaign } from './partner-repo.ts';

/** The statistics of a campaign for its partner (spec 04 section 5, item 2); kopeks. */
export interface PartnerCampaignStats extends PartnerCampaignSums {
  campaignId: number;
  campaignName: string;
  /** Referrals of registrations, percent. */
  conversionRate: number;
  earningsToday: number;
  earningsWeek: number;
  earningsMonth: number;
  /** 30 days, today included, oldest first. */
  dailyStats: DayStats[];
  periodComparison: {
    current: WindowSums & { days: number };
    previous: WindowSums & { days: number };
    referralsChange: PeriodChange;
    earningsChange: PeriodChange;
  };
  topReferrals: PartnerCampaignReferral[];
}
