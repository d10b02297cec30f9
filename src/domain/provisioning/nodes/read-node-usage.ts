import type { App } from '../../../core/app.ts';
import { readOfPanel, readPartOfPanel } from '../panel-access.ts';
import type { PanelNode, PanelNodeUsage } from '../panel-objects.ts';
import { nodeNotFound, readNode } from './read-nodes.ts';
import { usageRange } from './rules.ts';

/** Rows of users and days. @throws AppError 503, 502, 404 'Node not found' */
async function usageOf(app: App, uuid: string, range: { from: Date; to: Date }): Promise<PanelNodeUsage[]> {
  const rows = await readOfPanel(app, () => app.ports.panel.listNodeUsage(uuid, range));
  if (rows === null) throw nodeNotFound();
  return rows;
}

/**
 * Usage of a node by user and day, bytes; without bounds the last 7 days until now (spec 06 section 11).
 * @throws AppError 503 not configured, 400 'Invalid date range', 400 'Date range cannot exceed 730 days', 404 'Node not found',
 *   502 the panel gives no answer
 */
export async function readNodeUsage(
  app: App,
  uuid: string,
  wanted: { from: Date | null; to: Date | null },
): Promise<PanelNodeUsage[]> {
  return usageOf(app, uuid, usageRange(wanted, app.clock.now()));
}

export interface NodeStatistics {
  node: PanelNode;
  /** The panel's object; null when the node has no traffic, or the panel has no such counters. */
  realtime: Record<string, unknown> | null;
  /** The last 7 days. */
  usage: PanelNodeUsage[];
  at: Date;
}

/**
 * A node with its current traffic and that of the last 7 days.
 * @throws AppError 503 not configured, 404 'Node not found', 502 the panel gives no answer
 */
export async function readNodeStatistics(app: App, uuid: string): Promise<NodeStatistics> {
  const now = app.clock.now();
  const node = await readNode(app, uuid);
  const [traffic, usage] = await Promise.all([
    readPartOfPanel(app, 'node traffic', () => app.ports.panel.listNodeTraffic()),
    usageOf(app, uuid, usageRange({ from: null, to: null }, now)),
  ]);
  const realtime = traffic?.find((entry) => entry.nodeUuid === node.uuid)?.raw ?? null;
  return { node, realtime, usage, at: now };
}
