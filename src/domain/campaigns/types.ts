export type CampaignBonusType = 'balance' | 'subscription' | 'tariff' | 'none';

/** An advertising campaign (spec 04 section 6.1). Kopeks, days, GB (null or 0 = unlimited). */
export interface Campaign {
  id: number;
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
}
