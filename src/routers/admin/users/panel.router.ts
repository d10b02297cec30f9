import { z } from 'zod';
import { userNotFound } from '../../../domain/identity/errors.ts';
import { TARGET_REFUSALS } from '../../../domain/identity/find-user.ts';
import type { PanelUser } from '../../../domain/provisioning/ports.ts';
import { squadsOf } from '../../../domain/provisioning/sync/rules.ts';
import {
  listUserDevices,
  noPanelAccount,
  readNodeUsage,
  readPanelInfo,
  readSyncStatus,
  removeUserDevice,
  resetUserDevices,
  USAGE_DAYS,
} from '../../../domain/users/panel/panel-info.ts';
import { syncFromPanel } from '../../../domain/users/panel/sync-from-panel.ts';
import { gigabytes } from '../../../domain/users/panel/sync-rules.ts';
import { noSubscription, syncToPanel } from '../../../domain/users/panel/sync-to-panel.ts';
import { Timestamp } from '../../shared.schemas.ts';
import { adminProcedure, router } from '../../trpc.ts';
import { fromWire, toWire, withBody } from '../../wire.ts';
import { AdminUserPath } from './lists.schemas.ts';

/** Users at the panel, of the contract group `Cabinet Admin Users`. */

const UserPanelInfoResponse = z
  .object({
    found: z.boolean().default(false).describe('Whether the panel has the user. False also when the panel does not answer.'),
    trojan_password: z.string().nullish().describe('Password of the Trojan protocol; null for none.'),
    vless_uuid: z.string().nullish().describe('UUID of the VLESS protocol; null for none.'),
    ss_password: z.string().nullish().describe('Password of the Shadowsocks protocol; null for none.'),
    subscription_url: z
      .string()
      .nullish()
      .describe('Link that client apps load the configuration from; null while the panel has not created it.'),
    happ_link: z.string().nullish().describe('Link for the Happ app; null for none.'),
    used_traffic_bytes: z.int().default(0).describe('Traffic used since the last reset in bytes.'),
    lifetime_used_traffic_bytes: z.int().default(0).describe('All traffic ever used in bytes.'),
    traffic_limit_bytes: z.int().default(0).describe('Traffic limit in bytes; 0 = unlimited.'),
    first_connected_at: Timestamp.nullish().describe('First connection (UTC); null when there was none.'),
    online_at: Timestamp.nullish().describe('Last connection (UTC); null when there was none.'),
    last_connected_node_uuid: z.string().nullish().describe('UUID of the node of the last connection; null when unknown.'),
    last_connected_node_name: z.string().nullish().describe('Name of that node; null when unknown.'),
  })
  .meta({ id: 'UserPanelInfoResponse' });

const UserNodeUsageItem = z
  .object({
    node_uuid: z.string().describe('UUID of the node.'),
    node_name: z.string().describe('Name of the node.'),
    country_code: z.string().default('').describe('Country code of two letters; empty for none.'),
    total_bytes: z.int().describe('Traffic of all days in bytes.'),
    daily_bytes: z.array(z.int()).default([]).describe('Traffic in bytes, one number a day in the order of `categories`.'),
  })
  .meta({ id: 'UserNodeUsageItem' });

const UserNodeUsageResponse = z
  .object({
    items: z.array(UserNodeUsageItem).describe('Traffic of the user by node; empty when the panel does not answer.'),
    categories: z.array(z.string()).default([]).describe('The days, `YYYY-MM-DD`, oldest first.'),
    period_days: z.int().default(30).describe('Number of days that the usage covers.'),
  })
  .meta({ id: 'UserNodeUsageResponse' });

const DeviceInfo = z
  .object({
    hwid: z.string().describe('Hardware id of the device, as the client app reports it.'),
    platform: z.string().default('').describe('Operating system; empty when unknown.'),
    device_model: z.string().default('').describe('Model of the device; empty when unknown.'),
    created_at: z
      .string()
      .nullish()
      .describe('When the device was last seen by the panel, else when it was added; null when unknown.'),
  })
  .meta({ id: 'DeviceInfo' });

const UserDevicesResponse = z
  .object({
    devices: z.array(DeviceInfo).default([]).describe('Connected devices; empty when the panel does not answer.'),
    total: z.int().default(0).describe('Number of connected devices of the user.'),
    device_limit: z.int().default(0).describe('Number of devices that the subscription allows.'),
  })
  .meta({ id: 'UserDevicesResponse' });

