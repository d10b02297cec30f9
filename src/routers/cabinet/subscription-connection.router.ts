import { chooseServers, readServerOffer } from '../../domain/subscriptions/choose-servers.ts';
import { readAppGuide } from '../../domain/subscriptions/read-app-guide.ts';
import { refreshTraffic } from '../../domain/subscriptions/refresh-traffic.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import {
  AppGuideAnswer,
  CountriesAnswer,
  CountriesChangeAnswer,
  CountriesRequest,
  TrafficRefreshAnswer,
} from './subscription-connection.schemas.ts';

const tags: [string] = ['Cabinet Subscription'];
const ROOT = '/cabinet/subscription';

export const subscriptionConnectionRouter = router({
  countries: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: `${ROOT}/countries`, tags, summary: 'List servers that can be connected' } })
    .output(toWire(CountriesAnswer))
    .query(({ ctx }) => readServerOffer(ctx.app, ctx.actor)),

  changeCountries: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/countries`, tags, summary: 'Change the connected servers' },
      idempotent: true,
      wire: { wholeBodyKey: 'body' },
    })
    .input(CountriesRequest)
    .output(toWire(CountriesChangeAnswer))
    .mutation(({ ctx, input }) =>
      chooseServers(ctx.app, ctx.actor, { countries: input.body.countries, idempotencyKey: ctx.idempotencyKey }),
    ),

  appConfig: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: `${ROOT}/app-config`, tags, summary: 'Guide to connect client apps' } })
    .output(AppGuideAnswer)
    .query(async ({ ctx }) => {
      const { cryptoLink, ...guide } = await readAppGuide(ctx.app, ctx.actor);
      return { isVpnPanel: true as const, ...guide, subscriptionCryptoLink: cryptoLink };
    }),

  refreshTraffic: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: `${ROOT}/refresh-traffic`, tags, summary: 'Read the used traffic from the panel' } })
    .output(toWire(TrafficRefreshAnswer))
    .mutation(async ({ ctx }) => ({ success: true as const, ...(await refreshTraffic(ctx.app, ctx.actor)) })),
});
