import type { VpnPanelPort } from '../../domain/provisioning/ports.ts';
import { isUuid, requireUuid } from './panel-generation.ts';
import { mustBeFound, type PanelCall, type PanelTransport, panelPath } from './panel-transport.ts';
import {
  fromWireExternalSquads,
  fromWireInbounds,
  fromWireInternalSquad,
  fromWireInternalSquads,
  fromWireSquadNodes,
} from './panel-wire.ts';

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
