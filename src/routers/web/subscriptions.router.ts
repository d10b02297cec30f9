import type { App } from '../../core/app.ts';
import { serverNotFound } from '../../domain/catalog/servers.ts';
import { userNotFound } from '../../domain/identity/errors.ts';
import { subscriptionExists, subscriptionNotFound } from '../../domain/subscriptions/errors.ts';
import { actualStatus } from '../../domain/subscriptions/rules/status.ts';
import type { Subscription } from '../../domain/subscriptions/types.ts';
import {
  addDevices,
  addSquad,
  addTrafficPackage,
  createWebSubscription,
  disableSubscription,
  durationRequired,
  extendByDays,
  findSubscription,
  listSubscriptions,
  removeSquad,
  squadUuidRequired,
  trafficUnlimited,
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

/** The stored status with the current one. */
const withActualStatus = (app: App, subscription: Subscription) => ({
  ...subscription,
  actualStatus: actualStatus(subscription, app.clock.now()),
});

export const subscriptionsRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/subscriptions', tags, summary: 'List subscriptions, newest first' },
      description: 'Lists subscriptions, newest first, as a plain array. All filters are combined.',
    })
    .input(fromWire(SubscriptionListQuery))
    .output(toWire(SubscriptionResponse.array()))
    .query(async ({ ctx, input }) =>
      (await listSubscriptions(ctx.app, input)).map((subscription) => withActualStatus(ctx.app, subscription)),
    ),

  create: auditedWebProcedure('users:subscription')
    .meta({
      openapi: { method: 'POST', path: '/subscriptions', tags, summary: 'Give a user a subscription without charging' },
      description:
        'Gives a user a trial or a paid subscription without charging. A paid one needs `period_days` or `duration_days`; other absent values are taken from the settings. The user is created or changed in the panel afterwards.',
      refuses: [durationRequired, subscriptionExists, serverNotFound, userNotFound],
    })
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
    .meta({
      openapi: { method: 'GET', path: '/subscriptions/{subscription_id}', tags, summary: 'One subscription' },
      description: 'Returns a subscription with its stored and its effective status.',
      refuses: [subscriptionNotFound],
    })
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
      description:
        'Disables a subscription: the status becomes `disabled`, the row remains. The user is disabled in the panel afterwards.',
      refuses: [subscriptionNotFound],
    })
    .input(fromWire(SubscriptionPath))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input }) =>
      withActualStatus(ctx.app, await disableSubscription(ctx.app, ctx.actor, input.subscriptionId)),
    ),

  extend: auditedWebProcedure('users:subscription')
    .meta({
      openapi: { method: 'POST', path: '/subscriptions/{subscription_id}/extend', tags, summary: 'Add days without charging' },
      description:
        'Adds days without charging: from the end where it is in the future, else from now. An expired, disabled or limited subscription becomes active. The panel is updated afterwards.',
      refuses: [subscriptionNotFound],
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
      description:
        'Adds traffic for 30 days without charging; an unlimited subscription stays unlimited. An expired, disabled or limited subscription whose end is in the future becomes active. The panel is updated afterwards.',
      refuses: [trafficUnlimited, subscriptionNotFound],
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
      description:
        'Raises the device limit without charging, at most to the setting `MAX_DEVICES_LIMIT`. The panel is updated afterwards.',
      refuses: [subscriptionNotFound],
    })
    .input(fromWire(withBody(SubscriptionPath, SubscriptionDevicesRequest)))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input }) =>
      withActualStatus(ctx.app, await addDevices(ctx.app, ctx.actor, input.subscriptionId, input.devices)),
    ),

  addSquad: auditedWebProcedure('users:subscription')
    .meta({
      openapi: { method: 'POST', path: '/subscriptions/{subscription_id}/squads', tags, summary: 'Connect a server' },
      description: 'Connects a server to the subscription, if it is not connected yet. The panel is updated afterwards.',
      refuses: [squadUuidRequired, serverNotFound, subscriptionNotFound],
    })
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
      description: 'Disconnects a server from the subscription, if it is connected. The panel is updated afterwards.',
      refuses: [subscriptionNotFound],
    })
    .input(fromWire(SubscriptionSquadPath))
    .output(toWire(SubscriptionResponse))
    .mutation(async ({ ctx, input }) =>
      withActualStatus(ctx.app, await removeSquad(ctx.app, ctx.actor, input.subscriptionId, input.squadUuid)),
    ),
});
