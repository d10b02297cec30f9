import type { PanelUser } from '../../../domain/provisioning/ports.ts';
import { squadsOf } from '../../../domain/provisioning/sync/rules.ts';
import { listUserDevices, removeUserDevice, resetUserDevices } from '../../../domain/users/panel/manage-devices.ts';
import { readNodeUsage, USAGE_DAYS } from '../../../domain/users/panel/read-node-usage.ts';
import { readPanelInfo } from '../../../domain/users/panel/read-panel-info.ts';
import { readSyncStatus } from '../../../domain/users/panel/read-sync-status.ts';
import { syncFromPanel } from '../../../domain/users/panel/sync-from-panel.ts';
import { gigabytes } from '../../../domain/users/panel/sync-rules.ts';
import { syncToPanel } from '../../../domain/users/panel/sync-to-panel.ts';
import { adminProcedure, router } from '../../trpc.ts';
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

function toPanelUser(user: PanelUser) {
  return {
    uuid: user.uuid,
    short_uuid: user.shortUuid,
    username: user.username,
    status: user.status,
    expire_at: user.expireAt,
    traffic_limit_gb: gigabytes(user.trafficLimitBytes),
    traffic_used_gb: gigabytes(user.usedTrafficBytes),
    device_limit: user.deviceLimit ?? 1,
    subscription_url: user.subscriptionUrl,
    active_squads: squadsOf(user),
  };
}

export const userPanelRouter = router({
  panelInfo: adminProcedure('users:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/{user_id}/panel-info',
        tags,
        summary: 'What the panel knows of a user',
      },
    })
    .input(AdminUserPath)
    .output(UserPanelInfoResponse)
    .query(async ({ ctx, input }) => {
      const info = await readPanelInfo(ctx.app, input.user_id);
      return {
        found: info !== null,
        trojan_password: info?.user.trojanPassword ?? null,
        vless_uuid: info?.user.vlessUuid ?? null,
        ss_password: info?.user.ssPassword ?? null,
        subscription_url: info?.user.subscriptionUrl ?? null,
        happ_link: info?.user.cryptoLink ?? null,
        used_traffic_bytes: info?.user.usedTrafficBytes ?? 0,
        lifetime_used_traffic_bytes: info?.user.lifetimeUsedTrafficBytes ?? 0,
        traffic_limit_bytes: info?.user.trafficLimitBytes ?? 0,
        first_connected_at: info?.user.firstConnectedAt ?? null,
        online_at: info?.user.onlineAt ?? null,
        last_connected_node_uuid: info?.user.lastConnectedNodeUuid ?? null,
        last_connected_node_name: info?.lastNodeName ?? null,
      };
    }),

  nodeUsage: adminProcedure('users:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}/node-usage', tags, summary: 'Traffic of 30 days by node' },
    })
    .input(AdminUserPath)
    .output(UserNodeUsageResponse)
    .query(async ({ ctx, input }) => {
      const usage = await readNodeUsage(ctx.app, input.user_id);
      const items = usage.nodes.map((node) => ({
        node_uuid: node.uuid,
        node_name: node.name,
        country_code: node.countryCode,
        total_bytes: node.totalBytes,
        daily_bytes: node.dailyBytes,
      }));
      return { items, categories: usage.days, period_days: USAGE_DAYS };
    }),

  devices: adminProcedure('users:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/users/{user_id}/devices', tags, summary: 'Devices of a user' } })
    .input(AdminUserPath)
    .output(UserDevicesResponse)
    .query(async ({ ctx, input }) => {
      const found = await listUserDevices(ctx.app, input.user_id);
      const devices = found.devices.map((device) => ({
        hwid: device.hwid,
        platform: device.platform ?? '',
        device_model: device.deviceModel ?? '',
        created_at: device.createdAt?.toISOString() ?? null,
      }));
      return { devices, total: devices.length, device_limit: found.deviceLimit };
    }),

  resetDevices: adminProcedure('users:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/users/{user_id}/devices', tags, summary: 'Take all devices away' },
    })
    .input(AdminUserPath)
    .output(ResetDevicesResponse)
    .mutation(async ({ ctx, input }) => {
      const { deletedCount, ...answer } = await resetUserDevices(ctx.app, ctx.actor, input.user_id);
      return { ...answer, deleted_count: deletedCount };
    }),

  deleteDevice: adminProcedure('users:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/users/{user_id}/devices/{hwid}', tags, summary: 'Take one device away' },
    })
    .input(DevicePath)
    .output(DeleteDeviceResponse)
    .mutation(async ({ ctx, input }) => {
      const answer = await removeUserDevice(ctx.app, ctx.actor, input.user_id, input.hwid);
      return { ...answer, deleted_hwid: answer.success ? input.hwid : null };
    }),

  syncStatus: adminProcedure('users:sync')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/users/{user_id}/sync/status',
        tags,
        summary: 'Where the service and the panel differ',
      },
    })
    .input(AdminUserPath)
    .output(PanelSyncStatusResponse)
    .query(async ({ ctx, input }) => {
      const { user, lastSync, subscription, panel, differences } = await readSyncStatus(ctx.app, input.user_id);
      return {
        user_id: user.id,
        messenger_id: user.messengerId,
        vpnpanel_uuid: user.vpnpanelUuid,
        last_sync: lastSync,
        bot_subscription_status: subscription?.status ?? null,
        bot_subscription_end_date: subscription?.endDate ?? null,
        bot_traffic_limit_gb: subscription?.trafficLimitGb ?? 0,
        bot_traffic_used_gb: subscription?.trafficUsedGb ?? 0,
        bot_device_limit: subscription?.deviceLimit ?? 0,
        bot_squads: subscription?.connectedSquads ?? [],
        panel_found: panel !== null,
        panel_status: panel?.status ?? null,
        panel_expire_at: panel?.expireAt ?? null,
        panel_traffic_limit_gb: panel ? gigabytes(panel.trafficLimitBytes) : 0,
        panel_traffic_used_gb: panel ? gigabytes(panel.usedTrafficBytes) : 0,
        panel_device_limit: panel?.deviceLimit ?? 0,
        panel_squads: panel ? squadsOf(panel) : [],
        has_differences: differences.length > 0,
        differences,
      };
    }),

  syncFromPanel: adminProcedure('users:sync')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/sync/from-panel',
        tags,
        summary: "Write the panel's numbers over the local ones",
      },
      wire: { bodyOptional: true },
    })
    .input(SyncFromPanelInput)
    .output(SyncFromPanelResponse)
    .mutation(async ({ ctx, input }) => {
      const { panel, ...answer } = await syncFromPanel(ctx.app, ctx.actor, input.user_id, {
        updatesSubscription: input.update_subscription,
        updatesTraffic: input.update_traffic,
        createsMissing: input.create_if_missing,
      });
      return { ...answer, panel_user: panel && toPanelUser(panel) };
    }),

  syncToPanel: adminProcedure('users:sync')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/users/{user_id}/sync/to-panel',
        tags,
        summary: "Write the local numbers over the panel's",
      },
      wire: { bodyOptional: true },
    })
    .input(SyncToPanelInput)
    .output(SyncToPanelResponse)
    .mutation(async ({ ctx, input }) => {
      const { panelUuid, ...answer } = await syncToPanel(ctx.app, ctx.actor, input.user_id, {
        createsMissing: input.create_if_missing,
        status: input.update_status,
        trafficLimit: input.update_traffic_limit,
        expireDate: input.update_expire_date,
        squads: input.update_squads,
      });
      return { ...answer, panel_uuid: panelUuid };
    }),
});
