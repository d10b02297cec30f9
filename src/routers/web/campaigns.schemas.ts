import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `campaigns`. */

export const BonusTypeField = z.enum(['balance', 'subscription', 'none', 'tariff']);

export const CampaignPath = z.object({ campaign_id: z.int().describe('Id of the campaign.') });

export const CampaignListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  include_inactive: z.boolean().default(true).describe('Whether inactive records are listed too.'),
});

/** The first fields of every answer about a campaign. */
export const campaignHead = {
  id: z.int().describe('Id of the campaign.'),
  name: z.string().describe('Name of the campaign, for administrators.'),
  start_parameter: z.string().describe('Part of the links that marks the campaign; unique, case-sensitive.'),
  bonus_type: BonusTypeField.describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
  is_active: z
    .boolean()
    .describe('Whether the link of the campaign registers users and gives them the bonus; otherwise it has no effect.'),
};

/** Contents of a subscription or tariff bonus. */
export const campaignGift = {
  subscription_duration_days: z
    .int()
    .nullish()
    .describe('Days of the given subscription; for the bonus type `subscription`. Null for none.'),
  subscription_traffic_gb: z.int().nullish().describe('Traffic limit of the given subscription in GB; 0 or null = unlimited.'),
  subscription_device_limit: z.int().nullish().describe('Device limit of the given subscription; null for the default.'),
  subscription_squads: z
    .string()
    .array()
    .default([])
    .describe('UUIDs of the servers of the given subscription; empty for one chosen at random.'),
  tariff_id: z.int().nullish().describe('Id of the tariff; null for none.'),
  tariff_duration_days: z.int().nullish().describe('Days on the tariff; for the bonus type `tariff`. Null for none.'),
};

export const CampaignResponse = z
  .object({
    ...campaignHead,
    ...campaignGift,
    balance_bonus_kopeks: z.int().describe('Kopeks added to the balance; for the bonus type `balance`.'),
    balance_bonus_rubles: z.number().describe('The same in rubles: kopeks / 100.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    created_by: z
      .int()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
    created_at: Timestamp.describe('When the campaign was created (UTC).'),
    updated_at: Timestamp.describe('When the campaign or its partner was last changed (UTC); registrations do not count.'),
    registrations_count: z.int().default(0).describe('Number of users who registered through the campaign.'),
  })
  .meta({ id: 'CampaignResponse' });

export const CampaignListResponse = z
  .object({
    items: CampaignResponse.array().describe('A page of advertising campaigns, newest first.'),
    total: z.int().describe('Number of advertising campaigns that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'CampaignListResponse' });

export const CAMPAIGN_EXAMPLE = {
  name: 'Spring',
  start_parameter: 'spring_26',
  bonus_type: 'balance',
  balance_bonus_kopeks: 5_000,
};

export const CampaignCreateRequest = z
  .object({
    name: z.string().max(255).describe('Name of the campaign. Trimmed.'),
    start_parameter: z.string().max(64).describe('Part of the links that marks the campaign; unique, case-sensitive.'),
    bonus_type: BonusTypeField.describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
    balance_bonus_kopeks: z.int().min(0).default(0).describe('Kopeks added to the balance; for the bonus type `balance`.'),
    subscription_duration_days: z
      .int()
      .min(0)
      .nullish()
      .describe('Days of the given subscription; for the bonus type `subscription`. Null for none.'),
    subscription_traffic_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Traffic limit of the given subscription in GB; 0 or null = unlimited.'),
    subscription_device_limit: z.int().min(0).nullish().describe('Device limit of the given subscription; null for the default.'),
    subscription_squads: z
      .string()
      .array()
      .default([])
      .describe('UUIDs of the servers of the given subscription; empty for one chosen at random.'),
    tariff_id: z.int().min(1).nullish().describe('Id of the tariff; null for none.'),
    tariff_duration_days: z.int().min(1).nullish().describe('Days on the tariff; for the bonus type `tariff`. Null for none.'),
    is_active: z
      .boolean()
      .default(true)
      .describe('Whether the link of the campaign registers users from now on; otherwise it has no effect.'),
  })
  .meta({ id: 'CampaignCreateRequest', example: CAMPAIGN_EXAMPLE });

export const CampaignUpdateRequest = z
  .object({
    name: z.string().max(255).nullish().describe('New name of the campaign, up to 255 characters; null leaves it unchanged.'),
    start_parameter: z
      .string()
      .max(64)
      .nullish()
      .describe('Part of the links that marks the campaign; unique, case-sensitive. In an update null leaves it unchanged.'),
    bonus_type: BonusTypeField.nullish().describe(
      'What a new registration gets: `balance`, `subscription`, `tariff` or `none`; null leaves it unchanged.',
    ),
    balance_bonus_kopeks: z.int().min(0).nullish().describe('Kopeks added to the balance; null leaves it unchanged.'),
    subscription_duration_days: z
      .int()
      .min(0)
      .nullish()
      .describe(
        'Days of the given subscription; for the bonus type `subscription`. Null removes them, absent leaves them unchanged.',
      ),
    subscription_traffic_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Traffic limit of the given subscription in GB; 0 or null = unlimited, absent leaves it unchanged.'),
    subscription_device_limit: z
      .int()
      .min(0)
      .nullish()
      .describe('Device limit of the given subscription; null sets the default, absent leaves it unchanged.'),
    subscription_squads: z
      .string()
      .array()
      .nullish()
      .describe('UUIDs of the servers of the given subscription; empty for one chosen at random, null leaves them unchanged.'),
    tariff_id: z
      .int()
      .min(1)
      .nullish()
      .describe('Tariff of the bonus type `tariff`; null removes it, absent leaves it unchanged.'),
    tariff_duration_days: z
      .int()
      .min(1)
      .nullish()
      .describe('Days on the tariff; for the bonus type `tariff`. Null removes them, absent leaves them unchanged.'),
    is_active: z.boolean().nullish().describe('Whether the link of the campaign registers users; null leaves it unchanged.'),
  })
  .meta({ id: 'CampaignUpdateRequest', example: { name: 'Spring' } });
