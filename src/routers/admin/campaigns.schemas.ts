import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';
import { BonusTypeField, CAMPAIGN_EXAMPLE, campaignGift, campaignHead } from '../web/campaigns.schemas.ts';

/** Contract group `Cabinet Admin Campaigns` (spec 04 section 6). */

const StartParameter = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/);

export const AdminCampaignListQuery = z.object({
  include_inactive: z.boolean().default(true).describe('Whether inactive records are listed too.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: z.int().min(1).max(100).default(50).describe('Greatest number of records in the answer.'),
});

const CampaignListItem = z
  .object({
    ...campaignHead,
    registrations_count: z.int().describe('Number of users who registered through the campaign.'),
    total_revenue_kopeks: z.int().default(0).describe('Revenue of the whole period in kopeks.'),
    conversion_rate: z.number().default(0).describe('Share of those who bought, in percent; 0 when there are none.'),
    partner_user_id: z.int().nullish().describe('Internal id of the partner whom the campaign belongs to; null for none.'),
    partner_name: z.string().nullish().describe('Name of the partner; null for none.'),
    created_at: Timestamp.describe('When the campaign was created (UTC).'),
  })
  .meta({ id: 'CampaignListItem' });

export const AdminCampaignListResponse = z
  .object({
    campaigns: CampaignListItem.array().describe('Campaigns of this page.'),
    total: z.int().describe('Number of advertising campaigns that match the filters, on all pages.'),
  })
  .meta({ id: 'CabinetCampaignsCampaignListResponse' });

const CampaignTariffInfo = z
  .object({ id: z.int().describe('Id of the tariff.'), name: z.string().describe('Name of the tariff of the bonus.') })
  .meta({ id: 'TariffInfo' });

export const CampaignDetailResponse = z
  .object({
    ...campaignHead,
    balance_bonus_kopeks: z.int().default(0).describe('Kopeks added to the balance; for the bonus type `balance`.'),
    balance_bonus_rubles: z.number().default(0).describe('The same in rubles: kopeks / 100.'),
    ...campaignGift,
    tariff: CampaignTariffInfo.nullish().describe('Tariff of the bonus; null for none.'),
    partner_user_id: z.int().nullish().describe('Internal id of the partner whom the campaign belongs to; null for none.'),
    partner_name: z.string().nullish().describe('Name of the partner; null for none.'),
    created_by: z
      .int()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
    created_at: Timestamp.describe('When the campaign was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the record was last changed (UTC); null when it never was.'),
    deep_link: z.string().nullish().describe('Link to the bot with the start parameter; null when it cannot be built.'),
    web_link: z.string().nullish().describe('Link to the cabinet with the start parameter; null when no address is configured.'),
  })
  .meta({ id: 'CampaignDetailResponse' });

export const AdminCampaignCreateRequest = z
  .object({
    name: z.string().min(1).max(255).describe('Name of the campaign, 1 to 255 characters, for administrators.'),
    start_parameter: StartParameter.describe('Part of the links that marks the campaign; unique, case-sensitive.'),
    bonus_type: BonusTypeField.describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
    is_active: z.boolean().default(true).describe('Whether it is active; an inactive record remains stored but has no effect.'),
    balance_bonus_kopeks: z.int().min(0).default(0).describe('Kopeks added to the balance; for the bonus type `balance`.'),
    subscription_duration_days: z
      .int()
      .min(1)
      .nullish()
      .describe('Days of the given subscription; for the bonus type `subscription`. Null for none.'),
    subscription_traffic_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Traffic limit of the given subscription in GB; 0 = unlimited. Null for the default.'),
    subscription_device_limit: z.int().min(1).nullish().describe('Device limit of the given subscription; null for the default.'),
    subscription_squads: z
      .string()
      .array()
      .default([])
      .describe('UUIDs of the servers of the given subscription; empty for one chosen at random.'),
    tariff_id: z.int().nullish().describe('Id of the tariff; null for none.'),
    tariff_duration_days: z.int().min(1).nullish().describe('Days on the tariff; for the bonus type `tariff`. Null for none.'),
    partner_user_id: z.int().nullish().describe('Internal id of the partner whom the campaign belongs to; null for none.'),
  })
  .meta({ id: 'CabinetCampaignsCampaignCreateRequest', example: CAMPAIGN_EXAMPLE });

export const AdminCampaignUpdateRequest = z
  .object({
    name: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe('New name of the campaign, 1 to 255 characters; null leaves it unchanged.'),
    start_parameter: StartParameter.nullish().describe(
      'Part of the links that marks the campaign; unique, case-sensitive. In an update null leaves it unchanged.',
    ),
    bonus_type: BonusTypeField.nullish().describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
    is_active: z.boolean().nullish().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    balance_bonus_kopeks: z.int().min(0).nullish().describe('Kopeks added to the balance; null leaves it unchanged.'),
    subscription_duration_days: z
      .int()
      .min(1)
      .nullish()
      .describe('Days of the given subscription; for the bonus type `subscription`. Null for none.'),
    subscription_traffic_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Traffic limit of the given subscription in GB; 0 = unlimited. Null for the default.'),
    subscription_device_limit: z.int().min(1).nullish().describe('Device limit of the given subscription; null for the default.'),
    subscription_squads: z
      .string()
      .array()
      .nullish()
      .describe('UUIDs of the servers of the given subscription; empty for one chosen at random.'),
    tariff_id: z.int().nullish().describe('Id of the tariff; null for none.'),
    tariff_duration_days: z.int().min(1).nullish().describe('Days on the tariff; for the bonus type `tariff`. Null for none.'),
    partner_user_id: z.int().nullish().describe('Internal id of the partner whom the campaign belongs to; null for none.'),
  })
  .meta({ id: 'CabinetCampaignsCampaignUpdateRequest', example: { name: 'Spring' } });

export const CampaignDeleteAnswer = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
});

