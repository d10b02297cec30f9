import { isPanelError, type VpnPanelPort } from '../../domain/provisioning/ports.ts';
import { isUuid, type PanelVersion, requireUuid } from './panel-generation.ts';
import { dayOf, mustBeFound, type PanelTransport, panelPath } from './panel-transport.ts';
import { fromWireNode, fromWireNodes, fromWireStats, PANEL_ERROR_CODES } from './panel-wire.ts';
import {
  fromWireNodeDays,
  fromWireNodeMetrics,
  fromWireNodeUsage,
  fromWireNodeUsageDays,
  fromWireRealtime,
  fromWireTrafficPeriods,
} from './panel-wire-traffic.ts';

type NodeCalls = Pick<
  VpnPanelPort,
  | 'listNodes'
  | 'getNode'
  | 'enableNode'
  | 'disableNode'
  | 'restartNode'
  | 'restartAllNodes'
  | 'listNodeTraffic'
  | 'listNodeUsage'
  | 'getSystemStats'
  | 'getTrafficPeriods'
  | 'listNodeDays'
>;

/** Version 2 fails for the usage of a node that it does not have (spec 10 V2). @throws the error when it is another one */
export function absentNode(error: unknown): { found: false } {
  if (isPanelError(error) && error.errorCode === PANEL_ERROR_CODES.nodeUsage) return { found: false };
  throw error;
}

/** Nodes and system; the same calls in all versions of the panel, except for traffic. */
export function createNodeCalls(transport: PanelTransport, version: () => Promise<PanelVersion>): NodeCalls {
  const get = (path: string) => transport.call({ method: 'GET', path, idempotent: true });
  const switchNode = async (uuid: string, action: 'enable' | 'disable') => {
    const path = panelPath('nodes', requireUuid(uuid), 'actions', action);
    const answer = await transport.call({ method: 'POST', path, idempotent: true });
    return answer.found ? fromWireNode(answer.value) : null;
  };
  return {
    listNodes: async () => fromWireNodes(mustBeFound(await get(panelPath('nodes')))),
    async getNode(uuid) {
      if (!isUuid(uuid)) return null;
      const answer = await get(panelPath('nodes', uuid));
      return answer.found ? fromWireNode(answer.value) : null;
    },
    enableNode: (uuid) => switchNode(uuid, 'enable'),
    disableNode: (uuid) => switchNode(uuid, 'disable'),
    async restartNode(uuid) {
      if (!isUuid(uuid)) return false;
      const path = panelPath('nodes', uuid, 'actions', 'restart');
      // Newer panels require the flag, older ones ignore a body here.
      return (await transport.call({ method: 'POST', path, body: { forceRestart: false }, idempotent: false })).found;
    },
    async restartAllNodes() {
      const path = panelPath('nodes', 'actions', 'restart-all');
      mustBeFound(await transport.call({ method: 'POST', path, body: { forceRestart: false }, idempotent: false }));
    },
    async listNodeTraffic() {
      if ((await version()).hasRealtime) {
        return fromWireRealtime(mustBeFound(await get(panelPath('bandwidth-stats', 'nodes', 'realtime'))));
      }
      return fromWireNodeMetrics(mustBeFound(await get(panelPath('system', 'nodes', 'metrics'))));
    },
    async listNodeUsage(uuid, { from, to }) {
      if (!isUuid(uuid)) return null;
      const query = { start: dayOf(from), end: dayOf(to) };
      const ofUsers = ['bandwidth-stats', 'nodes', uuid, 'users'];
      if ((await version()).generation === 'number') {
        const path = panelPath(...ofUsers);
        // Users are not needed, but the panel requires at least one.
        const answer = await transport.call({ method: 'GET', path, query: { ...query, topUsersLimit: 1 }, idempotent: true });
        return answer.found ? fromWireNodeUsageDays(answer.value, uuid) : null;
      }
      const answer = await transport
        .call({ method: 'GET', path: panelPath(...ofUsers, 'legacy'), query, idempotent: true, isOfOneGeneration: true })
        .catch(absentNode);
      return answer.found ? fromWireNodeUsage(answer.value) : null;
    },
    getSystemStats: async () => fromWireStats(mustBeFound(await get(panelPath('system', 'stats')))),
    getTrafficPeriods: async () => fromWireTrafficPeriods(mustBeFound(await get(panelPath('system', 'stats', 'bandwidth')))),
    listNodeDays: async () => fromWireNodeDays(mustBeFound(await get(panelPath('system', 'stats', 'nodes')))),
  };
}
