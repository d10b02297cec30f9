import { z } from 'zod';
import { restartAllNodes, runNodeAction } from '../../domain/provisioning/nodes/operate-nodes.ts';
import { readNodeStatistics, readNodeUsage } from '../../domain/provisioning/nodes/read-node-usage.ts';
import { listNodes, nodesRealtime, readNode } from '../../domain/provisioning/nodes/read-nodes.ts';
import { readPanelStatus, readSystem } from '../../domain/provisioning/nodes/read-system.ts';
import { readUserTraffic } from '../../domain/provisioning/nodes/read-user-traffic.ts';
import type { PanelOutcome } from '../../domain/provisioning/panel-access.ts';
import { createSquad, runSquadAction, updateSquad } from '../../domain/provisioning/squads/change-squads.ts';
import { listPanelInbounds, listPanelSquads, readPanelSquad } from '../../domain/provisioning/squads/read-squads.ts';
import { FreeForm } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import {
  listOf,
  toInboundItem,
  toNodeAnswer,
  toSquadAnswer,
  toStatisticsAnswer,
  toStatusAnswer,
  toSystemAnswer,
  toUsageRange,
  toUsageRow,
  toUserTrafficAnswer,
} from '../vpnpanel-wire.ts';
import {
  NodePath,
  NodeUsageQuery,
  PanelUserPath,
  SquadPath,
  VpnPanelInboundsResponse,
  VpnPanelNode,
  VpnPanelNodeActionRequest,
  VpnPanelNodeActionResponse,
  VpnPanelNodeListResponse,
  VpnPanelNodeStatisticsResponse,
  VpnPanelNodeUsageResponse,
  VpnPanelOperationResponse,
  VpnPanelSquad,
  VpnPanelSquadActionRequest,
  VpnPanelSquadCreateRequest,
  VpnPanelSquadListResponse,
  VpnPanelSquadUpdateRequest,
  VpnPanelStatusResponse,
  VpnPanelSystemStatsResponse,
  VpnPanelUserTrafficResponse,
} from './vpnpanel.schemas.ts';

const tags: [string] = ['vpnpanel'];
const changing = auditedWebProcedure('vpnpanel:manage');

/** A failure of the panel is an answer here, with 200 (spec 06 section 11). */
function toFlag(result: PanelOutcome<unknown>, done: string, absent: string) {
  if (result.outcome === 'done') return { success: true, detail: done };
  return { success: false, detail: result.outcome === 'absent' ? absent : result.reason };
}

