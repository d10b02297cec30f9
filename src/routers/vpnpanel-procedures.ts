import { z } from 'zod';
import type { AdminActor, TokenActor } from '../core/actor.ts';
import { readNodeStatistics, readNodeUsage } from '../domain/provisioning/nodes/read-node-usage.ts';
import { listNodes, nodeNotFound, nodesRealtime, readNode } from '../domain/provisioning/nodes/read-nodes.ts';
import { readPanelStatus, readSystem } from '../domain/provisioning/nodes/read-system.ts';
import { dateRangeTooLong, invalidDateRange } from '../domain/provisioning/nodes/rules.ts';
import { PANEL_READ_REFUSALS } from '../domain/provisioning/panel-access.ts';
import { FreeForm } from './shared.schemas.ts';
import type { ReaderFor } from './trpc.ts';
import { listOf, toNode, toStatistics, toStatus, toSystem, toUsageRange, toUsageRow } from './vpnpanel-wire.ts';
import {
  NodePath,
  NodeUsageQuery,
  type VpnPanelNode,
  type VpnPanelNodeListResponse,
  type VpnPanelNodeStatisticsResponse,
  type VpnPanelNodeUsageResponse,
  type VpnPanelStatusResponse,
  type VpnPanelSystemStatsResponse,
} from './web/vpnpanel.schemas.ts';
import { fromWire, toWire } from './wire.ts';

interface Group {
  reading: ReaderFor<TokenActor | AdminActor>;
  base: '/vpnpanel' | '/cabinet/admin/vpnpanel';
  tag: string;
  /** The same shapes have other component names in each area. */
  schemas: {
    status: typeof VpnPanelStatusResponse;
    system: typeof VpnPanelSystemStatsResponse;
    nodes: typeof VpnPanelNodeListResponse;
    node: typeof VpnPanelNode;
    nodeStatistics: typeof VpnPanelNodeStatisticsResponse;
    nodeUsage: typeof VpnPanelNodeUsageResponse;
  };
}

/** Reads of the panel and its nodes that the Web API and the administration have alike (spec 06 section 11). */
export function vpnpanelReadProcedures({ reading, base, tag, schemas }: Group) {
  const tags: [string] = [tag];
  return {
    status: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/status`, tags, summary: 'State of the connection to the panel' },
        description:
          'Returns whether the panel is configured and answers, with the outcome of one attempt. A failure of the panel is reported in the answer with status 200.',
      })
      .output(toWire(schemas.status))
      .query(async ({ ctx }) => toStatus(await readPanelStatus(ctx.app))),

    system: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/system`, tags, summary: 'The panel at a glance' },
        description: 'Returns current users, nodes, machine and traffic of the panel.',
        refuses: [...PANEL_READ_REFUSALS],
      })
      .output(toWire(schemas.system))
      .query(async ({ ctx }) => toSystem(await readSystem(ctx.app))),

    nodes: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes`, tags, summary: 'List nodes' },
        description: 'Lists the current nodes of the panel.',
        refuses: [...PANEL_READ_REFUSALS],
      })
      .output(toWire(schemas.nodes))
      .query(async ({ ctx }) => listOf((await listNodes(ctx.app)).map(toNode))),

    nodesRealtime: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes/realtime`, tags, summary: 'Current traffic of the nodes' },
        description: 'Returns the current traffic of the nodes, as the panel reports it.',
        refuses: [...PANEL_READ_REFUSALS],
      })
      .output(z.array(FreeForm))
      .query(({ ctx }) => nodesRealtime(ctx.app)),

    node: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes/{node_uuid}`, tags, summary: 'Read a node' },
        description: 'Returns a node of the panel.',
        refuses: [...PANEL_READ_REFUSALS, nodeNotFound],
      })
      .input(fromWire(NodePath))
      .output(toWire(schemas.node))
      .query(async ({ ctx, input }) => toNode(await readNode(ctx.app, input.nodeUuid))),

    nodeStatistics: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes/{node_uuid}/statistics`, tags, summary: 'A node with its statistics' },
        description: 'Returns a node with its current traffic and its usage of the last 7 days.',
        refuses: [...PANEL_READ_REFUSALS, nodeNotFound],
      })
      .input(fromWire(NodePath))
      .output(toWire(schemas.nodeStatistics))
      .query(async ({ ctx, input }) => toStatistics(await readNodeStatistics(ctx.app, input.nodeUuid))),

    nodeUsage: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes/{node_uuid}/usage`, tags, summary: 'Usage of a node by day' },
        description:
          'Returns the usage of a node in a period by user and day, as the panel reports it. Without a period the last 7 days.',
        refuses: [...PANEL_READ_REFUSALS, dateRangeTooLong, invalidDateRange, nodeNotFound],
      })
      .input(fromWire(NodeUsageQuery))
      .output(schemas.nodeUsage)
      .query(async ({ ctx, input }) => ({
        items: (await readNodeUsage(ctx.app, input.nodeUuid, toUsageRange(input))).map(toUsageRow),
      })),
  };
}
