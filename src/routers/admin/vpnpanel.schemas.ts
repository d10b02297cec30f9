import { z } from 'zod';
import { FreeForm } from '../shared.schemas.ts';
import {
  PanelUuid,
  trafficPeriodsShape,
  VpnPanelBandwidth,
  VpnPanelConnectionStatus,
  VpnPanelInboundsResponse,
  VpnPanelNode,
  VpnPanelNodeActionRequest,
  VpnPanelNodeStatisticsResponse,
  VpnPanelNodeUsageResponse,
  VpnPanelServerInfo,
  VpnPanelSquad,
  VpnPanelSquadActionRequest,
  VpnPanelStatusResponse,
  VpnPanelSystemStatsResponse,
  VpnPanelSystemSummary,
  VpnPanelTrafficPeriod,
} from '../web/vpnpanel.schemas.ts';

/** Contract group `Cabinet Admin VpnPanel` without synchronisation: the Web API's shapes under their names here. */

const ConnectionStatus = VpnPanelConnectionStatus.extend({}).meta({ id: 'ConnectionStatus' });
const SystemSummary = VpnPanelSystemSummary.extend({}).meta({ id: 'SystemSummary' });
const CabinetVpnPanelServerInfo = VpnPanelServerInfo.extend({}).meta({ id: 'CabinetVpnPanelServerInfo' });
const Bandwidth = VpnPanelBandwidth.extend({}).meta({ id: 'Bandwidth' });
const TrafficPeriod = VpnPanelTrafficPeriod.extend({}).meta({ id: 'TrafficPeriod' });
const TrafficPeriods = z.object(trafficPeriodsShape(TrafficPeriod)).meta({ id: 'TrafficPeriods' });

export const CabinetVpnPanelVpnPanelStatusResponse = VpnPanelStatusResponse.extend({
  connection: ConnectionStatus.nullish().describe('Result of a connection attempt; null when the panel is not configured.'),
}).meta({ id: 'CabinetVpnPanelVpnPanelStatusResponse' });

export const SystemStatsResponse = VpnPanelSystemStatsResponse.extend({
  system: SystemSummary.describe('Users, nodes and traffic in numbers.'),
  server_info: CabinetVpnPanelServerInfo.describe('Machine that the panel runs on.'),
  bandwidth: Bandwidth.describe('Current traffic.'),
  traffic_periods: TrafficPeriods.describe('Traffic of periods, each beside the period before.'),
}).meta({ id: 'SystemStatsResponse' });

export const NodeInfo = VpnPanelNode.extend({}).meta({ id: 'NodeInfo' });

export const NodesListResponse = z
  .object({
    items: NodeInfo.array().describe('Nodes of the panel.'),
    total: z.int().describe('Number of nodes of the panel.'),
  })
  .meta({ id: 'NodesListResponse' });

export const CabinetVpnPanelNodesOverview = z
  .object({
    total: z.int().describe('Number of nodes of the panel.'),
    online: z.int().describe('Number of connected nodes.'),
    offline: z.int().describe('Number of nodes that are not connected.'),
    disabled: z.int().describe('Number of nodes that are switched off.'),
    total_users_online: z.int().describe('Number of users online on all nodes.'),
    nodes: NodeInfo.array().describe('The nodes.'),
  })
  .meta({ id: 'CabinetVpnPanelNodesOverview' });

export const NodeStatisticsResponse = VpnPanelNodeStatisticsResponse.extend({ node: NodeInfo.describe('The node.') }).meta({
  id: 'NodeStatisticsResponse',
});

export const NodeUsageResponse = VpnPanelNodeUsageResponse.extend({}).meta({ id: 'NodeUsageResponse' });

export const NodeActionRequest = VpnPanelNodeActionRequest.extend({}).meta({ id: 'NodeActionRequest' });

export const NodeActionResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    is_disabled: z.boolean().nullish().describe('Whether the node is switched off.'),
  })
  .meta({ id: 'NodeActionResponse' });

/** Fields of the server here that mirrors the squad; null without one. */
const localFields = {
  local_id: z.int().nullish().describe('Id of the server that belongs to the squad; null for none.'),
  display_name: z.string().nullish().describe('Name of the server; null when there is none.'),
  country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
  is_available: z
    .boolean()
    .nullish()
    .describe('Whether the server of the squad is on sale; null when no server belongs to the squad.'),
  is_trial_eligible: z
    .boolean()
    .nullish()
    .describe('Whether trials may use the server; null when no server belongs to the squad.'),
  price_kopeks: z.int().nullish().describe('Price in kopeks, after discounts; null where there is none.'),
  max_users: z.int().nullish().describe('Greatest number of users; null for no cap. In an update 0 removes the cap.'),
  current_users: z.int().nullish().describe('Number of users of the server; null when no server belongs to the squad.'),
  is_synced: z.boolean().default(false).describe('Whether a server belongs to the squad.'),
};

const SquadWithLocalInfo = VpnPanelSquad.extend(localFields).meta({ id: 'SquadWithLocalInfo' });

export const SquadsListResponse = z
  .object({
    items: SquadWithLocalInfo.array().describe('Internal squads of the panel, each with its server.'),
    total: z.int().describe('Number of internal squads of the panel.'),
  })
  .meta({ id: 'SquadsListResponse' });

export const SquadDetailResponse = VpnPanelSquad.extend({
  ...localFields,
  display_name: localFields.display_name.describe('Name shown to users; null where the original name is shown.'),
  description: z.string().nullish().describe('Description of the server; null when there is none.'),
  sort_order: z.int().nullish().describe('Place in the list; smaller numbers come first.'),
  active_subscriptions: z.int().default(0).describe('Number of subscriptions with access.'),
}).meta({ id: 'SquadDetailResponse' });

const SquadName = z.string().min(1).max(255);

export const SquadCreateRequest = z
  .object({
    name: SquadName.describe('Name of the new squad in the panel, 1 to 255 characters.'),
    inbound_uuids: PanelUuid.array().default([]).describe('UUIDs of the inbounds.'),
  })
  .meta({ id: 'SquadCreateRequest', example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] } });

export const SquadUpdateRequest = z
  .object({
    name: SquadName.nullish().describe('New name of the squad, 1 to 255 characters; null leaves it unchanged.'),
    inbound_uuids: PanelUuid.array().nullish().describe('UUIDs of the inbounds; null leaves them unchanged.'),
  })
  .meta({ id: 'SquadUpdateRequest', example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] } });

export const SquadActionRequest = VpnPanelSquadActionRequest.extend({}).meta({
  id: 'SquadActionRequest',
  example: { action: 'rename', name: 'Netherlands' },
});

export const SquadOperationResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    data: FreeForm.nullish().describe(
      'Counters and values of the result; null or empty when there are none. Its keys depend on the action.',
    ),
  })
  .meta({ id: 'SquadOperationResponse' });

export const InboundsListResponse = VpnPanelInboundsResponse.extend({
  total: z.int().default(0).describe('Number of inbounds of the panel.'),
}).meta({
  id: 'InboundsListResponse',
});
