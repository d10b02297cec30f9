import { z } from 'zod';
import { FreeForm, Timestamp, TimestampInput } from '../shared.schemas.ts';

/** Contract group `vpnpanel`; sizes are bytes. `admin/vpnpanel.router.ts` gives the same shapes its own names. */

/** A uuid of the panel in a body, in lower case as the panel has it; anything else is 422 without a call to the panel (spec 06 section 17, hazard 14). */
export const PanelUuid = z.guid().toLowerCase();

/** What is no uuid names nothing that the panel has: 404 without a call to the panel (spec 10 R3). */
const UuidInPath = z.string().toLowerCase();

export const NodePath = z.object({ node_uuid: UuidInPath.describe('UUID of the node.') });
export const SquadPath = z.object({ squad_uuid: UuidInPath.describe('UUID of the internal squad of the panel.') });
export const NodeUsageQuery = NodePath.extend({
  start: TimestampInput.nullish().describe('Start of the period (UTC); absent for seven days ago.'),
  end: TimestampInput.nullish().describe('End of the period (UTC), after the start; absent for now.'),
});
export const PanelUserPath = z.object({ messenger_id: z.int().describe('Id of the user in the messenger.') });

export const VpnPanelConnectionStatus = z
  .object({
    status: z
      .string()
      .describe(
        'State of the connection to the panel: `connected`, `error` (it does not answer or refuses) or `not_configured`.',
      ),
    message: z.string().describe('That the panel answers, or why it does not, for people.'),
    api_url: z.string().nullish().describe('Address of the panel; null when it is not set.'),
    status_code: z.int().nullish().describe('HTTP status of a failed attempt; null when there was no answer.'),
    system_info: FreeForm.nullish().describe('Statistics as the panel returns them; null when there was no answer.'),
  })
  .meta({ id: 'VpnPanelConnectionStatus' });

export const VpnPanelStatusResponse = z
  .object({
    is_configured: z.boolean().describe('Whether address and key of the panel are set.'),
    configuration_error: z.string().nullish().describe('What is missing in the configuration; null when it is complete.'),
    connection: VpnPanelConnectionStatus.nullish().describe(
      'Result of a connection attempt; null when the panel is not configured.',
    ),
  })
  .meta({ id: 'VpnPanelStatusResponse' });

export const VpnPanelSystemSummary = z
  .object({
    users_online: z.int().describe('Number of users online.'),
    total_users: z.int().describe('Number of all users.'),
    active_connections: z.int().describe('Number of users online.'),
    nodes_online: z.int().describe('Number of connected nodes.'),
    users_last_day: z.int().describe('Users online in the last day.'),
    users_last_week: z.int().describe('Users online in the last week.'),
    users_never_online: z.int().describe('Users who were never online.'),
    total_user_traffic: z.int().describe('Traffic of all users in bytes.'),
  })
  .meta({ id: 'VpnPanelSystemSummary' });

export const VpnPanelServerInfo = z
  .object({
    cpu_cores: z.int().describe('Number of processor cores.'),
    cpu_physical_cores: z.int().describe('Number of physical processor cores.'),
    memory_total: z.int().describe('Memory in bytes.'),
    memory_used: z.int().describe('Used memory in bytes.'),
    memory_free: z.int().describe('Free memory in bytes.'),
    memory_available: z.int().describe('Available memory in bytes.'),
    uptime_seconds: z.int().describe('Seconds since the start.'),
  })
  .meta({ id: 'VpnPanelServerInfo' });

export const VpnPanelBandwidth = z
  .object({
    realtime_download: z.int().describe('Download of all nodes at the moment, bytes per second.'),
    realtime_upload: z.int().describe('Upload of all nodes at the moment, bytes per second.'),
    realtime_total: z.int().describe('Download plus upload, bytes per second.'),
  })
  .meta({ id: 'VpnPanelBandwidth' });

export const VpnPanelTrafficPeriod = z
  .object({
    current: z.int().describe('Bytes of the period.'),
    previous: z.int().describe('Bytes of the period before.'),
    difference: z.string().nullish().describe('Difference of the two as text; null when unknown.'),
  })
  .meta({ id: 'VpnPanelTrafficPeriod' });

