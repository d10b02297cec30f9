import { z } from 'zod';
import {
  campaignNotFound,
  limitNetwork,
  type Network,
  nothingFound,
  nothingSelected,
  rateLimited,
  readNetwork,
  readNetworkCampaign,
  readNetworkUser,
  readScopedNetwork,
  readScopeOptions,
  searchNetwork,
  tooManySelected,
  type UserNode,
  userNotFound,
} from '../../domain/insight/network/read-network.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Admin Referral Network`. */

const MAX_SCOPE = 50;

const ScopeQuery = z.object({
  campaign_ids: z.array(z.int()).max(MAX_SCOPE).default([]).describe('Ids of campaigns.'),
  partner_ids: z.array(z.int()).max(MAX_SCOPE).default([]).describe('Internal ids of approved partners.'),
  user_ids: z.array(z.int()).max(MAX_SCOPE).default([]).describe('Internal ids of users.'),
});

const NetworkUserPath = z.object({ user_id: z.int().describe('Internal id of the user.') });
const NetworkCampaignPath = z.object({ campaign_id: z.int().describe('Id of the campaign.') });
const NetworkSearchQuery = z.object({
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

const NetworkUserDetail = z
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
  is_active: z.boolean().describe('Whether the link of the campaign still registers users.'),
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
const NetworkCampaignDetail = z.object(campaign).meta({ id: 'NetworkCampaignDetail' });

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

const NetworkGraphResponse = z
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
    is_active: z.boolean().describe('Whether the link of the campaign still registers users.'),
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

const ScopeOptionsResponse = z
  .object({
    campaigns: z.array(CampaignOption).describe('All campaigns by name.'),
    partners: z.array(PartnerOption).describe('Approved partners by id.'),
  })
  .meta({ id: 'ScopeOptionsResponse' });

const NetworkSearchResult = z
  .object({
    users: z.array(NetworkUserNode).describe('Up to 20 users of the network, by id.'),
    campaigns: z.array(NetworkCampaignNode).describe('Up to 20 campaigns, by id.'),
  })
  .meta({ id: 'NetworkSearchResult' });

const tags: [string] = ['Cabinet Admin Referral Network'];
const ROOT = '/cabinet/admin/referral-network';

/** An operation of the network, whose requests are counted for each administrator. */
const limited = (endpoint: Parameters<typeof limitNetwork>[2]) =>
  adminProcedure('stats:read').use(async ({ ctx, next }) => {
    await limitNetwork(ctx.app, ctx.actor, endpoint);
    return next();
  });

function toUser<U extends UserNode>({ messengerId, referredById, subscriptionEnd, createdAt, ...user }: U) {
  return {
    ...user,
    tgId: messengerId,
    referrerId: referredById,
    subscriptionEnd: subscriptionEnd?.toISOString() ?? null,
    registeredAt: createdAt.toISOString(),
  };
}

const toGraph = ({ users, ...network }: Network) => ({ ...network, users: users.map(toUser) });

export const adminReferralNetworkRouter = router({
  graph: limited('graph')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/`, tags, summary: 'The whole network' },
      description:
        'Returns the users who have a referrer, referrals or a registration through a campaign, all campaigns, and their connections. Of more than 5000 users those with the lowest ids are returned. At most 10 requests a minute for each administrator.',
      refuses: [rateLimited],
    })
    .output(toWire(NetworkGraphResponse))
    .query(async ({ ctx }) => toGraph(await readNetwork(ctx.app))),

  scopeOptions: limited('scope-options')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/scope-options`, tags, summary: 'Campaigns and partners to choose from' },
      description:
        'Returns the campaigns and approved partners that a part of the network can be chosen by. At most 30 requests a minute for each administrator.',
    })
    .output(toWire(ScopeOptionsResponse))
    .query(({ ctx }) => readScopeOptions(ctx.app)),

  scoped: limited('scoped')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/scoped`, tags, summary: 'The network around campaigns, partners and users' },
      description:
        'Returns a part of the network: of campaigns the registrants and everyone below them; of approved partners their campaigns with these users, the partner and everyone below; of users everyone above and below them. Campaigns of all of them are added. At most 50 items, 50 levels and 5000 users. At most 10 requests a minute for each administrator.',
      refuses: [nothingSelected, tooManySelected, nothingFound, rateLimited],
    })
    .input(fromWire(ScopeQuery))
    .output(toWire(NetworkGraphResponse))
    .query(async ({ ctx, input }) => toGraph(await readScopedNetwork(ctx.app, input))),

  user: limited('user')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/user/{user_id}`, tags, summary: 'A user and everyone below' },
      description:
        'Returns any user with what the whole branch below, 50 levels deep, has paid. At most 30 requests a minute for each administrator.',
      refuses: [userNotFound],
    })
    .input(fromWire(NetworkUserPath))
    .output(toWire(NetworkUserDetail))
    .query(async ({ ctx, input }) => {
      const { referrerDisplayName, campaignName, ...user } = await readNetworkUser(ctx.app, input.userId);
      return { ...toUser(user), referrerDisplayName, campaignName };
    }),

  campaign: limited('campaign')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/campaign/{campaign_id}`, tags, summary: 'A campaign' },
      description: 'Returns a campaign with what its registrants have paid. At most 30 requests a minute for each administrator.',
      refuses: [campaignNotFound],
    })
    .input(fromWire(NetworkCampaignPath))
    .output(toWire(NetworkCampaignDetail))
    .query(({ ctx, input }) => readNetworkCampaign(ctx.app, input.campaignId)),

  search: limited('search')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/search`, tags, summary: 'Search users and campaigns of the network' },
      description:
        'Returns users of the network by a part of the user name or e-mail or by the exact internal or messenger id, and campaigns by a part of the name or parameter; 20 of each, by id. At most 30 requests a minute for each administrator.',
    })
    .input(fromWire(NetworkSearchQuery))
    .output(toWire(NetworkSearchResult))
    .query(async ({ ctx, input }) => {
      const { users, campaigns } = await searchNetwork(ctx.app, input.q);
      return { users: users.map(toUser), campaigns };
    }),
});
