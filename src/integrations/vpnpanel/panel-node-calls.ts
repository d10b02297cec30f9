import type { VpnPanelPort } from '../../domain/provisioning/ports.ts';
import { requireUuid } from './panel-generation.ts';
import { mustBeFound, type PanelTransport, panelPath } from './panel-transport.ts';
import { fromWireNode, fromWireNodes, fromWireStats } from './panel-wire.ts';

type NodeCalls = Pick<
  VpnPanelPort,
  'listNodes' | 'getNode' | 'enableNode' | 'disableNode' | 'restartNode' | 'restartAllNodes' | 'getSystemStats'
>;

/** Nodes and system; the same calls in both generations of the panel. */
export function createNodeCalls(transport: PanelTransport): NodeCalls {
  const get = (path: string) => transport.call({ method: 'GET', path, idempotent: true });
  const switchNode = async (uuid: string, action: 'enable' | 'disable') => {
    const path = panelPath('nodes', requireUuid(uuid), 'actions', action);
    const answer = await transport.call({ method: 'POST', path, idempotent: true });
    return answer.found ? fromWireNode(answer.value) : null;
  };
  return {
    listNodes: async () => fromWireNodes(mustBeFound(await get(panelPath('nodes')))),
    async getNode(uuid) {
      const answer = await get(panelPath('nodes', requireUuid(uuid)));
      return answer.found ? fromWireNode(answer.value) : null;
    },
    enableNode: (uuid) => switchNode(uuid, 'enable'),
    disableNode: (uuid) => switchNode(uuid, 'disable'),
    async restartNode(uuid) {
      const path = panelPath('nodes', requireUuid(uuid), 'actions', 'restart');
      // Newer panels want the flag, older ones ignore a body here.
      return (await transport.call({ method: 'POST', path, body: { forceRestart: false }, idempotent: false })).found;
    },
    async restartAllNodes() {
      const path = panelPath('nodes', 'actions', 'restart-all');
      mustBeFound(await transport.call({ method: 'POST', path, body: { forceRestart: false }, idempotent: false }));
    },
    getSystemStats: async () => fromWireStats(mustBeFound(await get(panelPath('system', 'stats')))),
  };
}
