import type { DayFigures, PeriodChange, WindowSums } from '../referrals/stats/types.ts';
import type { CampaignBonusType } from './types.ts';

/** What a campaign brought its partner (spec 04 section 5, item 2); kopeks. */
export interface PartnerCampaignSums {
  /** Users who came through it and are the partner's referrals. */
  registrations: number;
  /** Referrals by whom the partner has rewards of this campaign. */
  referrals: number;
  earnedKopeks: number;
}

/** A partner's campaign, as his page and the administrators' show it. */
export interface PartnerCampaign extends PartnerCampaignSums {
  id: number;
  name: string;
  startParameter: string;
  isActive: boolean;
  bonusType: CampaignBonusType;
  balanceBonusKopeks: number;
  subscriptionDurationDays: number | null;
  subscriptionTrafficGb: number | null;
}

export interface PartnerCampaignReferral {
  id: number;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  createdAt: Date;
  hasPaid: boolean;
  isActive: boolean;
  earnedKopeks: number;
}

/** The same in detail. */
export interface PartnerCampaignStats extends PartnerCampaignSums {
  campaignId: number;
  campaignName: string;
  /** Referrals of registrations, percent. */
  conversionRate: number;
  earnedToday: number;
  earnedWeek: number;
  earnedMonth: number;
  /** 30 days, today included, oldest first. */
  days: DayFigures[];
  comparison: {
    days: number;
    current: WindowSums;
    previous: WindowSums;
    referralsChange: PeriodChange;
    earningsChange: PeriodChange;
  };
  topReferrals: PartnerCampaignReferral[];
}
