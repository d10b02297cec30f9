import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';
import { BonusTypeField, CAMPAIGN_EXAMPLE, campaignGift, campaignHead } from '../web/campaigns.schemas.ts';

/** Contract group `Cabinet Admin Campaigns` (spec 04 section 6). */

const StartParameter = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/);

export const AdminCampaignListQuery = z.object({
  include_inactive: z.boolean().default(true),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(100).default(50),
});

export const CampaignListItem = z
  .object({
    ...campaignHead,
    registrations_count: z.int(),
    total_revenue_kopeks: z.int().default(0),
    conversion_rate: z.number().default(0),
    partner_user_id: z.int().nullish(),
    partner_name: z.string().nullish(),
    created_at: Moment,
  })
  .meta({ id: 'CampaignListItem' });

export const AdminCampaignListResponse = z
  .object({ campaigns: CampaignListItem.array(), total: z.int() })
  .meta({ id: 'CabinetCampaignsCampaignListResponse' });

export const CampaignTariffInfo = z.object({ id: z.int(), name: z.string() }).meta({ id: 'TariffInfo' });

export const CampaignDetailResponse = z
  .object({
    ...campaignHead,
    balance_bonus_kopeks: z.int().default(0),
    balance_bonus_rubles: z.number().default(0),
    ...campaignGift,
    tariff: CampaignTariffInfo.nullish(),
    partner_user_id: z.int().nullish(),
    partner_name: z.string().nullish(),
    created_by: z.int().nullish(),
    created_at: Moment,
    updated_at: Moment.nullish(),
    deep_link: z.string().nullish(),
    web_link: z.string().nullish(),
  })
  .meta({ id: 'CampaignDetailResponse' });

export const AdminCampaignCreateRequest = z
  .object({
    name: z.string().min(1).max(255),
    start_parameter: StartParameter,
    bonus_type: BonusTypeField,
    is_active: z.boolean().default(true),
    balance_bonus_kopeks: z.int().min(0).default(0),
    subscription_duration_days: z.int().min(1).nullish(),
    subscription_traffic_gb: z.int().min(0).nullish(),
    subscription_device_limit: z.int().min(1).nullish(),
    subscription_squads: z.string().array().default([]),
    tariff_id: z.int().nullish(),
    tariff_duration_days: z.int().min(1).nullish(),
    partner_user_id: z.int().nullish(),
  })
  .meta({ id: 'CabinetCampaignsCampaignCreateRequest', example: CAMPAIGN_EXAMPLE });

export const AdminCampaignUpdateRequest = z
  .object({
    name: z.string().min(1).max(255).nullish(),
    start_parameter: StartParameter.nullish(),
    bonus_type: BonusTypeField.nullish(),
    is_active: z.boolean().nullish(),
    balance_bonus_kopeks: z.int().min(0).nullish(),
    subscription_duration_days: z.int().min(1).nullish(),
    subscription_traffic_gb: z.int().min(0).nullish(),
    subscription_device_limit: z.int().min(1).nullish(),
    subscription_squads: z.string().array().nullish(),
    tariff_id: z.int().nullish(),
    tariff_duration_days: z.int().min(1).nullish(),
    partner_user_id: z.int().nullish(),
  })
  .meta({ id: 'CabinetCampaignsCampaignUpdateRequest', example: { name: 'Spring' } });

export const CampaignDeleteAnswer = z.object({ message: z.string() });

export const CampaignToggleResponse = z
  .object({ id: z.int(), is_active: z.boolean(), message: z.string() })
  .meta({ id: 'CampaignToggleResponse' });

export const ServerSquadInfo = z
  .object({ id: z.int(), squad_uuid: z.string(), display_name: z.string(), country_code: z.string().nullish() })
  .meta({ id: 'ServerSquadInfo' });

export const AvailablePartnerItem = z
  .object({ user_id: z.int(), username: z.string().nullish(), first_name: z.string().nullish() })
  .meta({ id: 'AvailablePartnerItem' });

export const RegistrationsQuery = z.object({
  campaign_id: z.int(),
  page: z.int().min(1).default(1),
  per_page: z.int().min(1).max(100).default(50),
});

export const CampaignRegistrationItem = z
  .object({
    id: z.int(),
    user_id: z.int(),
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    bonus_type: z.string(),
    balance_bonus_kopeks: z.int().default(0),
    subscription_duration_days: z.int().nullish(),
    tariff_id: z.int().nullish(),
    tariff_duration_days: z.int().nullish(),
    created_at: Moment,
    user_balance_kopeks: z.int().default(0),
    has_subscription: z.boolean().default(false),
    has_paid: z.boolean().default(false),
  })
  .meta({ id: 'CampaignRegistrationItem' });

export const CampaignRegistrationsResponse = z
  .object({ registrations: CampaignRegistrationItem.array(), total: z.int(), page: z.int(), per_page: z.int() })
  .meta({ id: 'CampaignRegistrationsResponse' });
