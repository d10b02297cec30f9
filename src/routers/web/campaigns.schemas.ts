import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `campaigns` (spec 04 section 6). */

export const BonusTypeField = z.enum(['balance', 'subscription', 'none', 'tariff']);

export const CampaignPath = z.object({ campaign_id: z.int() });

export const CampaignListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  include_inactive: z.boolean().default(true),
});

/** The first fields of every answer about a campaign. */
export const campaignHead = {
  id: z.int(),
  name: z.string(),
  start_parameter: z.string(),
  bonus_type: BonusTypeField,
  is_active: z.boolean(),
};

/** Contents of a subscription or tariff bonus. */
export const campaignGift = {
  subscription_duration_days: z.int().nullish(),
  subscription_traffic_gb: z.int().nullish(),
  subscription_device_limit: z.int().nullish(),
  subscription_squads: z.string().array().default([]),
  tariff_id: z.int().nullish(),
  tariff_duration_days: z.int().nullish(),
};

export const CampaignResponse = z
  .object({
    ...campaignHead,
    ...campaignGift,
    balance_bonus_kopeks: z.int(),
    balance_bonus_rubles: z.number(),
    tariff_name: z.string().nullish(),
    created_by: z.int().nullish(),
    created_at: Moment,
    updated_at: Moment,
    registrations_count: z.int().default(0),
  })
  .meta({ id: 'CampaignResponse' });

export const CampaignListResponse = z
  .object({ items: CampaignResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'CampaignListResponse' });

export const CAMPAIGN_EXAMPLE = {
  name: 'Spring',
  start_parameter: 'spring_26',
  bonus_type: 'balance',
  balance_bonus_kopeks: 5_000,
};

export const CampaignCreateRequest = z
  .object({
    name: z.string().max(255),
    start_parameter: z.string().max(64),
    bonus_type: BonusTypeField,
    balance_bonus_kopeks: z.int().min(0).default(0),
    subscription_duration_days: z.int().min(0).nullish(),
    subscription_traffic_gb: z.int().min(0).nullish(),
    subscription_device_limit: z.int().min(0).nullish(),
    subscription_squads: z.string().array().default([]),
    tariff_id: z.int().min(1).nullish(),
    tariff_duration_days: z.int().min(1).nullish(),
    is_active: z.boolean().default(true),
  })
  .meta({ id: 'CampaignCreateRequest', example: CAMPAIGN_EXAMPLE });

export const CampaignUpdateRequest = z
  .object({
    name: z.string().max(255).nullish(),
    start_parameter: z.string().max(64).nullish(),
    bonus_type: BonusTypeField.nullish(),
    balance_bonus_kopeks: z.int().min(0).nullish(),
    subscription_duration_days: z.int().min(0).nullish(),
    subscription_traffic_gb: z.int().min(0).nullish(),
    subscription_device_limit: z.int().min(0).nullish(),
    subscription_squads: z.string().array().nullish(),
    tariff_id: z.int().min(1).nullish(),
    tariff_duration_days: z.int().min(1).nullish(),
    is_active: z.boolean().nullish(),
  })
  .meta({ id: 'CampaignUpdateRequest', example: { name: 'Spring' } });
