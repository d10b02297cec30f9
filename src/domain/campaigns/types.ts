export type CampaignBonusType = 'balance' | 'subscription' | 'tariff' | 'none';

/** What can be set on an advertising campaign (spec 04 section 6.1). Kopeks, days, GB (null or 0 = unlimited). */
export interface CampaignValues {
  name: string;
  /** The slug in links; case-sensitive. */
  startParameter: string;
  bonusType: CampaignBonusType;
  balanceBonusKopeks: number;
  subscriptionDurationDays: number | null;
  subscriptionTrafficGb: number | null;
  subscriptionDeviceLimit: number | null;
  subscriptionSquads: string[];
  tariffId: number | null;
  tariffDurationDays: number | null;
  isActive: boolean;
  partnerUserId: number | null;
}

export interface Campaign extends CampaignValues {
  id: number;
  /** Null for API tokens, which are no users. */
  createdBy: number | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Sums over everyone registered through a campaign (spec 04 section 6.6). Money in kopeks. */
export interface CampaignFigures {
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

/** A campaign as lists and its own page show it. */
export interface CampaignCard {
  campaign: Campaign;
  tariffName: string | null;
  partnerName: string | null;
  figures: CampaignFigures;
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

/** What of a visitor decides about the bonus. */
export interface CampaignVisitor {
  id: number;
  language: string;
  isRegistered: boolean;
  hasSubscription: boolean;
  /** Who invited the visitor; null = nobody, so that the campaign's partner may become it. */
  referredById: number | null;
}
