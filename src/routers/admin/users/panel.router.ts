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
import { adminProcedure, router } from '../../trpc.ts';
import { fromWire, toWire } from '../../wire.ts';
import { AdminUserPath } from './lists.schemas.ts';
import {
  DeleteDeviceResponse,
  DevicePath,
  PanelSyncStatusResponse,
  ResetDevicesResponse,
  SyncFromPanelInput,
  SyncFromPanelResponse,
  SyncToPanelInput,
  SyncToPanelResponse,
  UserDevicesResponse,
  UserNodeUsageResponse,
  UserPanelInfoResponse,
} from './panel.schemas.ts';

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
