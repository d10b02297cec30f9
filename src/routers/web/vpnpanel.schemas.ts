import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `vpnpanel` (spec 06 section 11); sizes are bytes. `admin/vpnpanel.schemas.ts` gives the same shapes its own names. */

/** A uuid of the panel in a body, in lower case as the panel has it; anything else is 422 without a call to the panel (spec 06 section 17, hazard 14). */
export const PanelUuid = z.guid().toLowerCase();

/** What is no uuid names nothing that the panel has: 404 without a call to the panel (spec 10 R3). */
const UuidInPath = z.string().toLowerCase();

export const NodePath = z.object({ node_uuid: UuidInPath });
export const SquadPath = z.object({ squad_uuid: UuidInPath });
export const NodeUsageQuery = NodePath.extend({ start: MomentInput.nullish(), end: MomentInput.nullish() });
export const PanelUserPath = z.object({ messenger_id: z.int() });

export const VpnPanelConnectionStatus = z
  .object({
    status: z.string(),
    message: z.string(),
    api_url: z.string().nullish(),
    status_code: z.int().nullish(),
    system_info: FreeForm.nullish(),
  })
  .meta({ id: 'VpnPanelConnectionStatus' });

export const VpnPanelStatusResponse = z
  .object({
    is_configured: z.boolean(),
    configuration_error: z.string().nullish(),
    connection: VpnPanelConnectionStatus.nullish(),
  })
  .meta({ id: 'VpnPanelStatusResponse' });

export const VpnPanelSystemSummary = z
  .object({
    users_online: z.int(),
    total_users: z.int(),
    active_connections: z.int(),
    nodes_online: z.int(),
    users_last_day: z.int(),
    users_last_week: z.int(),
    users_never_online: z.int(),
    total_user_traffic: z.int(),
  })
  .meta({ id: 'VpnPanelSystemSummary' });

export const VpnPanelServerInfo = z
  .object({
    cpu_cores: z.int(),
    cpu_physical_cores: z.int(),
    memory_total: z.int(),
    memory_used: z.int(),
    memory_free: z.int(),
    memory_available: z.int(),
    uptime_seconds: z.int(),
  })
  .meta({ id: 'VpnPanelServerInfo' });

export const VpnPanelBandwidth = z
  .object({ realtime_download: z.int(), realtime_upload: z.int(), realtime_total: z.int() })
  .meta({ id: 'VpnPanelBandwidth' });

export const VpnPanelTrafficPeriod = z
  .object({ current: z.int(), previous: z.int(), difference: z.string().nullish() })
  .meta({ id: 'VpnPanelTrafficPeriod' });

/** The five periods of a component for one of them. */
export const trafficPeriodsShape = <T extends z.ZodType>(period: T) => ({
  last_2_days: period,
  last_7_days: period,
  last_30_days: period,
  current_month: period,
  current_year: period,
});

export const VpnPanelTrafficPeriods = z.object(trafficPeriodsShape(VpnPanelTrafficPeriod)).meta({ id: 'VpnPanelTrafficPeriods' });

export const VpnPanelSystemStatsResponse = z
  .object({
    system: VpnPanelSystemSummary,
    users_by_status: z.record(z.string(), z.int()),
    server_info: VpnPanelServerInfo,
    bandwidth: VpnPanelBandwidth,
    traffic_periods: VpnPanelTrafficPeriods,
    nodes_realtime: FreeForm.array().default([]),
    nodes_weekly: FreeForm.array().default([]),
    last_updated: Moment.nullish(),
  })
  .meta({ id: 'VpnPanelSystemStatsResponse' });

