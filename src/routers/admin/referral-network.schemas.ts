import { z } from 'zod';

/** Contract group `Cabinet Admin Referral Network` (spec 04 section 16). */

const MAX_SCOPE = 50;

export const ScopeQuery = z.object({
  campaign_ids: z.array(z.int()).max(MAX_SCOPE).default([]).describe('Ids of campaigns.'),
  partner_ids: z.array(z.int()).max(MAX_SCOPE).default([]).describe('Internal ids of approved partners.'),
  user_ids: z.array(z.int()).max(MAX_SCOPE).default([]).describe('Internal ids of users.'),
});

export const NetworkUserPath = z.object({ user_id: z.int().describe('Internal id of the user.') });
export const NetworkCampaignPath = z.object({ campaign_id: z.int().describe('Id of the campaign.') });
export const NetworkSearchQuery = z.object({
  q: z.string().min(1).max(200).describe('Part of a name, parameter or e-mail, or an exact id.'),
});

const branch = {
  direct_referrals: z.int().describe('Number of users whom the user referred.'),
  total_branch_users: z.int().describe('Number of direct referrals.'),
  branch_revenue_kopeks: z.int().describe('Completed payments of the direct referrals for subscriptions, kopeks.'),
  personal_revenue_kopeks: z.int().describe('Rewards of the user in all, kopeks.'),
  personal_spent_kopeks: z.int().describe('Completed payments of the user for subscriptions, kopeks.'),
  subscription_name: z.string().nullable().describe('Name of the tariff of the subscription; null for none.'),
  subscription_end: z.string().nullable().describe('End of the subscription (UTC); null without a subscription.'),
  subscription_status: z
    .string()
    .nullable()
    .describe(
      '`trial_active`, `trial_expired`, `paid_active` or `paid_expired`; everything but a running subscription is expired. Null without a subscription.',
    ),
  registered_at: z.string().nullable().describe('When the user was created (UTC).'),
};

const person = {
  id: z.int().describe('Internal id of the user.'),
  tg_id: z.int().nullable().describe('Id of the user in the messenger; null for an account without messenger.'),
  username: z.string().nullable().describe('User name in the messenger, without `@`; null when the user has none.'),
  email: z.string().nullable().describe('E-mail address; null when the account has none.'),
  display_name: z
    .string()
    .describe(
      'First and last name, else the user name, else `ID` and the messenger id, else the part of the e-mail before `@`, else `User` and the id.',
    ),
  is_partner: z.boolean().describe('Whether the user is an approved partner.'),
  referrer_id: z.int().nullable().describe('Internal id of the referrer; null for none.'),
};

const NetworkUserNode = z
  .object({
    ...person,
    campaign_id: z.int().nullable().describe('Id of the campaign that the user registered through; null for none.'),
    ...branch,
  })
  .meta({ id: 'NetworkUserNode' });

export const NetworkUserDetail = z
  .object({
    ...person,
    referrer_display_name: z.string().nullable().describe('Name of the referrer; null for none.'),
    campaign_id: z.int().nullable().describe('Id of the campaign that the user registered through; null for none.'),
    campaign_name: z.string().nullable().describe('Name of the campaign; null for none.'),
    ...branch,
    total_branch_users: branch.total_branch_users.describe('Number of users below the user, 50 levels deep.'),
    branch_revenue_kopeks: branch.branch_revenue_kopeks.describe('Completed payments of these users for subscriptions, kopeks.'),
  })
  .meta({ id: 'NetworkUserDetail' });

const TopReferrer = z
  .object({
    user_id: z.int().describe('Internal id of the registrant.'),
    username: z.string().nullable().describe('User name in the messenger, without `@`; null when the user has none.'),
    referral_count: z.int().describe('Number of users whom the registrant referred.'),
  })
  .meta({ id: 'TopReferrer' });

const campaign = {
  id: z.int().describe('Id of the campaign.'),
  name: z.string().describe('Name of the campaign.'),
  start_parameter: z.string().describe('Part of the links that marks the campaign; unique, case-sensitive.'),
  is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
  direct_users: z.int().describe('Number of users who registered through the campaign.'),
  total_network_users: z.int().describe('The registrants and the users whom they referred.'),
  total_revenue_kopeks: z.int().describe('Completed payments of the registrants for subscriptions, kopeks.'),
  conversion_rate: z
    .number()
    .describe('Registrants with such a payment in percent of all, two decimals; 0 for none and in search results.'),
  avg_check_kopeks: z
    .int()
    .describe('Revenue divided by the registrants with a payment, rounded down; 0 for none and in search results.'),
  top_referrers: z.array(TopReferrer).describe('The five registrants with the most referrals; empty in search results.'),
};

const NetworkCampaignNode = z.object(campaign).meta({ id: 'NetworkCampaignNode' });
export const NetworkCampaignDetail = z.object(campaign).meta({ id: 'NetworkCampaignDetail' });

const NetworkEdge = z
  .object({
    source: z.string().describe('The node above: `user_` or `campaign_` and the id.'),
    target: z.string().describe('The node below: `user_` or `campaign_` and the id.'),
    type: z
      .string()
      .describe(
        'Kind of edge: `referral` (referrer to referral), `campaign` (campaign to registrant) or `partner_campaign` (partner to campaign).',
      ),
  })
  .meta({ id: 'NetworkEdge' });

export const NetworkGraphResponse = z
  .object({
    users: z.array(NetworkUserNode).describe('Users by id; at most 5000, those with the lowest ids.'),
    campaigns: z.array(NetworkCampaignNode).describe('Campaigns by id.'),
    edges: z
      .array(NetworkEdge)
      .describe(
        'Who referred whom, who registered through which campaign, whose campaign it is; only between nodes of the answer.',
      ),
    total_users: z.int().describe('Number of users in the answer.'),
    total_referrers: z.int().describe('Those of them with referrals.'),
    total_campaigns: z.int().describe('Number of campaigns in the answer.'),
    total_earnings_kopeks: z.int().describe('Rewards of the users in the answer, kopeks.'),
    total_subscription_revenue_kopeks: z.int().describe('Payments of the users in the answer for subscriptions, kopeks.'),
  })
  .meta({ id: 'NetworkGraphResponse' });

const CampaignOption = z
  .object({
    id: z.int().describe('Id of the campaign.'),
    name: z.string().describe('Name of the campaign that the network can be limited to.'),
    start_parameter: z.string().describe('Part of the links that marks the campaign; unique, case-sensitive.'),
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    direct_users: z.int().describe('Number of users who registered through the campaign.'),
  })
  .meta({ id: 'CampaignOption' });

const PartnerOption = z
  .object({
    id: z.int().describe('Internal id of the partner.'),
    display_name: z
      .string()
      .describe(
        'First and last name, else the user name, else `ID` and the messenger id, else the part of the e-mail before `@`, else `User` and the id.',
      ),
    username: z.string().nullable().describe('User name in the messenger, without `@`; null when the user has none.'),
    campaign_count: z.int().describe('Number of campaigns of the partner.'),
  })
  .meta({ id: 'PartnerOption' });

export const ScopeOptionsResponse = z
  .object({
    campaigns: z.array(CampaignOption).describe('All campaigns by name.'),
    partners: z.array(PartnerOption).describe('Approved partners by id.'),
  })
  .meta({ id: 'ScopeOptionsResponse' });

export const NetworkSearchResult = z
  .object({
    users: z.array(NetworkUserNode).describe('Up to 20 users of the network, by id.'),
    campaigns: z.array(NetworkCampaignNode).describe('Up to 20 campaigns, by id.'),
  })
  .meta({ id: 'NetworkSearchResult' });
