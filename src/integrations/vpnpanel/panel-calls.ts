import { z } from 'zod';
import type { PanelUserBytes } from '../../domain/provisioning/panel-objects.ts';
import { isPanelError, type PanelGeneration, type VpnPanelPort } from '../../domain/provisioning/ports.ts';
import { isUuid, type PanelVersion, requireUuid, uuidFromPanelNumber } from './panel-generation.ts';
import { dayOf, mustBeFound, type PanelAnswer, type PanelCall, type PanelTransport, panelPath } from './panel-transport.ts';
import {
  fromWireExternalSquads,
  fromWireInbounds,
  fromWireInternalSquad,
  fromWireInternalSquads,
  fromWireNode,
  fromWireNodes,
  fromWireSquadNodes,
  fromWireStats,
  PANEL_ERROR_CODES,
} from './panel-wire.ts';
import {
  fromWireNodeDays,
  fromWireNodeMetrics,
  fromWireNodeUsage,
  fromWireNodeUsageDays,
  fromWireRealtime,
  fromWireTrafficPeriods,
} from './panel-wire-traffic.ts';
import { readPart } from './read-part.ts';

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
function absentNode(error: unknown): { found: false } {
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

type SquadCalls = Pick<
  VpnPanelPort,
  | 'listInternalSquads'
  | 'getInternalSquad'
  | 'createInternalSquad'
  | 'updateInternalSquad'
  | 'deleteInternalSquad'
  | 'listInternalSquadNodes'
  | 'addAllUsersToSquad'
  | 'removeAllUsersFromSquad'
  | 'listExternalSquads'
  | 'listInbounds'
>;

/** Squads and inbounds; the same calls in both generations of the panel. */
export function createSquadCalls(transport: PanelTransport): SquadCalls {
  const get = (path: string) => transport.call({ method: 'GET', path, idempotent: true });
  const squadPath = (uuid: string, ...rest: string[]) => panelPath('internal-squads', requireUuid(uuid), ...rest);
  const isDone = async (call: PanelCall) => (await transport.call(call)).found;
  return {
    listInternalSquads: async () => fromWireInternalSquads(mustBeFound(await get(panelPath('internal-squads')))),
    async getInternalSquad(uuid) {
      if (!isUuid(uuid)) return null;
      const answer = await get(squadPath(uuid));
      return answer.found ? fromWireInternalSquad(answer.value) : null;
    },
    async createInternalSquad({ name, inboundUuids }) {
      const body = { name, inbounds: inboundUuids };
      const answer = await transport.call({ method: 'POST', path: panelPath('internal-squads'), body, idempotent: false });
      return fromWireInternalSquad(mustBeFound(answer));
    },
    async updateInternalSquad({ uuid, name, inboundUuids }) {
      const body = {
        uuid: requireUuid(uuid),
        ...(name === undefined ? {} : { name }),
        ...(inboundUuids === undefined ? {} : { inbounds: inboundUuids }),
      };
      const answer = await transport.call({ method: 'PATCH', path: panelPath('internal-squads'), body, idempotent: true });
      return answer.found ? fromWireInternalSquad(answer.value) : null;
    },
    deleteInternalSquad: async (uuid) => isDone({ method: 'DELETE', path: squadPath(uuid), idempotent: true }),
    async listInternalSquadNodes(uuid) {
      const answer = await get(squadPath(uuid, 'accessible-nodes'));
      return answer.found ? fromWireSquadNodes(answer.value) : [];
    },
    addAllUsersToSquad: async (uuid) =>
      isDone({ method: 'POST', path: squadPath(uuid, 'bulk-actions', 'add-users'), idempotent: true }),
    removeAllUsersFromSquad: async (uuid) =>
      isDone({ method: 'DELETE', path: squadPath(uuid, 'bulk-actions', 'remove-users'), idempotent: true }),
    listExternalSquads: async () => fromWireExternalSquads(mustBeFound(await get(panelPath('external-squads')))),
    listInbounds: async () => fromWireInbounds(mustBeFound(await get(panelPath('config-profiles', 'inbounds')))),
  };
}

const bytes = z.coerce.number().nonnegative().catch(0);
/** The older generation: one row a user and day. */
const legacyRows = z.array(z.object({ userUuid: z.string().nullable().catch(null), total: bytes }));
/** The newer one: users of several nodes at once, by number. */
const usage = z.object({
  nodes: z.array(z.object({ uuid: z.string(), users: z.array(z.object({ id: z.int().positive(), totalBytes: bytes })) })),
});

/** Sums of whole bytes by user; without traffic or a uuid a row is left out. */
function summed(rows: Iterable<readonly [userUuid: string, totalBytes: number]>): PanelUserBytes[] {
  const sums = new Map<string, number>();
  for (const [name, totalBytes] of rows) {
    const userUuid = name.toLowerCase();
    if (isUuid(userUuid)) sums.set(userUuid, (sums.get(userUuid) ?? 0) + totalBytes);
  }
  return [...sums].flatMap(([userUuid, sum]) => {
    const totalBytes = Math.min(Math.round(sum), Number.MAX_SAFE_INTEGER);
    return totalBytes > 0 ? [{ userUuid, totalBytes }] : [];
  });
}

/** Traffic of each user through a node (spec 06 section 5); each generation of the panel has a call of its own. */
export function createUserBytesCalls(
  transport: PanelTransport,
  generation: () => Promise<PanelGeneration>,
): Pick<VpnPanelPort, 'listNodeUserBytes'> {
  return {
    async listNodeUserBytes(uuid, { from, to }) {
      const query = { start: dayOf(from), end: dayOf(to) };
      const node = requireUuid(uuid);
      if ((await generation()) === 'number') {
        const path = panelPath('bandwidth-stats', 'nodes', 'usage');
        const answer = await transport.call({ method: 'POST', path, query, body: { nodesUuids: [node] }, idempotent: true });
        const found = readPart(usage, mustBeFound(answer)).nodes.find((entry) => entry.uuid === node);
        return summed((found?.users ?? []).map((user) => [uuidFromPanelNumber(user.id), user.totalBytes]));
      }
      const path = panelPath('bandwidth-stats', 'nodes', node, 'users', 'legacy');
      const call: PanelCall = { method: 'GET', path, query, idempotent: true, isOfOneGeneration: true };
      const answer: PanelAnswer = await transport.call(call).catch(absentNode);
      if (!answer.found) return null;
      return summed(
        readPart(legacyRows, answer.value).flatMap(({ userUuid, total }) =>
          userUuid === null ? [] : [[userUuid, total] as const],
        ),
      );
    },
  };
}

const entry = z.object({ uuid: z.string(), name: z.string().catch(''), viewPosition: z.int().catch(0) });
const entryWithConfig = entry.extend({ config: z.record(z.string(), z.unknown()).nullable().catch(null) });

/** Configurations of the subscription page; the same calls in both generations of the panel (spec 06 section 9). */
export function createAppConfigCalls(transport: PanelTransport): Pick<VpnPanelPort, 'listAppConfigs' | 'getAppConfig'> {
  const get = (...segments: string[]) =>
    transport.call({ method: 'GET', path: panelPath('subscription-page-configs', ...segments), idempotent: true });
  return {
    listAppConfigs: async () => readPart(z.object({ configs: z.array(entry) }), mustBeFound(await get())).configs,
    async getAppConfig(uuid) {
      const answer = await get(requireUuid(uuid));
      return answer.found ? readPart(entryWithConfig, answer.value) : null;
    },
  };
}