export const VpnPanelNode = z
  .object({
    uuid: z.string(),
    name: z.string(),
    address: z.string(),
    country_code: z.string().nullish(),
    is_connected: z.boolean(),
    is_disabled: z.boolean(),
    is_node_online: z.boolean(),
    is_xray_running: z.boolean(),
    users_online: z.int().nullish(),
    traffic_used_bytes: z.int().nullish(),
    traffic_limit_bytes: z.int().nullish(),
    last_status_change: Moment.nullish(),
    last_status_message: z.string().nullish(),
    xray_uptime: z.string().nullish(),
    is_traffic_tracking_active: z.boolean().default(false),
    traffic_reset_day: z.int().nullish(),
    notify_percent: z.int().nullish(),
    consumption_multiplier: z.number().default(1),
    cpu_count: z.int().nullish(),
    cpu_model: z.string().nullish(),
    total_ram: z.string().nullish(),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
    provider_uuid: z.string().nullish(),
  })
  .meta({ id: 'VpnPanelNode' });

export const VpnPanelNodeListResponse = z
  .object({ items: VpnPanelNode.array(), total: z.int() })
  .meta({ id: 'VpnPanelNodeListResponse' });

export const VpnPanelNodeStatisticsResponse = z
  .object({
    node: VpnPanelNode,
    realtime: FreeForm.nullish(),
    usage_history: FreeForm.array().default([]),
    last_updated: Moment.nullish(),
  })
  .meta({ id: 'VpnPanelNodeStatisticsResponse' });

export const VpnPanelNodeUsageResponse = z
  .object({ items: FreeForm.array().default([]) })
  .meta({ id: 'VpnPanelNodeUsageResponse' });

export const VpnPanelNodeActionRequest = z
  .object({ action: z.enum(['enable', 'disable', 'restart']) })
  .meta({ id: 'VpnPanelNodeActionRequest' });

export const VpnPanelNodeActionResponse = z
  .object({ success: z.boolean(), detail: z.string().nullish() })
  .meta({ id: 'VpnPanelNodeActionResponse' });

export const VpnPanelSquad = z
  .object({
    uuid: z.string(),
    name: z.string(),
    members_count: z.int(),
    inbounds_count: z.int(),
    inbounds: FreeForm.array().default([]),
  })
  .meta({ id: 'VpnPanelSquad' });

export const VpnPanelSquadListResponse = z
  .object({ items: VpnPanelSquad.array(), total: z.int() })
  .meta({ id: 'VpnPanelSquadListResponse' });

export const VpnPanelSquadCreateRequest = z.object({ name: z.string(), inbound_uuids: PanelUuid.array().default([]) }).meta({
  id: 'VpnPanelSquadCreateRequest',
  example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] },
});

export const VpnPanelSquadUpdateRequest = z
  .object({ name: z.string().nullish(), inbound_uuids: PanelUuid.array().nullish() })
  .meta({
    id: 'VpnPanelSquadUpdateRequest',
    example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] },
  });

export const VpnPanelSquadActionRequest = z
  .object({
    action: z.enum(['add_all_users', 'remove_all_users', 'delete', 'rename', 'update_inbounds']),
    name: z.string().nullish(),
    inbound_uuids: PanelUuid.array().nullish(),
  })
  .meta({ id: 'VpnPanelSquadActionRequest', example: { action: 'rename', name: 'Netherlands' } });

export const VpnPanelOperationResponse = z
  .object({ success: z.boolean(), detail: z.string().nullish(), data: FreeForm.nullish() })
  .meta({ id: 'VpnPanelOperationResponse' });

export const VpnPanelInboundsResponse = z
  .object({ items: FreeForm.array().default([]) })
  .meta({ id: 'VpnPanelInboundsResponse' });

export const VpnPanelUserTrafficResponse = z
  .object({
    messenger_id: z.int().nullish(),
    used_traffic_bytes: z.int(),
    used_traffic_gb: z.number(),
    lifetime_used_traffic_bytes: z.int(),
    lifetime_used_traffic_gb: z.number(),
    traffic_limit_bytes: z.int(),
    traffic_limit_gb: z.number(),
    subscription_url: z.string().nullish(),
  })
  .meta({ id: 'VpnPanelUserTrafficResponse' });
