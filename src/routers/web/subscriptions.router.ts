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
import { router, webProcedure } from '../trpc.ts';
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

function toSubscriptionResponse(app: App, subscription: Subscription) {
  return {
    id: subscription.id,
    user_id: subscription.userId,
    status: subscription.status,
    actual_status: actualStatus(subscription, app.clock.now()),
    is_trial: subscription.isTrial,
    start_date: subscription.startDate,
    end_date: subscription.endDate,
    traffic_limit_gb: subscription.trafficLimitGb,
    traffic_used_gb: subscription.trafficUsedGb,
    device_limit: subscription.deviceLimit,
    autopay_enabled: subscription.autopayEnabled,
    autopay_days_before: subscription.autopayDaysBefore,
    subscription_url: subscription.subscriptionUrl,
    subscription_crypto_link: subscription.subscriptionCryptoLink,
    connected_squads: subscription.connectedSquads,
    created_at: subscription.createdAt,
    updated_at: subscription.updatedAt,
  };
}

export const subscriptionsRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/subscriptions', tags, summary: 'List subscriptions, newest first' } })
    .input(SubscriptionListQuery)
    .output(SubscriptionResponse.array())
    .query(async ({ ctx, input }) => {
      const { status = null, is_trial: isTrial = null, user_id: userId = null, limit, offset } = input;
      const found = await listSubscriptions(ctx.app, { status, isTrial, userId, limit, offset });
      return found.map((subscription) => toSubscriptionResponse(ctx.app, subscription));
    }),

  create: webProcedure
    .meta({ openapi: { method: 'POST', path: '/subscriptions', tags, summary: 'Give a user a subscription without charging' } })
    .input(SubscriptionCreateRequest)
    .output(SubscriptionResponse)
    .mutation(async ({ ctx, input }) => {
      const made = await createWebSubscription(ctx.app, ctx.actor, {
        userId: input.user_id,
        isTrial: input.is_trial,
        durationDays: input.duration_days ?? input.period_days ?? null,
        daysField: typeof input.duration_days === 'number' ? 'duration_days' : 'period_days',
        trafficLimitGb: input.traffic_limit_gb ?? null,
        deviceLimit: input.device_limit ?? null,
        squadUuid: input.squad_uuid ?? null,
        connectedSquads: input.connected_squads ?? null,
        replaceExisting: input.replace_existing,
      });
      return toSubscriptionResponse(ctx.app, made);
    }),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/subscriptions/{subscription_id}', tags, summary: 'One subscription' } })
    .input(SubscriptionPath)
    .output(SubscriptionResponse)
    .query(async ({ ctx, input }) => toSubscriptionResponse(ctx.app, await findSubscription(ctx.app, input.subscription_id))),

  delete: webProcedure
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/subscriptions/{subscription_id}',
        tags,
        summary: 'Switch a subscription off; it is kept',
      },
    })
    .input(SubscriptionPath)
    .output(SubscriptionResponse)
    .mutation(async ({ ctx, input }) =>
      toSubscriptionResponse(ctx.app, await disableSubscription(ctx.app, ctx.actor, input.subscription_id)),
    ),

  extend: webProcedure
    .meta({
      openapi: { method: 'POST', path: '/subscriptions/{subscription_id}/extend', tags, summary: 'Add days without charging' },
    })
    .input(SubscriptionPath.extend(SubscriptionExtendRequest.shape))
    .output(SubscriptionResponse)
    .mutation(async ({ ctx, input }) =>
      toSubscriptionResponse(ctx.app, await extendByDays(ctx.app, ctx.actor, input.subscription_id, input.days)),
    ),

  addTraffic: webProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/subscriptions/{subscription_id}/traffic',
        tags,
        summary: 'Add traffic for 30 days without charging',
      },
    })
    .input(SubscriptionPath.extend(SubscriptionTrafficRequest.shape))
    .output(SubscriptionResponse)
    .mutation(async ({ ctx, input }) =>
      toSubscriptionResponse(ctx.app, await addTrafficPackage(ctx.app, ctx.actor, input.subscription_id, input.gb)),
    ),

  addDevices: webProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/subscriptions/{subscription_id}/devices',
        tags,
        summary: 'Raise the device limit without charging',
      },
    })
    .input(SubscriptionPath.extend(SubscriptionDevicesRequest.shape))
    .output(SubscriptionResponse)
    .mutation(async ({ ctx, input }) =>
      toSubscriptionResponse(ctx.app, await addDevices(ctx.app, ctx.actor, input.subscription_id, input.devices)),
    ),

  addSquad: webProcedure
    .meta({ openapi: { method: 'POST', path: '/subscriptions/{subscription_id}/squads', tags, summary: 'Connect a server' } })
    .input(SubscriptionPath.extend(SubscriptionSquadRequest.shape))
    .output(SubscriptionResponse)
    .mutation(async ({ ctx, input }) =>
      toSubscriptionResponse(ctx.app, await addSquad(ctx.app, ctx.actor, input.subscription_id, input.squad_uuid)),
    ),

  removeSquad: webProcedure
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/subscriptions/{subscription_id}/squads/{squad_uuid}',
        tags,
        summary: 'Disconnect a server',
      },
    })
    .input(SubscriptionSquadPath)
    .output(SubscriptionResponse)
    .mutation(async ({ ctx, input }) =>
      toSubscriptionResponse(ctx.app, await removeSquad(ctx.app, ctx.actor, input.subscription_id, input.squad_uuid)),
    ),
});