/** The five periods of a component for one of them. */
export const trafficPeriodsShape = <T extends z.ZodType>(period: T) => ({
  last_2_days: period.describe('The last 2 days.'),
  last_7_days: period.describe('The last 7 days.'),
  last_30_days: period.describe('The last 30 days.'),
  current_month: period.describe('The calendar month.'),
  current_year: period.describe('The calendar year.'),
});

const VpnPanelTrafficPeriods = z.object(trafficPeriodsShape(VpnPanelTrafficPeriod)).meta({ id: 'VpnPanelTrafficPeriods' });

export const VpnPanelSystemStatsResponse = z
  .object({
    system: VpnPanelSystemSummary.describe('Users, nodes and traffic in numbers.'),
    users_by_status: z.record(z.string(), z.int()).describe('Status in the panel to number of users.'),
    server_info: VpnPanelServerInfo.describe('Machine that the panel runs on.'),
    bandwidth: VpnPanelBandwidth.describe('Current traffic.'),
    traffic_periods: VpnPanelTrafficPeriods.describe('Traffic of periods, each beside the period before.'),
    nodes_realtime: FreeForm.array().default([]).describe('Traffic of the nodes at the moment, as the panel returns it.'),
    nodes_weekly: FreeForm.array().default([]).describe('Traffic of the nodes in the last 7 days.'),
    last_updated: Timestamp.nullish().describe('When the values were read (UTC); null when unknown.'),
  })
  .meta({ id: 'VpnPanelSystemStatsResponse' });

export const VpnPanelNode = z
  .object({
    uuid: z.string().describe('UUID in the panel.'),
    name: z.string().describe('Name of the node in the panel.'),
    address: z.string().describe('Address of the node.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
    is_connected: z.boolean().describe('Whether the panel is connected to the node.'),
    is_disabled: z.boolean().describe('Whether the node is switched off.'),
    is_node_online: z.boolean().describe('Whether the node is online.'),
    is_xray_running: z.boolean().describe('Whether the core runs on the node.'),
    users_online: z.int().nullish().describe('Number of users online; null when unknown.'),
    traffic_used_bytes: z.int().nullish().describe('Used traffic in bytes; null when it is not counted.'),
    traffic_limit_bytes: z.int().nullish().describe('Traffic limit in bytes; 0 = unlimited, null when there is none.'),
    last_status_change: Timestamp.nullish().describe('When the connection last changed (UTC); null when unknown.'),
    last_status_message: z.string().nullish().describe('Message of the last change; null for none.'),
    xray_uptime: z.string().nullish().describe('How long the core has run, as text; null when unknown.'),
    is_traffic_tracking_active: z.boolean().default(false).describe('Whether the panel counts the traffic of the node.'),
    traffic_reset_day: z.int().nullish().describe('Day of the month on which the counter is reset; null for none.'),
    notify_percent: z.int().nullish().describe('Share of the limit at which the panel reports, percent; null for none.'),
    consumption_multiplier: z.number().default(1).describe('Factor by which traffic of the node counts.'),
    cpu_count: z.int().nullish().describe('Number of processor cores; null when unknown.'),
    cpu_model: z.string().nullish().describe('Model of the processor; null when unknown.'),
    total_ram: z.string().nullish().describe('Memory as text; null when unknown.'),
    created_at: Timestamp.nullish().describe('When the node was added to the panel (UTC).'),
    updated_at: Timestamp.nullish().describe(
      'When the node was last changed in the panel (UTC); null when the panel does not say.',
    ),
    provider_uuid: z.string().nullish().describe('UUID of the hosting provider in the panel; null for none.'),
  })
  .meta({ id: 'VpnPanelNode' });

export const VpnPanelNodeListResponse = z
  .object({
    items: VpnPanelNode.array().describe('Nodes of the panel.'),
    total: z.int().describe('Number of nodes of the panel.'),
  })
  .meta({ id: 'VpnPanelNodeListResponse' });

export const VpnPanelNodeStatisticsResponse = z
  .object({
    node: VpnPanelNode.describe('The node.'),
    realtime: FreeForm.nullish().describe('Traffic of the node at the moment, as the panel returns it; null for none.'),
    usage_history: FreeForm.array().default([]).describe('Usage of the last 7 days by user, as the panel returns it.'),
    last_updated: Timestamp.nullish().describe('When the values were read (UTC); null when unknown.'),
  })
  .meta({ id: 'VpnPanelNodeStatisticsResponse' });

export const VpnPanelNodeUsageResponse = z
  .object({ items: FreeForm.array().default([]).describe('Usage of the node by user and day, as the panel reports it.') })
  .meta({ id: 'VpnPanelNodeUsageResponse' });

export const VpnPanelNodeActionRequest = z
  .object({ action: z.enum(['enable', 'disable', 'restart']).describe('`enable`, `disable` or `restart`.') })
  .meta({ id: 'VpnPanelNodeActionRequest' });

export const VpnPanelNodeActionResponse = z
  .object({
    success: z.boolean().describe('Whether the panel carried out the action; false comes with the reason in `detail`.'),
    detail: z.string().nullish().describe('What was done to the node or why it failed, for people. Not for programs.'),
  })
  .meta({ id: 'VpnPanelNodeActionResponse' });

export const VpnPanelSquad = z
  .object({
    uuid: z.string().describe('UUID in the panel.'),
    name: z.string().describe('Name of the internal squad in the panel.'),
    members_count: z.int().describe('Number of members.'),
    inbounds_count: z.int().describe('Number of inbounds.'),
    inbounds: FreeForm.array()
      .default([])
      .describe('Inbounds with `uuid`, `profile_uuid`, `tag`, `type`, `network`, `security`, `port` and `raw_inbound`.'),
  })
  .meta({ id: 'VpnPanelSquad' });

export const VpnPanelSquadListResponse = z
  .object({
    items: VpnPanelSquad.array().describe('Internal squads of the panel, with members and inbounds.'),
    total: z.int().describe('Number of internal squads of the panel.'),
  })
  .meta({ id: 'VpnPanelSquadListResponse' });

export const VpnPanelSquadCreateRequest = z
  .object({
    name: z.string().describe('Name of the new internal squad in the panel.'),
    inbound_uuids: PanelUuid.array().default([]).describe('UUIDs of the inbounds.'),
  })
  .meta({
    id: 'VpnPanelSquadCreateRequest',
    example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] },
  });

