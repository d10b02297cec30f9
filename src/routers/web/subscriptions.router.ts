import { z } from 'zod';
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
import { Timestamp } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { SubscriptionSummary } from './users.schemas.ts';

/** Contract group `subscriptions`. */

const SubscriptionStatusName = z.enum(['trial', 'active', 'expired', 'disabled', 'limited', 'pending']);

const SubscriptionListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  status: SubscriptionStatusName.nullish().describe(
    'Only subscriptions with this stored status, for example `active`; null for all.',
  ),
  user_id: z.int().nullish().describe('Only subscriptions of this user (internal id).'),
  is_trial: z.boolean().nullish().describe('Only trials, or only other subscriptions.'),
});

const SubscriptionPath = z.object({ subscription_id: z.int().describe('Id of the subscription.') });

const SubscriptionResponse = SubscriptionSummary.extend({
  user_id: z.int().describe('Internal id of the user.'),
  created_at: Timestamp.nullish().describe('When the subscription was created (UTC).'),
  updated_at: Timestamp.nullish().describe('When the subscription was last changed (UTC).'),
}).meta({ id: 'SubscriptionResponse' });

const SubscriptionCreateRequest = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    is_trial: z.boolean().default(false).describe('Whether the subscription is a trial.'),
    duration_days: z.int().nullish().describe('Length in days; the same as `period_days`.'),
    /** The same as `duration_days`; older clients send it (spec 02, reading rules). */
    period_days: z.int().nullish().describe('Length in days; required for a paid subscription unless `duration_days` is given.'),
    traffic_limit_gb: z
      .int()
      .nullish()
      .describe('Traffic limit in GB (1024³ bytes); 0 = unlimited. Null in a request for the default.'),
    device_limit: z.int().nullish().describe('Number of devices that may be connected; null in a request for the default.'),
    squad_uuid: z.string().nullish().describe('UUID of the server (internal squad of the panel); null for none.'),
    connected_squads: z
      .array(z.string())
      .nullish()
      .describe('UUIDs of the servers (internal squads of the panel) of the subscription; null in a request for the default.'),
    replace_existing: z
      .boolean()
      .default(false)
      .describe('Whether an existing subscription is overwritten. False refuses where there is one.'),
  })
  .meta({
    id: 'SubscriptionCreateRequest',
    example: {
      user_id: 1,
      duration_days: 30,
      traffic_limit_gb: 100,
      device_limit: 2,
      squad_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77',
    },
  });

const SubscriptionExtendRequest = z
  .object({ days: z.int().gt(0).describe('Days to add to the end.') })
  .meta({ id: 'SubscriptionExtendRequest' });

const SubscriptionTrafficRequest = z
  .object({ gb: z.int().gt(0).describe('Traffic to add in GB, for 30 days.') })
  .meta({ id: 'SubscriptionTrafficRequest' });

const SubscriptionDevicesRequest = z
  .object({ devices: z.int().gt(0).describe('Number of devices to add to the limit.') })
  .meta({ id: 'SubscriptionDevicesRequest' });

const SubscriptionSquadRequest = z
  .object({ squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).') })
  .meta({ id: 'SubscriptionSquadRequest', example: { squad_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77' } });

const SubscriptionSquadPath = SubscriptionPath.extend({
  squad_uuid: z.string().describe('UUID of the internal squad of the panel.'),
});

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
