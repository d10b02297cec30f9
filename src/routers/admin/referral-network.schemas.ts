import { z } from 'zod';

/** Contract group `Cabinet Admin Referral Network` (spec 04 section 16). */

const MAX_SCOPE = 50;

export const ScopeQuery = z.object({
  campaign_ids: z.array(z.int()).max(MAX_SCOPE).default([]),
  partner_ids: z.array(z.int()).max(MAX_SCOPE).default([]),
  user_ids: z.array(z.int()).max(MAX_SCOPE).default([]),
});

export const NetworkUserPath = z.object({ user_id: z.int() });
export const NetworkCampaignPath = z.object({ campaign_id: z.int() });
export const NetworkSearchQuery = z.object({ q: z.string().min(1).max(200) });

const branch = {
  direct_referrals: z.int(),
  total_branch_users: z.int(),
  branch_revenue_kopeks: z.int(),
  personal_revenue_kopeks: z.int(),
  personal_spent_kopeks: z.int(),
  subscription_name: z.string().nullable(),
  subscription_end: z.string().nullable(),
  subscription_status: z.string().nullable(),
  registered_at: z.string().nullable(),
};

const person = {
  id: z.int(),
  tg_id: z.int().nullable(),
  username: z.string().nullable(),
  email: z.string().nullable(),
  display_name: z.string(),
  is_partner: z.boolean(),
  referrer_id: z.int().nullable(),
};

export const NetworkUserNode = z
  .object({ ...person, campaign_id: z.int().nullable(), ...branch })
  .meta({ id: 'NetworkUserNode' });

export const NetworkUserDetail = z
  .object({
    ...person,
    referrer_display_name: z.string().nullable(),
    campaign_id: z.int().nullable(),
    campaign_name: z.string().nullable(),
    ...branch,
  })
  .meta({ id: 'NetworkUserDetail' });

export const TopReferrer = z
  .object({ user_id: z.int(), username: z.string().nullable(), referral_count: z.int() })
  .meta({ id: 'TopReferrer' });

const campaign = {
  id: z.int(),
  name: z.string(),
  start_parameter: z.string(),
  is_active: z.boolean(),
  direct_users: z.int(),
  total_network_users: z.int(),
  total_revenue_kopeks: z.int(),
  conversion_rate: z.number(),
  avg_check_kopeks: z.int(),
  top_referrers: z.array(TopReferrer),
};

export const NetworkCampaignNode = z.object(campaign).meta({ id: 'NetworkCampaignNode' });
export const NetworkCampaignDetail = z.object(campaign).meta({ id: 'NetworkCampaignDetail' });

export const NetworkEdge = z.object({ source: z.string(), target: z.string(), type: z.string() }).meta({ id: 'NetworkEdge' });

export const NetworkGraphResponse = z
  .object({
    users: z.array(NetworkUserNode),
    campaigns: z.array(NetworkCampaignNode),
    edges: z.array(NetworkEdge),
    total_users: z.int(),
    total_referrers: z.int(),
    total_campaigns: z.int(),
    total_earnings_kopeks: z.int(),
    total_subscription_revenue_kopeks: z.int(),
  })
  .meta({ id: 'NetworkGraphResponse' });

export const CampaignOption = z
  .object({ id: z.int(), name: z.string(), start_parameter: z.string(), is_active: z.boolean(), direct_users: z.int() })
  .meta({ id: 'CampaignOption' });

export const PartnerOption = z
  .object({ id: z.int(), display_name: z.string(), username: z.string().nullable(), campaign_count: z.int() })
  .meta({ id: 'PartnerOption' });

export const ScopeOptionsResponse = z
  .object({ campaigns: z.array(CampaignOption), partners: z.array(PartnerOption) })
  .meta({ id: 'ScopeOptionsResponse' });

export const NetworkSearchResult = z
  .object({ users: z.array(NetworkUserNode), campaigns: z.array(NetworkCampaignNode) })
  .meta({ id: 'NetworkSearchResult' });
