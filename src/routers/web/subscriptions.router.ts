import type { App } from '../../core/app.ts';
import { createWebSubscription } from '../../domain/subscriptions/create-web-subscription.ts';
import { actualStatus } from '../../domain/subscriptions/rules/status.ts';
import type { Subscription } from '../../domain/subscriptions/types.ts';
import {
  addDevices,
  addSquad,
  addTrafficPackage,
  disableSubscription,
  extendByDays,
  findSubscription,
  listSubscriptions,
  removeSquad,
} from '../../domain/subscriptions/web-subscriptions.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  SubscriptionCreateRequest,
  SubscriptionDevicesRequest,
  SubscriptionExtendRequest,
  SubscriptionListQuery,
  SubscriptionPath,
  SubscriptionResponse,
  SubscriptionSquadPath,
  SubscriptionSquadRequest,
  SubscriptionTrafficRequest,
} from './subscriptions.schemas.ts';

const tags: [string] = ['subscriptions'];

/** The stored status with the one at this moment. */
const withActualStatus = (app: App, subscription: Subscription) => ({
  ...subscription,
  actualStatus: actualStatus(subscription, app.clock.now()),
});

export const subscriptionsRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/subscriptions', tags, summary: 'List subscriptions, newest first' } })
    .input(fromWire(SubscriptionListQuery))
    .output(toWire(SubscriptionResponse.array()))
    .query(async ({ ctx, input }) =>
      (await listSubscriptions(ctx.app, input)).map((subscription) => withActualStatus(ctx.app, subscription)),
    ),

  create: auditedWebProcedure('users:subscription')
    .meta({ openapi: { method: 'POST', path: '/subscriptions', tags, summary: 'Give a user a subscription without charging' } })
    .input(fromWire(SubscriptionCreateRequest))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input: { periodDays, ...input } }) => {
      const created = await createWebSubscription(ctx.app, ctx.actor, {
        ...input,
        durationDays: input.durationDays ?? periodDays,
        daysField: typeof input.durationDays === 'number' ? 'duration_days' : 'period_days',
      });
      return withActualStatus(ctx.app, created);
    }),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/subscriptions/{subscription_id}', tags, summary: 'One subscription' } })
    .input(fromWire(SubscriptionPath))
    .output(toWire(SubscriptionResponse))
    .query(async ({ ctx, input }) => withActualStatus(ctx.app, await findSubscription(ctx.app, input.subscriptionId))),

  delete: auditedWebProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/subscriptions/{subscription_id}',
        tags,
        summary: 'Disable a subscription; it is retained',
      },
    })
    .input(fromWire(SubscriptionPath))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input }) =>
      withActualStatus(ctx.app, await disableSubscription(ctx.app, ctx.actor, input.subscriptionId)),
    ),

  extend: auditedWebProcedure('users:subscription')
    .meta({
      openapi: { method: 'POST', path: '/subscriptions/{subscription_id}/extend', tags, summary: 'Add days without charging' },
    })
    .input(fromWire(withBody(SubscriptionPath, SubscriptionExtendRequest)))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input }) =>
      withActualStatus(ctx.app, await extendByDays(ctx.app, ctx.actor, input.subscriptionId, input.days)),
    ),

  addTraffic: auditedWebProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'POST',
        path: '/subscriptions/{subscription_id}/traffic',
        tags,
        summary: 'Add traffic for 30 days without charging',
      },
    })
    .input(fromWire(withBody(SubscriptionPath, SubscriptionTrafficRequest)))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input }) =>
      withActualStatus(ctx.app, await addTrafficPackage(ctx.app, ctx.actor, input.subscriptionId, input.gb)),
    ),

  addDevices: auditedWebProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'POST',
        path: '/subscriptions/{subscription_id}/devices',
        tags,
        summary: 'Raise the device limit without charging',
      },
    })
    .input(fromWire(withBody(SubscriptionPath, SubscriptionDevicesRequest)))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input }) =>
      withActualStatus(ctx.app, await addDevices(ctx.app, ctx.actor, input.subscriptionId, input.devices)),
    ),

  addSquad: auditedWebProcedure('users:subscription')
    .meta({ openapi: { method: 'POST', path: '/subscriptions/{subscription_id}/squads', tags, summary: 'Connect a server' } })
    .input(fromWire(withBody(SubscriptionPath, SubscriptionSquadRequest)))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input }) =>
      withActualStatus(ctx.app, await addSquad(ctx.app, ctx.actor, input.subscriptionId, input.squadUuid)),
    ),

  removeSquad: auditedWebProcedure('users:subscription')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/subscriptions/{subscription_id}/squads/{squad_uuid}',
        tags,
        summary: 'Disconnect a server',
      },
    })
    .input(fromWire(SubscriptionSquadPath))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input }) =>
      withActualStatus(ctx.app, await removeSquad(ctx.app, ctx.actor, input.subscriptionId, input.squadUuid)),
    ),
});