const ResetDevicesResponse = z
  .object({
    success: z
      .boolean()
      .describe(
        'False when the panel did not list the devices or removed none of them, with the reason in `message`. True when there were none.',
      ),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    deleted_count: z.int().default(0).describe('Number of devices that were removed.'),
  })
  .meta({ id: 'ResetDevicesResponse' });

const DevicePath = AdminUserPath.extend({ hwid: z.string().describe('Hardware id of the device.') });

const DeleteDeviceResponse = z
  .object({
    success: z.boolean().describe('Whether the panel deleted the device; otherwise `message` has the reason of the panel.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    deleted_hwid: z.string().nullish().describe('Hardware id of the removed device; null when none was removed.'),
  })
  .meta({ id: 'DeleteDeviceResponse' });

const PanelSyncStatusResponse = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    vpnpanel_uuid: z.string().nullish().describe('UUID of the user in the panel; null while there is none.'),
    last_sync: Timestamp.nullish().describe('When the user was last synchronised (UTC); null when never.'),
    bot_subscription_status: z.string().nullish().describe('Status in the service; null without a subscription.'),
    bot_subscription_end_date: Timestamp.nullish().describe('End in the service (UTC); null without a subscription.'),
    bot_traffic_limit_gb: z.int().default(0).describe('Traffic limit in the service in GB; 0 = unlimited.'),
    bot_traffic_used_gb: z.number().default(0).describe('Used traffic in the service in GB.'),
    bot_device_limit: z.int().default(0).describe('Device limit in the service.'),
    bot_squads: z.array(z.string()).default([]).describe('UUIDs of the servers in the service.'),
    panel_found: z.boolean().default(false).describe('Whether the panel has the user.'),
    panel_status: z.string().nullish().describe('Status in the panel; null when the panel has no such user.'),
    panel_expire_at: Timestamp.nullish().describe('End in the panel (UTC); null when the panel has no such user.'),
    panel_traffic_limit_gb: z.number().default(0).describe('Traffic limit in the panel in GB; 0 = unlimited.'),
    panel_traffic_used_gb: z.number().default(0).describe('Used traffic in the panel in GB.'),
    panel_device_limit: z.int().default(0).describe('Device limit in the panel.'),
    panel_squads: z.array(z.string()).default([]).describe('UUIDs of the squads in the panel.'),
    has_differences: z.boolean().default(false).describe('Whether the service and the panel differ.'),
    differences: z.array(z.string()).default([]).describe('One text for each difference.'),
  })
  .meta({ id: 'PanelSyncStatusResponse' });

const SyncFromPanelRequest = z
  .object({
    update_subscription: z.boolean().default(true).describe('Whether end, status, limits and servers are taken over.'),
    update_traffic: z.boolean().default(true).describe('Whether the used traffic is taken over.'),
    create_if_missing: z.boolean().default(false).describe('Whether a missing record is created.'),
  })
  .meta({ id: 'SyncFromPanelRequest' });

const SyncFromPanelInput = withBody(AdminUserPath, SyncFromPanelRequest);

const PanelUserInfo = z
  .object({
    uuid: z.string().nullish().describe('UUID of the user in the panel; null when unknown.'),
    short_uuid: z.string().nullish().describe('Short id of the user in the panel; null when unknown.'),
    username: z.string().nullish().describe('Name of the user in the panel; null when the panel gave none.'),
    status: z
      .string()
      .nullish()
      .describe('Status in the panel: `ACTIVE`, `DISABLED`, `LIMITED` or `EXPIRED`; null when unknown.'),
    expire_at: Timestamp.nullish().describe('End in the panel (UTC); null when unknown.'),
    traffic_limit_gb: z.number().default(0).describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    traffic_used_gb: z.number().default(0).describe('Traffic used since the last reset in GB, as the panel reports it.'),
    device_limit: z.int().default(1).describe('Number of devices that may be connected.'),
    subscription_url: z
      .string()
      .nullish()
      .describe('Link that client apps load the configuration from; null while the panel has not created it.'),
    active_squads: z.array(z.string()).default([]).describe('UUIDs of the squads of the user in the panel.'),
  })
  .meta({ id: 'PanelUserInfo' });

const SyncFromPanelResponse = z
  .object({
    success: z
      .boolean()
      .describe(
        'False when the panel has no such user, or has one that belongs to another account. True also when nothing had to change.',
      ),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    panel_user: PanelUserInfo.nullish().describe('The user in the panel; null when there is none.'),
    changes: z.record(z.string(), z.unknown()).default({}).describe('Changed fields, each with `old` and `new`.'),
    errors: z
      .array(z.string())
      .default([])
      .describe('Descriptions of problems during the operation; empty when there were none.'),
  })
  .meta({ id: 'SyncFromPanelResponse' });

