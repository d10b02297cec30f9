import { z } from 'zod';
import { Moment } from '../../shared.schemas.ts';
import { withBody } from '../../wire.ts';
import { AdminUserPath } from './lists.schemas.ts';

/** Users at the panel, of the contract group `Cabinet Admin Users` (spec 01 sections 11.1 and 11.3). */

export const UserPanelInfoResponse = z
  .object({
    found: z.boolean().default(false),
    trojan_password: z.string().nullish(),
    vless_uuid: z.string().nullish(),
    ss_password: z.string().nullish(),
    subscription_url: z.string().nullish(),
    happ_link: z.string().nullish(),
    used_traffic_bytes: z.int().default(0),
    lifetime_used_traffic_bytes: z.int().default(0),
    traffic_limit_bytes: z.int().default(0),
    first_connected_at: Moment.nullish(),
    online_at: Moment.nullish(),
    last_connected_node_uuid: z.string().nullish(),
    last_connected_node_name: z.string().nullish(),
  })
  .meta({ id: 'UserPanelInfoResponse' });

export const UserNodeUsageItem = z
  .object({
    node_uuid: z.string(),
    node_name: z.string(),
    country_code: z.string().default(''),
    total_bytes: z.int(),
    daily_bytes: z.array(z.int()).default([]),
  })
  .meta({ id: 'UserNodeUsageItem' });

export const UserNodeUsageResponse = z
  .object({
    items: z.array(UserNodeUsageItem),
    categories: z.array(z.string()).default([]),
    period_days: z.int().default(30),
  })
  .meta({ id: 'UserNodeUsageResponse' });

export const DeviceInfo = z
  .object({
    hwid: z.string(),
    platform: z.string().default(''),
    device_model: z.string().default(''),
    created_at: z.string().nullish(),
  })
  .meta({ id: 'DeviceInfo' });

export const UserDevicesResponse = z
  .object({ devices: z.array(DeviceInfo).default([]), total: z.int().default(0), device_limit: z.int().default(0) })
  .meta({ id: 'UserDevicesResponse' });

export const ResetDevicesResponse = z
  .object({ success: z.boolean(), message: z.string(), deleted_count: z.int().default(0) })
  .meta({ id: 'ResetDevicesResponse' });

export const DevicePath = AdminUserPath.extend({ hwid: z.string() });

export const DeleteDeviceResponse = z
  .object({ success: z.boolean(), message: z.string(), deleted_hwid: z.string().nullish() })
  .meta({ id: 'DeleteDeviceResponse' });

export const PanelSyncStatusResponse = z
  .object({
    user_id: z.int(),
    messenger_id: z.int().nullish(),
    vpnpanel_uuid: z.string().nullish(),
    last_sync: Moment.nullish(),
    bot_subscription_status: z.string().nullish(),
    bot_subscription_end_date: Moment.nullish(),
    bot_traffic_limit_gb: z.int().default(0),
    bot_traffic_used_gb: z.number().default(0),
    bot_device_limit: z.int().default(0),
    bot_squads: z.array(z.string()).default([]),
    panel_found: z.boolean().default(false),
    panel_status: z.string().nullish(),
    panel_expire_at: Moment.nullish(),
    panel_traffic_limit_gb: z.number().default(0),
    panel_traffic_used_gb: z.number().default(0),
    panel_device_limit: z.int().default(0),
    panel_squads: z.array(z.string()).default([]),
    has_differences: z.boolean().default(false),
    differences: z.array(z.string()).default([]),
  })
  .meta({ id: 'PanelSyncStatusResponse' });

export const SyncFromPanelRequest = z
  .object({
    update_subscription: z.boolean().default(true),
    update_traffic: z.boolean().default(true),
    create_if_missing: z.boolean().default(false),
  })
  .meta({ id: 'SyncFromPanelRequest' });

export const SyncFromPanelInput = withBody(AdminUserPath, SyncFromPanelRequest);

export const PanelUserInfo = z
  .object({
    uuid: z.string().nullish(),
    short_uuid: z.string().nullish(),
    username: z.string().nullish(),
    status: z.string().nullish(),
    expire_at: Moment.nullish(),
    traffic_limit_gb: z.number().default(0),
    traffic_used_gb: z.number().default(0),
    device_limit: z.int().default(1),
    subscription_url: z.string().nullish(),
    active_squads: z.array(z.string()).default([]),
  })
  .meta({ id: 'PanelUserInfo' });

export const SyncFromPanelResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    panel_user: PanelUserInfo.nullish(),
    changes: z.record(z.string(), z.unknown()).default({}),
    errors: z.array(z.string()).default([]),
  })
  .meta({ id: 'SyncFromPanelResponse' });

export const SyncToPanelRequest = z
  .object({
    create_if_missing: z.boolean().default(true),
    update_status: z.boolean().default(true),
    update_traffic_limit: z.boolean().default(true),
    update_expire_date: z.boolean().default(true),
    update_squads: z.boolean().default(true),
  })
  .meta({ id: 'SyncToPanelRequest' });

export const SyncToPanelInput = withBody(AdminUserPath, SyncToPanelRequest);

export const SyncToPanelResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    action: z.string().default(''),
    panel_uuid: z.string().nullish(),
    changes: z.record(z.string(), z.unknown()).default({}),
    errors: z.array(z.string()).default([]),
  })
  .meta({ id: 'SyncToPanelResponse' });
