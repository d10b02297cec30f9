/** Pure rules of campaigns (spec 04 section 6). */
import type { Campaign, CampaignCounters, CampaignRegistrant, CampaignValues } from './types.ts';

/** The bonus that a user can be given now, with its amounts; null = a condition fails and nothing is registered. */
export type BonusPlan =
  | { type: 'none' }
  | { type: 'balance'; kopeks: number }
  | { type: 'subscription'; days: number; trafficLimitGb: number; deviceLimit: number | null; squads: readonly string[] }
  | { type: 'tariff'; tariffId: number; days: number };

/** Money needs an amount; a subscription or tariff needs a duration and a user without any subscription row. */
export function planBonus(campaign: Campaign, registrant: Pick<CampaignRegistrant, 'hasSubscription'>): BonusPlan | null {
  switch (campaign.bonusType) {
    case 'none':
      return { type: 'none' };
    case 'balance':
      return campaign.balanceBonusKopeks > 0 ? { type: 'balance', kopeks: campaign.balanceBonusKopeks } : null;
    case 'subscription': {
      const days = campaign.subscriptionDurationDays ?? 0;
      if (registrant.hasSubscription || days <= 0) return null;
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
      if (registrant.hasSubscription || campaign.tariffId === null || days <= 0) return null;
      return { type: 'tariff', tariffId: campaign.tariffId, days };
    }
    default:
      return null;
  }
}

/** Why a campaign could never give its bonus, with the field that is wrong; null = it can (spec 04 section 6.4). */
export function bonusGap(values: CampaignValues) {
  const gap = (field: keyof CampaignValues, wireName: string, what: string) => ({
    field,
    wireName,
    problem: `${wireName} ${what} for a ${values.bonusType} bonus`,
  });
  const { bonusType, balanceBonusKopeks, subscriptionDurationDays, tariffId, tariffDurationDays } = values;
  if (bonusType === 'balance' && balanceBonusKopeks <= 0)
    return gap('balanceBonusKopeks', 'balance_bonus_kopeks', 'must be positive');
  if (bonusType === 'subscription' && (subscriptionDurationDays ?? 0) <= 0) {
    return gap('subscriptionDurationDays', 'subscription_duration_days', 'must be positive');
  }
  if (bonusType !== 'tariff') return null;
  if (tariffId === null) return gap('tariffId', 'tariff_id', 'is required');
  return tariffDurationDays === null ? gap('tariffDurationDays', 'tariff_duration_days', 'is required') : null;
}

const BONUS_FIELDS: readonly (keyof CampaignValues)[] = [
  'bonusType',
  'balanceBonusKopeks',
  'subscriptionDurationDays',
  'tariffId',
  'tariffDurationDays',
];

/**
 * Whether these changes include a field of the bonus. Only then the bonus is checked again: a campaign whose tariff was deleted can still be
 * renamed or switched off.
 */
export function touchesBonus(changes: Partial<CampaignValues>): boolean {
  return BONUS_FIELDS.some((field) => changes[field] !== undefined);
}

/** Percent with one decimal; 0 of nothing. */
export function percentOfAll(part: number, all: number): number {
  return all === 0 ? 0 : Math.round((part * 1_000) / all) / 10;
}

/** Users who ever paid (spec 04 section 6.6). */
export function paidUsers(counters: Pick<CampaignCounters, 'payers' | 'hadPaid'>): number {
  return Math.max(counters.payers, counters.hadPaid);
}

/** The name of a campaign's partner (spec 04 section 0.3). */
export function partnerName(partner: { id: number; firstName: string | null; username: string | null }): string {
  return partner.firstName || partner.username || `#${partner.id}`;
}

/** The name of a registrant or referral in the statistics of a campaign. */
export function registrantName(user: {
  id: number;
  firstName: string | null;
  lastName: string | null;
  username: string | null;
}): string {
  return [user.firstName, user.lastName].filter(Boolean).join(' ') || user.username || `User #${user.id}`;
}
