import { refusal } from '../../core/errors.ts';
import { nodeNotFound, nodesOverview, restartAllNodes, runNodeAction } from '../../domain/provisioning/nodes.ts';
import type { PanelOutcome } from '../../domain/provisioning/panel-access.ts';
import { notConfigured, PANEL_READ_REFUSALS } from '../../domain/provisioning/panel-access.ts';
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
import { adminProcedure, readerFor, router } from '../trpc.ts';
import { listOf, toInbound, toNode, toSquad, vpnpanelReadProcedures } from '../vpnpanel-wire.ts';
import { NodePath, SquadPath } from '../web/vpnpanel.schemas.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
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

  deleteSquad: changing
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
