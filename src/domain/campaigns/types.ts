import type { Rows } from '../../core/db/columns.ts';

/** An advertising campaign (spec 04 section 6.1). Kopeks, days, GB (null or 0 = unlimited). */
export type Campaign = Rows['AdvertisingCampaign'];

type CampaignBonusType = Campaign['bonusType'];

/** What can be set on a campaign. */
export type CampaignValues = Omit<Campaign, 'id' | 'createdBy' | 'createdAt' | 'updatedAt'>;

/** Sums over all registrations of a campaign (spec 04 section 6.6). Money in kopeks. */
export interface CampaignCounters {
  registrations: number;
  balanceIssuedKopeks: number;
  subscriptionRegistrations: number;
  tariffRegistrations: number;
  /** Real deposits: completed ones through a provider. */
  depositsKopeks: number;
  /** Completed subscription payments. */
  spentKopeks: number;
  /** Users with a completed subscription payment or a conversion from trial to paid. */
  payers: number;
  /** Users flagged as having had a paid subscription. */
  hadPaid: number;
  conversions: number;
  trials: number;
  activeTrials: number;
  /** Users whose first payment is known, and the sum of those payments. */
  firstPayments: number;
  firstPaymentsKopeks: number;
}

/** A campaign in lists and as a single answer. */
export interface CampaignCard extends Campaign, CampaignCounters {
  tariffName: string | null;
  partnerName: string | null;
}

/** What a sign-in through a campaign gave (spec 01 section 2.4). */
export interface CampaignBonus {
  campaignName: string;
  bonusType: CampaignBonusType;
  /** 0 unless the bonus is money. */
  balanceKopeks: number;
  /** Only for `subscription`. */
  subscriptionDays: number | null;
  /** Only for `tariff`. */
  tariffName: string | null;
}

/** The state of a user that the bonus of a campaign depends on. */
export interface CampaignRegistrant {
  id: number;
  language: string;
  isRegistered: boolean;
  hasSubscription: boolean;
  /** The referrer; null = none, so that the campaign's partner may become it. */
  referredById: number | null;
}
