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
import {
  NetworkCampaignDetail,
  NetworkCampaignPath,
  NetworkGraphResponse,
  NetworkSearchQuery,
  NetworkSearchResult,
  NetworkUserDetail,
  NetworkUserPath,
  ScopeOptionsResponse,
  ScopeQuery,
} from './referral-network.schemas.ts';

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
