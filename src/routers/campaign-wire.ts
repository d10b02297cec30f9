import { rublesOf } from '../core/money.ts';
import type { Campaign, CampaignBonusType, CampaignCard, CampaignValues } from '../domain/campaigns/types.ts';

/** Names of campaigns on the wire, alike at both doors (spec 04 section 6). */

/** What every answer about a campaign begins with. */
export function toCampaignHead(campaign: Campaign) {
  return {
    id: campaign.id,
    name: campaign.name,
    start_parameter: campaign.startParameter,
    bonus_type: campaign.bonusType,
    is_active: campaign.isActive,
  };
}

/** What both doors show of a campaign. */
export function toCampaignFields({ campaign }: Pick<CampaignCard, 'campaign'>) {
  return {
    ...toCampaignHead(campaign),
    balance_bonus_kopeks: campaign.balanceBonusKopeks,
    balance_bonus_rubles: rublesOf(campaign.balanceBonusKopeks),
    subscription_duration_days: campaign.subscriptionDurationDays,
    subscription_traffic_gb: campaign.subscriptionTrafficGb,
    subscription_device_limit: campaign.subscriptionDeviceLimit,
    subscription_squads: campaign.subscriptionSquads,
    tariff_id: campaign.tariffId,
    tariff_duration_days: campaign.tariffDurationDays,
    created_by: campaign.createdBy,
    created_at: campaign.createdAt,
    updated_at: campaign.updatedAt,
  };
}

/** Fields that both doors take. */
interface CampaignInput {
  name: string;
  start_parameter: string;
  bonus_type: CampaignBonusType;
  balance_bonus_kopeks: number;
  subscription_duration_days?: number | null | undefined;
  subscription_traffic_gb?: number | null | undefined;
  subscription_device_limit?: number | null | undefined;
  subscription_squads: string[];
  tariff_id?: number | null | undefined;
  tariff_duration_days?: number | null | undefined;
  is_active: boolean;
  /** Only administrators name one. */
  partner_user_id?: number | null | undefined;
}

export function toNewCampaign(input: CampaignInput): CampaignValues {
  return {
    name: input.name,
    startParameter: input.start_parameter,
    bonusType: input.bonus_type,
    balanceBonusKopeks: input.balance_bonus_kopeks,
    subscriptionDurationDays: input.subscription_duration_days ?? null,
    subscriptionTrafficGb: input.subscription_traffic_gb ?? null,
    subscriptionDeviceLimit: input.subscription_device_limit ?? null,
    subscriptionSquads: input.subscription_squads,
    tariffId: input.tariff_id ?? null,
    tariffDurationDays: input.tariff_duration_days ?? null,
    isActive: input.is_active,
    partnerUserId: input.partner_user_id ?? null,
  };
}

type Nullish<T> = { [K in keyof T]?: T[K] | null | undefined };

/** Absent leaves a field as it is; null does, too, except where a field can be empty (spec 04 section 6.4). */
export function toCampaignChanges(input: Nullish<CampaignInput>): Partial<CampaignValues> {
  return {
    name: input.name ?? undefined,
    startParameter: input.start_parameter ?? undefined,
    bonusType: input.bonus_type ?? undefined,
    balanceBonusKopeks: input.balance_bonus_kopeks ?? undefined,
    subscriptionDurationDays: input.subscription_duration_days,
    subscriptionTrafficGb: input.subscription_traffic_gb,
    subscriptionDeviceLimit: input.subscription_device_limit,
    subscriptionSquads: input.subscription_squads ?? undefined,
    tariffId: input.tariff_id,
    tariffDurationDays: input.tariff_duration_days,
    isActive: input.is_active ?? undefined,
    partnerUserId: input.partner_user_id,
  };
}
