import { panelUserNotFound, readUserTraffic, restartAllNodes, runNodeAction } from '../../domain/provisioning/nodes.ts';
import type { PanelOutcome } from '../../domain/provisioning/panel-access.ts';
import { notConfigured, PANEL_READ_REFUSALS } from '../../domain/provisioning/panel-access.ts';
import { squadNotFound } from '../../domain/provisioning/rules.ts';
import {
  createSquad,
  listPanelInbounds,
  listPanelSquads,
  readPanelSquad,
  runSquadAction,
  squadInboundsRequired,
  squadNameRequired,
  updateSquad,
} from '../../domain/provisioning/squads/squads.ts';
import { auditedWebProcedure, readerFor, router, webProcedure } from '../trpc.ts';
import { listOf, toInbound, toSquad, toUserTraffic, vpnpanelReadProcedures } from '../vpnpanel-wire.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  NodePath,
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

/** A failure of the panel is answered with 200 in this area. */
function toFlag(result: PanelOutcome<unknown>, done: string, absent: string) {
  if (result.outcome === 'done') return { success: true, detail: done };
  return { success: false, detail: result.outcome === 'absent' ? absent : result.reason };
}

/** The answer to a change of a squad, which has nothing to show in `data`. */
const squadFlag = (result: PanelOutcome<unknown>, done: string) => ({
  ...toFlag(result, done, 'Squad not found'),
  data: null,
});

export const vpnpanelRouter = router({
  ...vpnpanelReadProcedures({
    reading: readerFor(webProcedure),
    base: '/vpnpanel',
    tag: 'vpnpanel',
    schemas: {
      status: VpnPanelStatusResponse,
      system: VpnPanelSystemStatsResponse,
      nodes: VpnPanelNodeListResponse,
      node: VpnPanelNode,
      nodeStatistics: VpnPanelNodeStatisticsResponse,
      nodeUsage: VpnPanelNodeUsageResponse,
    },
  }),

  nodeAction: changing
    .meta({
      openapi: {
        method: 'POST',
        path: '/vpnpanel/nodes/{node_uuid}/actions',
        tags,
        summary: 'Enable, disable or restart a node',
      },
      description:
        'Enables, disables or restarts a node in the panel. A refusal of the panel is answered with status 200 and `success` false.',
      refuses: [notConfigured],
    })
    .input(fromWire(withBody(NodePath, VpnPanelNodeActionRequest)))
    .output(VpnPanelNodeActionResponse)
    .mutation(async ({ ctx, input: { nodeUuid, action } }) =>
      toFlag(await runNodeAction(ctx.app, ctx.actor, nodeUuid, action), `Node ${action} done`, 'Node not found'),
    ),

  restartNodes: changing
    .meta({
      openapi: { method: 'POST', path: '/vpnpanel/nodes/restart', tags, summary: 'Restart all nodes' },
      description:
        'Restarts all nodes; connections are interrupted. A refusal of the panel is answered with status 200 and `success` false.',
      refuses: [notConfigured],
    })
    .output(VpnPanelNodeActionResponse)
    .mutation(async ({ ctx }) =>
      toFlag(await restartAllNodes(ctx.app, ctx.actor), 'All nodes are being restarted', 'Node not found'),
    ),

  squads: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/vpnpanel/squads', tags, summary: 'List internal squads' },
      description: 'Lists the internal squads of the panel with members and inbounds.',
      refuses: [...PANEL_READ_REFUSALS],
    })
    .output(toWire(VpnPanelSquadListResponse))
    .query(async ({ ctx }) => listOf((await listPanelSquads(ctx.app)).map(toSquad))),

  createSquad: changing
    .meta({
      openapi: { method: 'POST', path: '/vpnpanel/squads', tags, summary: 'Create an internal squad' },
      description:
        'Creates an internal squad in the panel with the given inbounds. It becomes a server with the next synchronisation of servers.',
      refuses: [notConfigured],
    })
    .input(fromWire(VpnPanelSquadCreateRequest))
    .output(VpnPanelOperationResponse)
    .mutation(async ({ ctx, input }) => {
      const result = await createSquad(ctx.app, ctx.actor, input);
      const data = result.outcome === 'done' ? { uuid: result.value.uuid } : null;
      return { ...squadFlag(result, 'Squad created'), data };
    }),

  squad: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/vpnpanel/squads/{squad_uuid}', tags, summary: 'Read an internal squad' },
      description: 'Returns an internal squad with its inbounds.',
      refuses: [...PANEL_READ_REFUSALS, squadNotFound],
    })
    .input(fromWire(SquadPath))
    .output(toWire(VpnPanelSquad))
    .query(async ({ ctx, input }) => toSquad(await readPanelSquad(ctx.app, input.squadUuid))),

  updateSquad: changing
    .meta({
      openapi: { method: 'PATCH', path: '/vpnpanel/squads/{squad_uuid}', tags, summary: 'Change an internal squad' },
      description: 'Changes name or inbounds of an internal squad in the panel.',
      refuses: [notConfigured],
    })
    .input(fromWire(withBody(SquadPath, VpnPanelSquadUpdateRequest)))
    .output(VpnPanelOperationResponse)
    .mutation(async ({ ctx, input: { squadUuid, ...changes } }) =>
      squadFlag(await updateSquad(ctx.app, ctx.actor, squadUuid, changes), 'Squad updated'),
    ),

  squadAction: changing
    .meta({
      openapi: { method: 'POST', path: '/vpnpanel/squads/{squad_uuid}/actions', tags, summary: 'Run an action on a squad' },
      description:
        'Adds or removes all users, renames the squad, replaces its inbounds or deletes it, in the panel. The change affects connected users immediately.',
      refuses: [squadInboundsRequired, squadNameRequired, notConfigured],
    })
    .input(fromWire(withBody(SquadPath, VpnPanelSquadActionRequest)))
    .output(VpnPanelOperationResponse)
    .mutation(async ({ ctx, input: { squadUuid, ...request } }) => {
      const result = await runSquadAction(ctx.app, ctx.actor, squadUuid, request);
      return squadFlag(result, `Squad ${request.action} done`);
    }),

  inbounds: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/vpnpanel/inbounds', tags, summary: 'List inbounds' },
      description: 'Lists the inbounds of the panel, from which squads are made.',
      refuses: [...PANEL_READ_REFUSALS],
    })
    .output(VpnPanelInboundsResponse)
    .query(async ({ ctx }) => ({ items: (await listPanelInbounds(ctx.app)).map(toInbound) })),

  userTraffic: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/vpnpanel/users/{messenger_id}/traffic', tags, summary: 'Traffic of a user' },
      description: 'Returns limit and used traffic of the panel user with this messenger id. GB are 1024³ bytes.',
      refuses: [...PANEL_READ_REFUSALS, panelUserNotFound],
    })
    .input(fromWire(PanelUserPath))
    .output(toWire(VpnPanelUserTrafficResponse))
    .query(async ({ ctx, input }) => toUserTraffic(await readUserTraffic(ctx.app, input.messengerId))),
});
