import type { Campaign, CampaignBonusType, CampaignValues } from './types.ts';

/** A row of `advertising_campaigns`. */
export interface CampaignRow {
  id: number;
  name: string;
  start_parameter: string;
  bonus_type: CampaignBonusType;
  balance_bonus_kopeks: number;
  subscription_duration_days: number | null;
  subscription_traffic_gb: number | null;
  subscription_device_limit: number | null;
  subscription_squads: string[];
  tariff_id: number | null;
  tariff_duration_days: number | null;
  is_active: boolean;
  partner_user_id: number | null;
  created_by: number | null;
  created_at: Date;
  updated_at: Date;
}

export function toCampaign(row: CampaignRow): Campaign {
  return {
    id: row.id,
    name: row.name,
    startParameter: row.start_parameter,
    bonusType: row.bonus_type,
    balanceBonusKopeks: row.balance_bonus_kopeks,
    subscriptionDurationDays: row.subscription_duration_days,
    subscriptionTrafficGb: row.subscription_traffic_gb,
    subscriptionDeviceLimit: row.subscription_device_limit,
    subscriptionSquads: row.subscription_squads,
    tariffId: row.tariff_id,
    tariffDurationDays: row.tariff_duration_days,
    isActive: row.is_active,
    partnerUserId: row.partner_user_id,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** `$1` to `$12` of the statements that write a campaign. */
export function campaignParameters(values: CampaignValues): unknown[] {
  return [
    values.name,
    values.startParameter,
    values.bonusType,
    values.balanceBonusKopeks,
    values.subscriptionDurationDays,
    values.subscriptionTrafficGb,
    values.subscriptionDeviceLimit,
    JSON.stringify(values.subscriptionSquads),
    values.tariffId,
    values.tariffDurationDays,
    values.isActive,
    values.partnerUserId,
  ];
}
