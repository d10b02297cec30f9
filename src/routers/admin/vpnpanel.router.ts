import { z } from 'zod';
import { refuse } from '../../core/errors.ts';
import { restartAllNodes, runNodeAction } from '../../domain/provisioning/nodes/operate-nodes.ts';
import { readNodeStatistics, readNodeUsage } from '../../domain/provisioning/nodes/read-node-usage.ts';
import { listNodes, nodeNotFound, nodesOverview, nodesRealtime, readNode } from '../../domain/provisioning/nodes/read-nodes.ts';
import { readPanelStatus, readSystem } from '../../domain/provisioning/nodes/read-system.ts';
import type { PanelOutcome } from '../../domain/provisioning/panel-access.ts';
import {
  createSquad,
  deleteSquad,
  NO_UPDATE_DATA,
  runSquadAction,
  updateSquad,
} from '../../domain/provisioning/squads/change-squads.ts';
import {
  listPanelInbounds,
  listSquadsWithServers,
  readSquadWithServer,
  type SquadWithServer,
} from '../../domain/provisioning/squads/read-squads.ts';
import { FreeForm } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
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
} from '../vpnpanel-wire.ts';
import { NodePath, NodeUsageQuery, SquadPath } from '../web/vpnpanel.schemas.ts';
import {
  CabinetVpnPanelNodesOverview,
  CabinetVpnPanelVpnPanelStatusResponse,
  InboundsListResponse,
  NodeActionRequest,
  NodeActionResponse,
  NodeInfo,
  NodeStatisticsResponse,
  NodesListResponse,
  NodeUsageResponse,
  SquadActionRequest,
  SquadCreateRequest,
  SquadDetailResponse,
  SquadOperationResponse,
  SquadsListResponse,
  SquadUpdateRequest,
  SystemStatsResponse,
} from './vpnpanel.schemas.ts';

const tags: [string] = ['Cabinet Admin VpnPanel'];
const reading = adminProcedure('vpnpanel:read');
const changing = adminProcedure('vpnpanel:manage');
const NODE_DONE = { enable: 'Node enabled', disable: 'Node disabled', restart: 'Node restart initiated' } as const;

function toSquadWithServer({ squad, server }: SquadWithServer) {
  return {
    ...toSquadAnswer(squad),
    local_id: server?.id ?? null,
    display_name: server?.displayName ?? null,
    country_code: server?.countryCode ?? null,
    is_available: server?.isAvailable ?? null,
    is_trial_eligible: server?.isTrialEligible ?? null,
    price_kopeks: server?.priceKopeks ?? null,
    max_users: server?.maxUsers ?? null,
    current_users: server?.currentUsers ?? null,
    is_synced: server !== null,
  };
}

/** @throws AppError 400 with `failure` when the panel has no such thing or did not do it (spec 06 section 11) */
function doneOrRefuse<T>(result: PanelOutcome<T>, failure: string): T {
  if (result.outcome === 'done') return result.value;
  throw refuse('panel_refused', 400, failure);
}

