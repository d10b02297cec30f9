import { z } from 'zod';
import { refusal } from '../../core/errors.ts';
import { nodeNotFound, nodesOverview, restartAllNodes, runNodeAction } from '../../domain/provisioning/nodes.ts';
import { notConfigured, PANEL_READ_REFUSALS, type PanelOutcome } from '../../domain/provisioning/panel-access.ts';
import { squadNotFound } from '../../domain/provisioning/rules.ts';
import {
  createSquad,
  deleteSquad,
  listPanelInbounds,
  listSquadsWithServers,
  NO_UPDATE_DATA,
  readSquadWithServer,
  runSquadAction,
  type SquadWithServer,
  squadNameRequired,
  updateSquad,
} from '../../domain/provisioning/squads/squads.ts';
import { FreeForm } from '../shared.schemas.ts';
import { adminProcedure, freshAdminProcedure, readerFor, router } from '../trpc.ts';
import { listOf, toInbound, toNode, toSquad, vpnpanelReadProcedures } from '../vpnpanel-wire.ts';
import {
  NodePath,
  PanelUuid,
  SquadPath,
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
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Cabinet Admin VpnPanel` without synchronisation: the Web API's shapes under their names here. */

const ConnectionStatus = VpnPanelConnectionStatus.extend({}).meta({ id: 'ConnectionStatus' });
const SystemSummary = VpnPanelSystemSummary.extend({}).meta({ id: 'SystemSummary' });
const CabinetVpnPanelServerInfo = VpnPanelServerInfo.extend({}).meta({ id: 'CabinetVpnPanelServerInfo' });
const Bandwidth = VpnPanelBandwidth.extend({}).meta({ id: 'Bandwidth' });
const TrafficPeriod = VpnPanelTrafficPeriod.extend({}).meta({ id: 'TrafficPeriod' });
const TrafficPeriods = z.object(trafficPeriodsShape(TrafficPeriod)).meta({ id: 'TrafficPeriods' });

const CabinetVpnPanelVpnPanelStatusResponse = VpnPanelStatusResponse.extend({
  connection: ConnectionStatus.nullish().describe('Result of a connection attempt; null when the panel is not configured.'),
}).meta({ id: 'CabinetVpnPanelVpnPanelStatusResponse' });

const SystemStatsResponse = VpnPanelSystemStatsResponse.extend({
  system: SystemSummary.describe('Users, nodes and traffic in numbers.'),
  server_info: CabinetVpnPanelServerInfo.describe('Machine that the panel runs on.'),
  bandwidth: Bandwidth.describe('Current traffic.'),
  traffic_periods: TrafficPeriods.describe('Traffic of periods, each beside the period before.'),
}).meta({ id: 'SystemStatsResponse' });

const NodeInfo = VpnPanelNode.extend({
  updated_at: VpnPanelNode.shape.updated_at.describe(
    'When the node was last changed in the panel (UTC); null when the panel does not say.',
  ),
}).meta({ id: 'NodeInfo' });

const NodesListResponse = z
  .object({
    items: NodeInfo.array().describe('Nodes of the panel.'),
    total: z.int().describe('Number of nodes of the panel.'),
  })
  .meta({ id: 'NodesListResponse' });

const CabinetVpnPanelNodesOverview = z
  .object({
    total: z.int().describe('Number of nodes of the panel.'),
    online: z.int().describe('Number of connected nodes.'),
    offline: z.int().describe('Number of nodes that are not connected.'),
    disabled: z.int().describe('Number of nodes that are switched off.'),
    total_users_online: z.int().describe('Number of users online on all nodes.'),
    nodes: NodeInfo.array().describe('The nodes.'),
  })
  .meta({ id: 'CabinetVpnPanelNodesOverview' });

const NodeStatisticsResponse = VpnPanelNodeStatisticsResponse.extend({ node: NodeInfo.describe('The node.') }).meta({
  id: 'NodeStatisticsResponse',
});

const NodeUsageResponse = VpnPanelNodeUsageResponse.extend({}).meta({ id: 'NodeUsageResponse' });

const NodeActionRequest = VpnPanelNodeActionRequest.extend({}).meta({ id: 'NodeActionRequest' });

const NodeActionResponse = z
  .object({
    success: z.boolean().describe('Always true: an action that the panel refuses is answered with an error status.'),
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

const SquadsListResponse = z
  .object({
    items: SquadWithLocalInfo.array().describe('Internal squads of the panel, each with its server.'),
    total: z.int().describe('Number of internal squads of the panel.'),
  })
  .meta({ id: 'SquadsListResponse' });

const SquadDetailResponse = VpnPanelSquad.extend({
  ...localFields,
  display_name: localFields.display_name.describe('Name shown to users; null where the original name is shown.'),
  description: z.string().nullish().describe('Description of the server; null when there is none.'),
  sort_order: z.int().nullish().describe('Place in the list; smaller numbers come first.'),
  active_subscriptions: z.int().default(0).describe('Number of subscriptions with access.'),
}).meta({ id: 'SquadDetailResponse' });

const SquadName = z.string().min(1).max(255);

const SquadCreateRequest = z
  .object({
    name: SquadName.describe('Name of the new squad in the panel, 1 to 255 characters.'),
    inbound_uuids: PanelUuid.array().default([]).describe('UUIDs of the inbounds.'),
  })
  .meta({ id: 'SquadCreateRequest', example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] } });

const SquadUpdateRequest = z
  .object({
    name: SquadName.nullish().describe('New name of the squad, 1 to 255 characters; null leaves it unchanged.'),
    inbound_uuids: PanelUuid.array().nullish().describe('UUIDs of the inbounds; null leaves them unchanged.'),
  })
  .meta({ id: 'SquadUpdateRequest', example: { name: 'Netherlands', inbound_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] } });

const SquadActionRequest = VpnPanelSquadActionRequest.extend({}).meta({
  id: 'SquadActionRequest',
  example: { action: 'rename', name: 'Netherlands' },
});

const SquadOperationResponse = z
  .object({
    success: z
      .boolean()
      .describe(
        'Whether the panel carried it out. Only an action can be answered with false, with the reason in `message`; other failures have an error status.',
      ),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    data: FreeForm.nullish().describe(
      'Counters and values of the result; null or empty when there are none. Its keys depend on the action.',
    ),
  })
  .meta({ id: 'SquadOperationResponse' });

const InboundsListResponse = VpnPanelInboundsResponse.extend({
  total: z.int().default(0).describe('Number of inbounds of the panel.'),
}).meta({
  id: 'InboundsListResponse',
});

const panelRefused = refusal('panel_refused', 400, 'Failed to delete squad');

const tags: [string] = ['Cabinet Admin VpnPanel'];
const reading = adminProcedure('vpnpanel:read');
const changing = adminProcedure('vpnpanel:manage');
const NODE_DONE = { enable: 'Node enabled', disable: 'Node disabled', restart: 'Node restart initiated' } as const;

/** Fields of the squad's server here; all null without one. */
function toSquadWithServer({ squad, server }: SquadWithServer) {
  return {
    ...toSquad(squad),
    localId: server?.id ?? null,
    displayName: server?.displayName ?? null,
    countryCode: server?.countryCode ?? null,
    isAvailable: server?.isAvailable ?? null,
    isTrialEligible: server?.isTrialEligible ?? null,
    priceKopeks: server?.priceKopeks ?? null,
    maxUsers: server?.maxUsers ?? null,
    currentUsers: server?.currentUsers ?? null,
    isSynced: server !== null,
  };
}

function withReason(failure: string, result: Exclude<PanelOutcome<unknown>, { outcome: 'done' }>): string {
  return result.outcome === 'absent' || result.reason === failure ? failure : `${failure}: ${result.reason}`;
}

/**
 * @throws AppError 400 with `failure` and the panel's reason when it has no such object or did not make the change (spec 06 section 11,
 *   spec 10 V6)
 */
function doneOrRefuse<T>(result: PanelOutcome<T>, failure: string): T {
  if (result.outcome === 'done') return result.value;
  throw panelRefused({ detail: withReason(failure, result) });
}

export const adminVpnpanelRouter = router({
  ...vpnpanelReadProcedures({
    reading: readerFor(reading),
    base: '/cabinet/admin/vpnpanel',
    tag: 'Cabinet Admin VpnPanel',
    schemas: {
      status: CabinetVpnPanelVpnPanelStatusResponse,
      system: SystemStatsResponse,
      nodes: NodesListResponse,
      node: NodeInfo,
      nodeStatistics: NodeStatisticsResponse,
      nodeUsage: NodeUsageResponse,
    },
  }),

  nodesOverview: reading
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/nodes/overview', tags, summary: 'Nodes and their counts' },
      description:
        'Lists the nodes with the numbers of connected, disconnected and disabled ones and of users online. A disabled node counts as disabled only.',
      refuses: [...PANEL_READ_REFUSALS],
    })
    .output(toWire(CabinetVpnPanelNodesOverview))
    .query(async ({ ctx }) => {
      const { usersOnline, nodes, ...counts } = await nodesOverview(ctx.app);
      return { ...counts, totalUsersOnline: usersOnline, nodes: nodes.map(toNode) };
    }),

  nodeAction: changing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/nodes/{node_uuid}/action',
        tags,
        summary: 'Enable, disable or restart a node',
      },
      description: 'Enables, disables or restarts a node in the panel. Connections through it are interrupted.',
      refuses: [panelRefused, nodeNotFound, notConfigured],
    })
    .input(fromWire(withBody(NodePath, NodeActionRequest)))
    .output(toWire(NodeActionResponse))
    .mutation(async ({ ctx, input: { nodeUuid, action } }) => {
      const result = await runNodeAction(ctx.app, ctx.actor, nodeUuid, action);
      if (result.outcome === 'absent' && action !== 'restart') throw nodeNotFound();
      const { isDisabled } = doneOrRefuse(result, `Failed to ${action} node`);
      return { success: true, message: NODE_DONE[action], isDisabled };
    }),

  restartAllNodes: changing
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/vpnpanel/nodes/restart-all', tags, summary: 'Restart all nodes' },
      description: 'Restarts all nodes of the panel; connections are interrupted.',
      refuses: [panelRefused, notConfigured],
    })
    .output(toWire(NodeActionResponse))
    .mutation(async ({ ctx }) => {
      doneOrRefuse(await restartAllNodes(ctx.app, ctx.actor), 'Failed to restart all nodes');
      return { success: true, message: 'All nodes restart initiated', isDisabled: null };
    }),

  squads: reading
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/vpnpanel/squads',
        tags,
        summary: 'List internal squads with their servers',
      },
      description: 'Lists the internal squads of the panel with the servers that belong to them.',
      refuses: [...PANEL_READ_REFUSALS],
    })
    .output(toWire(SquadsListResponse))
    .query(async ({ ctx }) => listOf((await listSquadsWithServers(ctx.app)).map(toSquadWithServer))),

  createSquad: changing
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/vpnpanel/squads', tags, summary: 'Create an internal squad' },
      description:
        'Creates an internal squad in the panel with the given inbounds. It becomes a server with the next synchronisation of servers.',
      refuses: [panelRefused, notConfigured],
    })
    .input(fromWire(SquadCreateRequest))
    .output(SquadOperationResponse)
    .mutation(async ({ ctx, input }) => {
      const { uuid } = doneOrRefuse(await createSquad(ctx.app, ctx.actor, input), 'Failed to create squad');
      return { success: true, message: 'Squad created', data: { uuid } };
    }),

  squad: reading
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/squads/{squad_uuid}', tags, summary: 'Read an internal squad' },
      description: 'Returns an internal squad with its inbounds, its server and the number of active subscriptions.',
      refuses: [...PANEL_READ_REFUSALS, squadNotFound],
    })
    .input(fromWire(SquadPath))
    .output(toWire(SquadDetailResponse))
    .query(async ({ ctx, input }) => {
      const found = await readSquadWithServer(ctx.app, input.squadUuid);
      return {
        ...toSquadWithServer(found),
        description: found.server?.description ?? null,
        sortOrder: found.server?.sortOrder ?? null,
        activeSubscriptions: found.activeSubscriptions,
      };
    }),

  updateSquad: changing
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/cabinet/admin/vpnpanel/squads/{squad_uuid}',
        tags,
        summary: 'Change an internal squad',
      },
      description: 'Changes name or inbounds of an internal squad in the panel.',
      refuses: [panelRefused, notConfigured],
    })
    .input(fromWire(withBody(SquadPath, SquadUpdateRequest)))
    .output(SquadOperationResponse)
    .mutation(async ({ ctx, input: { squadUuid, ...changes } }) => {
      const result = await updateSquad(ctx.app, ctx.actor, squadUuid, changes);
      const isNothing = result.outcome === 'failed' && result.reason === NO_UPDATE_DATA;
      doneOrRefuse(result, isNothing ? NO_UPDATE_DATA : 'Failed to update squad');
      return { success: true, message: 'Squad updated', data: { uuid: squadUuid } };
    }),

  deleteSquad: freshAdminProcedure('vpnpanel:manage')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/vpnpanel/squads/{squad_uuid}',
        tags,
        summary: 'Delete an internal squad',
      },
      description: 'Deletes an internal squad in the panel. Its server remains until the next synchronisation of servers.',
      refuses: [panelRefused, notConfigured],
    })
    .input(fromWire(SquadPath))
    .output(SquadOperationResponse)
    .mutation(async ({ ctx, input }) => {
      doneOrRefuse(await deleteSquad(ctx.app, ctx.actor, input.squadUuid), 'Failed to delete squad');
      return { success: true, message: 'Squad deleted', data: null };
    }),

  squadAction: changing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/squads/{squad_uuid}/action',
        tags,
        summary: 'Run an action on a squad',
      },
      description:
        'Adds or removes all users, renames the squad, replaces its inbounds or deletes it, in the panel. The change affects connected users immediately.',
      refuses: [squadNameRequired, notConfigured],
    })
    .input(fromWire(withBody(SquadPath, SquadActionRequest)))
    .output(SquadOperationResponse)
    .mutation(async ({ ctx, input: { squadUuid, ...request } }) => {
      const result = await runSquadAction(ctx.app, ctx.actor, squadUuid, request);
      if (result.outcome === 'done') return { success: true, message: `Squad ${request.action} done`, data: null };
      return { success: false, message: result.outcome === 'absent' ? 'Squad not found' : result.reason, data: null };
    }),

  inbounds: reading
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/inbounds', tags, summary: 'List inbounds' },
      description: 'Lists the inbounds of the panel, from which squads are made.',
      refuses: [...PANEL_READ_REFUSALS],
    })
    .output(InboundsListResponse)
    .query(async ({ ctx }) => listOf((await listPanelInbounds(ctx.app)).map(toInbound))),
});