export const CampaignToggleResponse = z
  .object({
    id: z.int().describe('Id of the campaign.'),
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'CampaignToggleResponse' });

export const ServerSquadInfo = z
  .object({
    id: z.int().describe('Id of the server.'),
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    display_name: z.string().describe('Name shown to users.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
  })
  .meta({ id: 'ServerSquadInfo' });

export const AvailablePartnerItem = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
  })
  .meta({ id: 'AvailablePartnerItem' });

export const RegistrationsQuery = z.object({
  campaign_id: z.int().describe('Id of the campaign.'),
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  per_page: z.int().min(1).max(100).default(50).describe('Number of records per page.'),
});

const CampaignRegistrationItem = z
  .object({
    id: z.int().describe('Id of the registration.'),
    user_id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    bonus_type: z.string().describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
    balance_bonus_kopeks: z.int().default(0).describe('Kopeks that the registration added to the balance.'),
    subscription_duration_days: z
      .int()
      .nullish()
      .describe('Days of the given subscription; for the bonus type `subscription`. Null for none.'),
    tariff_id: z.int().nullish().describe('Id of the tariff; null for none.'),
    tariff_duration_days: z.int().nullish().describe('Days on the tariff; for the bonus type `tariff`. Null for none.'),
    created_at: Timestamp.describe('When the user registered through the campaign (UTC).'),
    user_balance_kopeks: z.int().default(0).describe('Balance of the user in kopeks.'),
    has_subscription: z.boolean().default(false).describe('Whether the user has a subscription.'),
    has_paid: z.boolean().default(false).describe('Whether the user ever paid.'),
  })
  .meta({ id: 'CampaignRegistrationItem' });

export const CampaignRegistrationsResponse = z
  .object({
    registrations: CampaignRegistrationItem.array().describe('Users who registered through the campaign, newest first.'),
    total: z.int().describe('Number of users who registered through the campaign, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
  })
  .meta({ id: 'CampaignRegistrationsResponse' });