export const VpnPanelSquadUpdateRequest = z
  .object({
    name: z.string().nullish().describe('New name of the internal squad; null leaves it unchanged.'),
    inbound_uuids: PanelUuid.array().nullish().describe('UUIDs of the inbounds; null leaves them unchanged.'),
  })
  .meta({
    id: 'VpnPanelSquadUpdateRequest',
    example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] },
  });

export const VpnPanelSquadActionRequest = z
  .object({
    action: z
      .enum(['add_all_users', 'remove_all_users', 'delete', 'rename', 'update_inbounds'])
      .describe('`add_all_users`, `remove_all_users`, `rename`, `update_inbounds` or `delete`.'),
    name: z.string().nullish().describe('New name, for `rename`; null otherwise.'),
    inbound_uuids: PanelUuid.array().nullish().describe('UUIDs of the inbounds; null leaves them unchanged.'),
  })
  .meta({ id: 'VpnPanelSquadActionRequest', example: { action: 'rename', name: 'Netherlands' } });

export const VpnPanelOperationResponse = z
  .object({
    success: z.boolean().describe('Whether the panel changed the squad; false comes with the reason in `detail`.'),
    detail: z.string().nullish().describe('What was done to the squad or why it failed, for people. Not for programs.'),
    data: FreeForm.nullish().describe(
      'Counters and values of the result; null or empty when there are none. Its keys depend on the action.',
    ),
  })
  .meta({ id: 'VpnPanelOperationResponse' });

export const VpnPanelInboundsResponse = z
  .object({ items: FreeForm.array().default([]).describe('Inbounds of the panel, as the panel describes them.') })
  .meta({ id: 'VpnPanelInboundsResponse' });

export const VpnPanelUserTrafficResponse = z
  .object({
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    used_traffic_bytes: z.int().describe('Traffic used since the last reset in bytes.'),
    used_traffic_gb: z.number().describe('Traffic used since the last reset in GB.'),
    lifetime_used_traffic_bytes: z.int().describe('All traffic ever used in bytes.'),
    lifetime_used_traffic_gb: z.number().describe('All traffic ever used in GB.'),
    traffic_limit_bytes: z.int().describe('Traffic limit in bytes; 0 = unlimited.'),
    traffic_limit_gb: z.number().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    subscription_url: z
      .string()
      .nullish()
      .describe('Link that client apps load the configuration from; null while the panel has not created it.'),
  })
  .meta({ id: 'VpnPanelUserTrafficResponse' });
