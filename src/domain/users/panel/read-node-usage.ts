import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { requireUser } from '../../identity/require-user.ts';
import type { PanelSquadNode, PanelUserTraffic } from '../../provisioning/panel-objects.ts';
import { isPanelError } from '../../provisioning/ports.ts';

/** Days shown, today included. */
export const USAGE_DAYS = 30;

export interface NodeUsage {
  /** `YYYY-MM-DD` in UTC. */
  days: string[];
  /** Most traffic first. */
  nodes: PanelUserTraffic['nodes'];
}

const NOTHING: NodeUsage = { days: [], nodes: [] };

/**
 * Traffic of 30 days by node: nodes that the user can reach, used or not, and any other that was used (spec 01 section 11.1).
 * Empty without a panel user or an answer of the panel.
 * @throws AppError 404 'User not found'
 */
export async function readNodeUsage(app: App, userId: number): Promise<NodeUsage> {
  const { vpnpanelUuid } = await requireUser(app, userId);
  if (vpnpanelUuid === null) return NOTHING;
  const now = app.clock.now();
  try {
    const [traffic, nodes] = await Promise.all([
      app.ports.panel.readUserTraffic(vpnpanelUuid, { from: addDays(now, 1 - USAGE_DAYS), to: now }),
      app.ports.panel.listUserNodes(vpnpanelUuid),
    ]);
    return traffic ? withReachable(traffic, nodes) : NOTHING;
  } catch (error) {
    if (!isPanelError(error)) throw error;
    app.log.info({ userId, kind: error.kind }, 'admin users: the panel gave no answer');
    return NOTHING;
  }
}

function withReachable(traffic: PanelUserTraffic, reachable: readonly PanelSquadNode[]): NodeUsage {
  const used = new Set(traffic.nodes.map((node) => node.uuid));
  const idle = reachable
    .filter((node) => !used.has(node.uuid))
    .map((node) => ({
      uuid: node.uuid,
      name: node.nodeName,
      countryCode: node.countryCode,
      totalBytes: 0,
      dailyBytes: traffic.days.map(() => 0),
    }));
  const nodes = [...traffic.nodes, ...idle].sort((a, b) => b.totalBytes - a.totalBytes || a.name.localeCompare(b.name, 'en'));
  return { days: traffic.days, nodes };
}
