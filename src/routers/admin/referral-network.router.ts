import { limitNetwork } from '../../domain/insight/network/limit.ts';
import {
  type Network,
  readNetwork,
  readNetworkCampaign,
  readNetworkUser,
  readScopedNetwork,
  readScopeOptions,
  searchNetwork,
  type UserNode,
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
    .meta({ openapi: { method: 'GET', path: `${ROOT}/`, tags, summary: 'The whole network' } })
    .output(toWire(NetworkGraphResponse))
    .query(async ({ ctx }) => toGraph(await readNetwork(ctx.app))),

  scopeOptions: limited('scope-options')
    .meta({ openapi: { method: 'GET', path: `${ROOT}/scope-options`, tags, summary: 'Campaigns and partners to choose from' } })
    .output(toWire(ScopeOptionsResponse))
    .query(({ ctx }) => readScopeOptions(ctx.app)),

  scoped: limited('scoped')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/scoped`, tags, summary: 'The network around campaigns, partners and users' },
    })
    .input(fromWire(ScopeQuery))
    .output(toWire(NetworkGraphResponse))
    .query(async ({ ctx, input }) => toGraph(await readScopedNetwork(ctx.app, input))),

  user: limited('user')
    .meta({ openapi: { method: 'GET', path: `${ROOT}/user/{user_id}`, tags, summary: 'A user and everyone below' } })
    .input(fromWire(NetworkUserPath))
    .output(toWire(NetworkUserDetail))
    .query(async ({ ctx, input }) => {
      const { referrerDisplayName, campaignName, ...user } = await readNetworkUser(ctx.app, input.userId);
      return { ...toUser(user), referrerDisplayName, campaignName };
    }),

  campaign: limited('campaign')
    .meta({ openapi: { method: 'GET', path: `${ROOT}/campaign/{campaign_id}`, tags, summary: 'A campaign' } })
    .input(fromWire(NetworkCampaignPath))
    .output(toWire(NetworkCampaignDetail))
    .query(({ ctx, input }) => readNetworkCampaign(ctx.app, input.campaignId)),

  search: limited('search')
    .meta({ openapi: { method: 'GET', path: `${ROOT}/search`, tags, summary: 'Search users and campaigns of the network' } })
    .input(fromWire(NetworkSearchQuery))
    .output(toWire(NetworkSearchResult))
    .query(async ({ ctx, input }) => {
      const { users, campaigns } = await searchNetwork(ctx.app, input.q);
      return { users: users.map(toUser), campaigns };
    }),
});