export const vpnpanelRouter = router({
  status: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/status', tags, summary: 'Is the panel configured and there?' } })
    .output(VpnPanelStatusResponse)
    .query(async ({ ctx }) => toStatusAnswer(await readPanelStatus(ctx.app))),

  system: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/system', tags, summary: 'The panel at a glance' } })
    .output(VpnPanelSystemStatsResponse)
    .query(async ({ ctx }) => toSystemAnswer(await readSystem(ctx.app))),

  nodes: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/nodes', tags, summary: 'List nodes' } })
    .output(VpnPanelNodeListResponse)
    .query(async ({ ctx }) => listOf((await listNodes(ctx.app)).map(toNodeAnswer))),

  nodesRealtime: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/nodes/realtime', tags, summary: 'What nodes move at present' } })
    .output(z.array(FreeForm))
    .query(({ ctx }) => nodesRealtime(ctx.app)),

  node: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/nodes/{node_uuid}', tags, summary: 'Read a node' } })
    .input(NodePath)
    .output(VpnPanelNode)
    .query(async ({ ctx, input }) => toNodeAnswer(await readNode(ctx.app, input.node_uuid))),

  nodeStatistics: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/vpnpanel/nodes/{node_uuid}/statistics', tags, summary: 'A node with its numbers' },
    })
    .input(NodePath)
    .output(VpnPanelNodeStatisticsResponse)
    .query(async ({ ctx, input }) => toStatisticsAnswer(await readNodeStatistics(ctx.app, input.node_uuid))),

  nodeUsage: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/nodes/{node_uuid}/usage', tags, summary: 'Usage of a node by day' } })
    .input(NodeUsageQuery)
    .output(VpnPanelNodeUsageResponse)
    .query(async ({ ctx, input }) => ({
      items: (await readNodeUsage(ctx.app, input.node_uuid, toUsageRange(input))).map(toUsageRow),
    })),

  nodeAction: changing
    .meta({
      openapi: { method: 'POST', path: '/vpnpanel/nodes/{node_uuid}/actions', tags, summary: 'Enable, disable, restart a node' },
    })
    .input(NodePath.extend(VpnPanelNodeActionRequest.shape))
    .output(VpnPanelNodeActionResponse)
    .mutation(async ({ ctx, input: { node_uuid: uuid, action } }) =>
      toFlag(await runNodeAction(ctx.app, ctx.actor, uuid, action), `Node ${action} done`, 'Node not found'),
    ),

  restartNodes: changing
    .meta({ openapi: { method: 'POST', path: '/vpnpanel/nodes/restart', tags, summary: 'Restart all nodes' } })
    .output(VpnPanelNodeActionResponse)
    .mutation(async ({ ctx }) =>
      toFlag(await restartAllNodes(ctx.app, ctx.actor), 'All nodes are being restarted', 'Node not found'),
    ),

  squads: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/squads', tags, summary: 'List internal squads' } })
    .output(VpnPanelSquadListResponse)
    .query(async ({ ctx }) => listOf((await listPanelSquads(ctx.app)).map(toSquadAnswer))),

  createSquad: changing
    .meta({ openapi: { method: 'POST', path: '/vpnpanel/squads', tags, summary: 'Create an internal squad' } })
    .input(VpnPanelSquadCreateRequest)
    .output(VpnPanelOperationResponse)
    .mutation(async ({ ctx, input }) => {
      const request = { name: input.name, inboundUuids: input.inbound_uuids };
      const result = await createSquad(ctx.app, ctx.actor, request);
      const data = result.outcome === 'done' ? { uuid: result.value.uuid } : null;
      return { ...toFlag(result, 'Squad created', 'Squad not found'), data };
    }),

  squad: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/squads/{squad_uuid}', tags, summary: 'Read an internal squad' } })
    .input(SquadPath)
    .output(VpnPanelSquad)
    .query(async ({ ctx, input }) => toSquadAnswer(await readPanelSquad(ctx.app, input.squad_uuid))),

  updateSquad: changing
    .meta({ openapi: { method: 'PATCH', path: '/vpnpanel/squads/{squad_uuid}', tags, summary: 'Change an internal squad' } })
    .input(SquadPath.extend(VpnPanelSquadUpdateRequest.shape))
    .output(VpnPanelOperationResponse)
    .mutation(async ({ ctx, input }) => {
      const changes = { name: input.name ?? undefined, inboundUuids: input.inbound_uuids ?? undefined };
      return toFlag(await updateSquad(ctx.app, ctx.actor, input.squad_uuid, changes), 'Squad updated', 'Squad not found');
    }),

  squadAction: changing
    .meta({
      openapi: { method: 'POST', path: '/vpnpanel/squads/{squad_uuid}/actions', tags, summary: 'Do something with a squad' },
    })
    .input(SquadPath.extend(VpnPanelSquadActionRequest.shape))
    .output(VpnPanelOperationResponse)
    .mutation(async ({ ctx, input: { squad_uuid: uuid, action, name = null, inbound_uuids: inboundUuids = null } }) => {
      const result = await runSquadAction(ctx.app, ctx.actor, uuid, { action, name, inboundUuids });
      return toFlag(result, `Squad ${action} done`, 'Squad not found');
    }),

  inbounds: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/inbounds', tags, summary: 'List inbounds' } })
    .output(VpnPanelInboundsResponse)
    .query(async ({ ctx }) => ({ items: (await listPanelInbounds(ctx.app)).map(toInboundItem) })),

  userTraffic: webProcedure
    .meta({ openapi: { method: 'GET', path: '/vpnpanel/users/{messenger_id}/traffic', tags, summary: 'Traffic of a user' } })
    .input(PanelUserPath)
    .output(VpnPanelUserTrafficResponse)
    .query(async ({ ctx, input }) => toUserTrafficAnswer(await readUserTraffic(ctx.app, input.messenger_id))),
});