export const adminVpnpanelRouter = router({
  status: reading
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/status', tags, summary: 'Is the panel configured and there?' },
    })
    .output(CabinetVpnPanelVpnPanelStatusResponse)
    .query(async ({ ctx }) => toStatusAnswer(await readPanelStatus(ctx.app))),

  system: reading
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/system', tags, summary: 'The panel at a glance' } })
    .output(SystemStatsResponse)
    .query(async ({ ctx }) => toSystemAnswer(await readSystem(ctx.app))),

  nodes: reading
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/nodes', tags, summary: 'List nodes' } })
    .output(NodesListResponse)
    .query(async ({ ctx }) => listOf((await listNodes(ctx.app)).map(toNodeAnswer))),

  nodesOverview: reading
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/nodes/overview', tags, summary: 'Nodes and their counts' } })
    .output(CabinetVpnPanelNodesOverview)
    .query(async ({ ctx }) => {
      const { usersOnline, nodes, ...counts } = await nodesOverview(ctx.app);
      return { ...counts, total_users_online: usersOnline, nodes: nodes.map(toNodeAnswer) };
    }),

  nodesRealtime: reading
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/nodes/realtime', tags, summary: 'What nodes move at present' },
    })
    .output(z.array(FreeForm))
    .query(({ ctx }) => nodesRealtime(ctx.app)),

  node: reading
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/nodes/{node_uuid}', tags, summary: 'Read a node' } })
    .input(NodePath)
    .output(NodeInfo)
    .query(async ({ ctx, input }) => toNodeAnswer(await readNode(ctx.app, input.node_uuid))),

  nodeStatistics: reading
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/vpnpanel/nodes/{node_uuid}/statistics',
        tags,
        summary: 'A node with its numbers',
      },
    })
    .input(NodePath)
    .output(NodeStatisticsResponse)
    .query(async ({ ctx, input }) => toStatisticsAnswer(await readNodeStatistics(ctx.app, input.node_uuid))),

  nodeUsage: reading
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/vpnpanel/nodes/{node_uuid}/usage',
        tags,
        summary: 'Usage of a node by day',
      },
    })
    .input(NodeUsageQuery)
    .output(NodeUsageResponse)
    .query(async ({ ctx, input }) => ({
      items: (await readNodeUsage(ctx.app, input.node_uuid, toUsageRange(input))).map(toUsageRow),
    })),

  nodeAction: changing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/nodes/{node_uuid}/action',
        tags,
        summary: 'Enable, disable, restart a node',
      },
    })
    .input(NodePath.extend(NodeActionRequest.shape))
    .output(NodeActionResponse)
    .mutation(async ({ ctx, input: { node_uuid: uuid, action } }) => {
      const result = await runNodeAction(ctx.app, ctx.actor, uuid, action);
      if (result.outcome === 'absent' && action !== 'restart') throw nodeNotFound();
      const { isDisabled } = doneOrRefuse(result, `Failed to ${action} node`);
      return { success: true, message: NODE_DONE[action], is_disabled: isDisabled };
    }),

  restartAllNodes: changing
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/vpnpanel/nodes/restart-all', tags, summary: 'Restart all nodes' } })
    .output(NodeActionResponse)
    .mutation(async ({ ctx }) => {
      doneOrRefuse(await restartAllNodes(ctx.app, ctx.actor), 'Failed to restart all nodes');
      return { success: true, message: 'All nodes restart initiated', is_disabled: null };
    }),

  squads: reading
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/vpnpanel/squads',
        tags,
        summary: 'List internal squads with their servers',
      },
    })
    .output(SquadsListResponse)
    .query(async ({ ctx }) => listOf((await listSquadsWithServers(ctx.app)).map(toSquadWithServer))),

  createSquad: changing
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/vpnpanel/squads', tags, summary: 'Create an internal squad' } })
    .input(SquadCreateRequest)
    .output(SquadOperationResponse)
    .mutation(async ({ ctx, input }) => {
      const request = { name: input.name, inboundUuids: input.inbound_uuids };
      const { uuid } = doneOrRefuse(await createSquad(ctx.app, ctx.actor, request), 'Failed to create squad');
      return { success: true, message: 'Squad created', data: { uuid } };
    }),

  squad: reading
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/squads/{squad_uuid}', tags, summary: 'Read an internal squad' },
    })
    .input(SquadPath)
    .output(SquadDetailResponse)
    .query(async ({ ctx, input }) => {
      const found = await readSquadWithServer(ctx.app, input.squad_uuid);
      return {
        ...toSquadWithServer(found),
        description: found.server?.description ?? null,
        sort_order: found.server?.sortOrder ?? null,
        active_subscriptions: found.activeSubscriptions,
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
    })
    .input(SquadPath.extend(SquadUpdateRequest.shape))
    .output(SquadOperationResponse)
    .mutation(async ({ ctx, input }) => {
      const changes = { name: input.name ?? undefined, inboundUuids: input.inbound_uuids ?? undefined };
      const result = await updateSquad(ctx.app, ctx.actor, input.squad_uuid, changes);
      const isNothing = result.outcome === 'failed' && result.reason === NO_UPDATE_DATA;
      doneOrRefuse(result, isNothing ? NO_UPDATE_DATA : 'Failed to update squad');
      return { success: true, message: 'Squad updated', data: { uuid: input.squad_uuid } };
    }),

  deleteSquad: changing
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/vpnpanel/squads/{squad_uuid}',
        tags,
        summary: 'Delete an internal squad',
      },
    })
    .input(SquadPath)
    .output(SquadOperationResponse)
    .mutation(async ({ ctx, input }) => {
      doneOrRefuse(await deleteSquad(ctx.app, ctx.actor, input.squad_uuid), 'Failed to delete squad');
      return { success: true, message: 'Squad deleted', data: null };
    }),

  squadAction: changing
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/vpnpanel/squads/{squad_uuid}/action',
        tags,
        summary: 'Do something with a squad',
      },
    })
    .input(SquadPath.extend(SquadActionRequest.shape))
    .output(SquadOperationResponse)
    .mutation(async ({ ctx, input: { squad_uuid: uuid, action, name = null, inbound_uuids: inboundUuids = null } }) => {
      const result = await runSquadAction(ctx.app, ctx.actor, uuid, { action, name, inboundUuids });
      if (result.outcome === 'done') return { success: true, message: `Squad ${action} done`, data: null };
      return { success: false, message: result.outcome === 'absent' ? 'Squad not found' : result.reason, data: null };
    }),

  inbounds: reading
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/vpnpanel/inbounds', tags, summary: 'List inbounds' } })
    .output(InboundsListResponse)
    .query(async ({ ctx }) => listOf((await listPanelInbounds(ctx.app)).map(toInboundItem))),
});
