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
  connection: ConnectionStatus.nullish(),
}).meta({ id: 'CabinetVpnPanelVpnPanelStatusResponse' });

export const SystemStatsResponse = VpnPanelSystemStatsResponse.extend({
  system: SystemSummary,
  server_info: CabinetVpnPanelServerInfo,
  bandwidth: Bandwidth,
  traffic_periods: TrafficPeriods,
}).meta({ id: 'SystemStatsResponse' });

export const NodeInfo = VpnPanelNode.extend({}).meta({ id: 'NodeInfo' });

export const NodesListResponse = z.object({ items: NodeInfo.array(), total: z.int() }).meta({ id: 'NodesListResponse' });

export const CabinetVpnPanelNodesOverview = z
  .object({
    total: z.int(),
    online: z.int(),
    offline: z.int(),
    disabled: z.int(),
    total_users_online: z.int(),
    nodes: NodeInfo.array(),
  })
  .meta({ id: 'CabinetVpnPanelNodesOverview' });

export const NodeStatisticsResponse = VpnPanelNodeStatisticsResponse.extend({ node: NodeInfo }).meta({
  id: 'NodeStatisticsResponse',
});

export const NodeUsageResponse = VpnPanelNodeUsageResponse.extend({}).meta({ id: 'NodeUsageResponse' });

export const NodeActionRequest = VpnPanelNodeActionRequest.extend({}).meta({ id: 'NodeActionRequest' });

export const NodeActionResponse = z
  .object({ success: z.boolean(), message: z.string().nullish(), is_disabled: z.boolean().nullish() })
  .meta({ id: 'NodeActionResponse' });

/** Fields of the server here that mirrors the squad; null without one. */
const localFields = {
  local_id: z.int().nullish(),
  display_name: z.string().nullish(),
  country_code: z.string().nullish(),
  is_available: z.boolean().nullish(),
  is_trial_eligible: z.boolean().nullish(),
  price_kopeks: z.int().nullish(),
  max_users: z.int().nullish(),
  current_users: z.int().nullish(),
  is_synced: z.boolean().default(false),
};

const SquadWithLocalInfo = VpnPanelSquad.extend(localFields).meta({ id: 'SquadWithLocalInfo' });

export const SquadsListResponse = z
  .object({ items: SquadWithLocalInfo.array(), total: z.int() })
  .meta({ id: 'SquadsListResponse' });

export const SquadDetailResponse = VpnPanelSquad.extend({
  ...localFields,
  description: z.string().nullish(),
  sort_order: z.int().nullish(),
  active_subscriptions: z.int().default(0),
}).meta({ id: 'SquadDetailResponse' });

const SquadName = z.string().min(1).max(255);

export const SquadCreateRequest = z
  .object({ name: SquadName, inbound_uuids: PanelUuid.array().default([]) })
  .meta({ id: 'SquadCreateRequest', example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] } });

export const SquadUpdateRequest = z
  .object({ name: SquadName.nullish(), inbound_uuids: PanelUuid.array().nullish() })
  .meta({ id: 'SquadUpdateRequest', example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] } });

export const SquadActionRequest = VpnPanelSquadActionRequest.extend({}).meta({
  id: 'SquadActionRequest',
  example: { action: 'rename', name: 'Netherlands' },
});

export const SquadOperationResponse = z
  .object({ success: z.boolean(), message: z.string().nullish(), data: FreeForm.nullish() })
  .meta({ id: 'SquadOperationResponse' });

export const InboundsListResponse = VpnPanelInboundsResponse.extend({ total: z.int().default(0) }).meta({
  id: 'InboundsListResponse',
});
