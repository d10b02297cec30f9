/** Pure rules of campaign bonuses (spec 04 section 6.2). */
import type { Campaign, CampaignVisitor } from './types.ts';

/** The bonus that a visitor can be given now, with its amounts; null = a condition fails and nothing is registered. */
export type BonusPlan =
  | { type: 'none' }
  | { type: 'balance'; kopeks: number }
  | { type: 'subscription'; days: number; trafficLimitGb: number; deviceLimit: number | null; squads: readonly string[] }
  | { type: 'tariff'; tariffId: number; days: number };

/** Money needs an amount; a subscription or tariff needs a length and a visitor without any subscription row. */
export function planBonus(campaign: Campaign, visitor: Pick<CampaignVisitor, 'hasSubscription'>): BonusPlan | null {
  switch (campaign.bonusType) {
    case 'none':
      return { type: 'none' };
    case 'balance':
      return campaign.balanceBonusKopeks > 0 ? { type: 'balance', kopeks: campaign.balanceBonusKopeks } : null;
    case 'subscription': {
      const days = campaign.subscriptionDurationDays ?? 0;
      if (visitor.hasSubscription || days <= 0) return null;
      return {
        type: 'subscription',
        days,
        trafficLimitGb: campaign.subscriptionTrafficGb ?? 0,
        deviceLimit: campaign.subscriptionDeviceLimit,
        squads: campaign.subscriptionSquads,
      };
    }
    case 'tariff': {
      const days = campaign.tariffDurationDays ?? 0;
      if (visitor.hasSubscription || campaign.tariffId === null || days <= 0) return null;
      return { type: 'tariff', tariffId: campaign.tariffId, days };
    }
    default:
      return null;
  }
}
