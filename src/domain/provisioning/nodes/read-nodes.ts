import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { readOfPanel } from '../panel-access.ts';
import type { PanelNode } from '../panel-objects.ts';

export const nodeNotFound = refusal('node_not_found', 404, 'Node not found');

/** Every node in the panel's order. @throws AppError 503 not configured, 502 the panel gives no answer (08 P10) */
export function listNodes(app: App): Promise<PanelNode[]> {
  return readOfPanel(app, () => app.ports.panel.listNodes());
}

export interface NodesOverview {
  total: number;
  online: number;
  offline: number;
  disabled: number;
  usersOnline: number;
  nodes: PanelNode[];
}

/** Counts over all nodes: one that is disabled is neither online nor offline (spec 06 section 4.4). */
export function countNodes(nodes: PanelNode[]): NodesOverview {
  const disabled = nodes.filter((node) => node.isDisabled).length;
  const online = nodes.filter((node) => node.isConnected && !node.isDisabled).length;
  const usersOnline = nodes.reduce((sum, node) => sum + node.usersOnline, 0);
  return { total: nodes.length, online, offline: nodes.length - online - disabled, disabled, usersOnline, nodes };
}

/** @throws AppError 503 not configured, 502 the panel gives no answer */
export async function nodesOverview(app: App): Promise<NodesOverview> {
  return countNodes(await listNodes(app));
}

/** @throws AppError 503 not configured, 404 'Node not found', 502 the panel gives no answer */
export async function readNode(app: App, uuid: string): Promise<PanelNode> {
  const node = await readOfPanel(app, () => app.ports.panel.getNode(uuid));
  if (!node) throw nodeNotFound();
  return node;
}

/** Current traffic of the nodes, the panel's objects as they came; bytes. @throws AppError 503 not configured, 502 */
export async function nodesRealtime(app: App): Promise<Record<string, unknown>[]> {
  const nodes = await readOfPanel(app, () => app.ports.panel.listNodeTraffic());
  return nodes.map((node) => node.raw);
}
