import type { Campaign, CampaignBonusType, CampaignValues } from './types.ts';

/** A row of `advertising_campaigns`. */
export interface CampaignRow {
  id: number;
  name: string;
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
  createdBy: number | null;
  createdAt: Date;
  updatedAt: Date;
}

export function toCampaign(row: CampaignRow): Campaign {
  return {
    id: row.id,
    name: row.name,
    startParameter: row.startParameter,
    bonusType: row.bonusType,
    balanceBonusKopeks: row.balanceBonusKopeks,
    subscriptionDurationDays: row.subscriptionDurationDays,
    subscriptionTrafficGb: row.subscriptionTrafficGb,
    subscriptionDeviceLimit: row.subscriptionDeviceLimit,
    subscriptionSquads: row.subscriptionSquads,
    tariffId: row.tariffId,
    tariffDurationDays: row.tariffDurationDays,
    isActive: row.isActive,
    partnerUserId: row.partnerUserId,
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
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