const SyncToPanelRequest = z
  .object({
    create_if_missing: z.boolean().default(true).describe('Whether a missing record is created.'),
    update_status: z.boolean().default(true).describe('Whether the status is sent.'),
    update_traffic_limit: z.boolean().default(true).describe('Whether the traffic limit is sent.'),
    update_expire_date: z.boolean().default(true).describe('Whether the end is sent.'),
    update_squads: z.boolean().default(true).describe('Whether the servers are sent.'),
  })
  .meta({ id: 'SyncToPanelRequest' });

const SyncToPanelInput = withBody(AdminUserPath, SyncToPanelRequest);

const SyncToPanelResponse = z
  .object({
    success: z
      .boolean()
      .describe('False when the panel has no such user and `create_if_missing` is false. True also when nothing had to change.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    action: z.string().default('').describe('`created`, `updated` or `no_changes`.'),
    panel_uuid: z.string().nullish().describe('UUID of the user in the panel; null when the panel has no such user.'),
    changes: z.record(z.string(), z.unknown()).default({}).describe('Fields that were sent to the panel.'),
    errors: z
      .array(z.string())
      .default([])
      .describe('Descriptions of problems during the operation; empty when there were none.'),
  })
  .meta({ id: 'SyncToPanelResponse' });

const tags: [string] = ['Cabinet Admin Users'];

/** Chosen fields: a panel user has passwords as well. */
function toPanelUser({ uuid, shortUuid, username, status, expireAt, subscriptionUrl, ...user }: PanelUser) {
  return {
    ...{ uuid, shortUuid, username, status, expireAt, subscriptionUrl },
    trafficLimitGb: gigabytes(user.trafficLimitBytes),
    trafficUsedGb: gigabytes(user.usedTrafficBytes),
    deviceLimit: user.deviceLimit ?? 1,
    activeSquads: squadsOf(user),
  };
}

export const userPanelRouter = router({
  panelInfo: adminProcedure('users:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/{user_id}/panel-info',
        tags,
        summary: 'Data of a user in the panel',
      },
      description: 'Returns the data of the user in the panel. A panel that does not answer is reported as `found` false.',
      refuses: [userNotFound],
    })
    .input(fromWire(AdminUserPath))
    .output(toWire(UserPanelInfoResponse))
    .query(async ({ ctx, input }) => {
      const info = await readPanelInfo(ctx.app, input.userId);
      return {
        found: info !== null,
        trojanPassword: info?.user.trojanPassword ?? null,
        vlessUuid: info?.user.vlessUuid ?? null,
        ssPassword: info?.user.ssPassword ?? null,
        subscriptionUrl: info?.user.subscriptionUrl ?? null,
        happLink: info?.user.cryptoLink ?? null,
        usedTrafficBytes: info?.user.usedTrafficBytes ?? 0,
        lifetimeUsedTrafficBytes: info?.user.lifetimeUsedTrafficBytes ?? 0,
        trafficLimitBytes: info?.user.trafficLimitBytes ?? 0,
        firstConnectedAt: info?.user.firstConnectedAt ?? null,
        onlineAt: info?.user.onlineAt ?? null,
        lastConnectedNodeUuid: info?.user.lastConnectedNodeUuid ?? null,
        lastConnectedNodeName: info?.lastNodeName ?? null,
      };
    }),

  nodeUsage: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}/node-usage', tags, summary: 'Traffic of 30 days by node' },
      description:
        'Returns the traffic of the user in the last 30 days by node and day. A panel that does not answer gives an empty list.',
      refuses: [userNotFound],
    })
    .input(fromWire(AdminUserPath))
    .output(toWire(UserNodeUsageResponse))
    .query(async ({ ctx, input }) => {
      const usage = await readNodeUsage(ctx.app, input.userId);
      const items = usage.nodes.map(({ uuid, name, ...node }) => ({ ...node, nodeUuid: uuid, nodeName: name }));
      return { items, categories: usage.days, periodDays: USAGE_DAYS };
    }),

  devices: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}/devices', tags, summary: 'Devices of a user' },
      description: 'Lists the connected devices of the user. A panel that does not answer gives an empty list.',
      refuses: [userNotFound],
    })
    .input(fromWire(AdminUserPath))
    .output(toWire(UserDevicesResponse))
    .query(async ({ ctx, input }) => {
      const found = await listUserDevices(ctx.app, input.userId);
      const devices = found.devices.map((device) => ({
        hwid: device.hwid,
        platform: device.platform ?? '',
        deviceModel: device.deviceModel ?? '',
        createdAt: device.createdAt?.toISOString() ?? null,
      }));
      return { devices, total: devices.length, deviceLimit: found.deviceLimit };
    }),

  resetDevices: adminProcedure('users:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/users/{user_id}/devices', tags, summary: 'Delete all devices' },
      description:
        'Removes all connected devices of the user in the panel and returns their number. Devices that cannot be removed are skipped.',
      refuses: [...TARGET_REFUSALS, noPanelAccount, userNotFound],
    })
    .input(fromWire(AdminUserPath))
    .output(toWire(ResetDevicesResponse))
    .mutation(({ ctx, input }) => resetUserDevices(ctx.app, ctx.actor, input.userId)),

  deleteDevice: adminProcedure('users:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/users/{user_id}/devices/{hwid}', tags, summary: 'Delete a device' },
      description:
        'Removes one connected device of the user in the panel. A refusal of the panel is answered with `success` false.',
      refuses: [...TARGET_REFUSALS, noPanelAccount, userNotFound],
    })
    .input(fromWire(DevicePath))
    .output(toWire(DeleteDeviceResponse))
    .mutation(async ({ ctx, input }) => {
      const answer = await removeUserDevice(ctx.app, ctx.actor, input.userId, input.hwid);
      return { ...answer, deletedHwid: answer.success ? input.hwid : null };
    }),

  syncStatus: adminProcedure('users:sync')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/{user_id}/sync/status',
        tags,
        summary: 'Compare a user in the service and in the panel',
      },
      description: 'Compares subscription and panel user and lists the differences. Changes nothing.',
      refuses: [userNotFound],
    })
    .input(fromWire(AdminUserPath))
    .output(toWire(PanelSyncStatusResponse))
    .query(async ({ ctx, input }) => {
      const { user, lastSync, subscription, panel, differences } = await readSyncStatus(ctx.app, input.userId);
      return {
        userId: user.id,
        messengerId: user.messengerId,
        vpnpanelUuid: user.vpnpanelUuid,
        lastSync,
        botSubscriptionStatus: subscription?.status ?? null,
        botSubscriptionEndDate: subscription?.endDate ?? null,
        botTrafficLimitGb: subscription?.trafficLimitGb ?? 0,
        botTrafficUsedGb: subscription?.trafficUsedGb ?? 0,
        botDeviceLimit: subscription?.deviceLimit ?? 0,
        botSquads: subscription?.connectedSquads ?? [],
        panelFound: panel !== null,
        panelStatus: panel?.status ?? null,
        panelExpireAt: panel?.expireAt ?? null,
        panelTrafficLimitGb: panel ? gigabytes(panel.trafficLimitBytes) : 0,
        panelTrafficUsedGb: panel ? gigabytes(panel.usedTrafficBytes) : 0,
        panelDeviceLimit: panel?.deviceLimit ?? 0,
        panelSquads: panel ? squadsOf(panel) : [],
        hasDifferences: differences.length > 0,
        differences,
      };
    }),

  syncFromPanel: adminProcedure('users:sync')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/sync/from-panel',
        tags,
        summary: "Overwrite the local values with the panel's",
      },
      description:
        'Overwrites end, status, limits and traffic of the subscription with those of the panel, or creates the subscription. The answer lists the changes.',
      refuses: [...TARGET_REFUSALS, userNotFound],
      wire: { bodyOptional: true },
    })
    .input(fromWire(SyncFromPanelInput))
    .output(toWire(SyncFromPanelResponse))
    .mutation(async ({ ctx, input }) => {
      const { panel, ...answer } = await syncFromPanel(ctx.app, ctx.actor, input.userId, {
        updatesSubscription: input.updateSubscription,
        updatesTraffic: input.updateTraffic,
        createsMissing: input.createIfMissing,
      });
      return { ...answer, panelUser: panel && toPanelUser(panel) };
    }),

  syncToPanel: adminProcedure('users:sync')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/sync/to-panel',
        tags,
        summary: "Overwrite the panel's values with the local ones",
      },
      description:
        'Overwrites the panel user with the subscription, or creates the panel user. The answer contains which of both was done.',
      refuses: [...TARGET_REFUSALS, noSubscription, userNotFound],
      wire: { bodyOptional: true },
    })
    .input(fromWire(SyncToPanelInput))
    .output(toWire(SyncToPanelResponse))
    .mutation(({ ctx, input }) =>
      syncToPanel(ctx.app, ctx.actor, input.userId, {
        createsMissing: input.createIfMissing,
        status: input.updateStatus,
        trafficLimit: input.updateTrafficLimit,
        expireDate: input.updateExpireDate,
        squads: input.updateSquads,
      }),
    ),
});
