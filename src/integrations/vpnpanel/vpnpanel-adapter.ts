import type { HttpClient } from '../../core/http/http-client.ts';
import type { Logger } from '../../core/log.ts';
import type { PanelUser, PanelUserPatch, VpnPanelPort } from '../../domain/provisioning/ports.ts';
import { isPanelError, PanelError } from '../../domain/provisioning/ports.ts';
import { isPanelEmail } from '../../domain/provisioning/rules.ts';
import { createAppConfigCalls, createNodeCalls, createSquadCalls, createUserBytesCalls } from './panel-calls.ts';
import { connectionError, type PanelConnection, shownUrl } from './panel-connection.ts';
import {
  confirmedByVersion,
  createPanelVersions,
  panelNumberFromUuid,
  readPanelVersion,
  requireUuid,
} from './panel-generation.ts';
import {
  createPanelTransport,
  dayOf,
  markDoubtful,
  mustBeFound,
  operation,
  type PanelAnswer,
  type PanelCall,
  panelPath,
} from './panel-transport.ts';
import {
  fromWireAffected,
  fromWireDevices,
  fromWireEncryptedLink,
  fromWireSquadNodes,
  fromWireSubscriptionInfo,
  fromWireUser,
  fromWireUserPage,
  fromWireUsers,
  PANEL_ERROR_CODES,
  toWireCreate,
  toWirePatch,
} from './panel-wire.ts';
import { fromWireUserTraffic } from './panel-wire-traffic.ts';

export interface VpnPanelAdapterDeps {
  http: HttpClient;
  /** The current connection settings; called for every request. */
  connection: () => PanelConnection;
  log?: Pick<Logger, 'warn' | 'error'>;
  /** A clock for cache ages only. Default: the process's monotonic clock. */
  monotonicMs?: () => number;
}

/** How a user is addressed in a path and in a body. */
interface UserAddress {
  segment: string | number;
  patch: Record<string, string | number>;
  device: Record<string, string | number>;
}

/** The panel's REST client (spec 06 section 9). Retries, 429 and time-outs are the HTTP client's. */
export function createVpnPanelAdapter(deps: VpnPanelAdapterDeps): VpnPanelPort {
  const transport = createPanelTransport(deps);
  const versions = createPanelVersions(transport, deps.monotonicMs ?? (() => performance.now()));
  const generation = async () => (await versions.current()).generation;

  /** @throws PanelError `isOtherGeneration` for a handle that a panel of this generation cannot have given */
  async function addressOf(uuid: string): Promise<UserAddress> {
    requireUuid(uuid);
    const id = panelNumberFromUuid(uuid);
    const isByUuid = (await generation()) === 'uuid';
    if (isByUuid && id === null) return { segment: uuid, patch: { uuid }, device: { userUuid: uuid } };
    if (!isByUuid && id !== null) return { segment: id, patch: { id }, device: { userId: id } };
    markDoubtful();
    throw new PanelError('unavailable', 'VPN panel was replaced by another version; this user is linked again soon', {
      isOtherGeneration: true,
    });
  }

  async function encryptLink(link: string): Promise<string | null> {
    try {
      if ((await generation()) !== 'uuid') return null;
      const path = panelPath('system', 'tools', 'happ', 'encrypt');
      const answer = await transport.call({ method: 'POST', path, body: { linkToEncrypt: link }, idempotent: true });
      return answer.found ? fromWireEncryptedLink(answer.value) : null;
    } catch (error) {
      if (!isPanelError(error)) throw error;
      deps.log?.warn({ kind: error.kind, status: error.status }, 'vpnpanel: link was not encrypted');
      return null;
    }
  }

  function oneUser(answer: PanelAnswer): PanelUser | null {
    return answer.found ? fromWireUser(answer.value) : null;
  }

  const usersOf = (answer: PanelAnswer, matches: (user: PanelUser) => boolean): PanelUser[] =>
    answer.found ? fromWireUsers(answer.value).filter(matches).sort(byPreference) : [];

  async function listByMessengerId(messengerId: number): Promise<PanelUser[]> {
    const answer = await lookUp(['by-telegram-id', messengerId], { telegramId: messengerId });
    return usersOf(answer, (user) => user.messengerId === messengerId);
  }

  async function listByEmail(email: string): Promise<PanelUser[]> {
    // The panel refuses to look up such an address, and no user can have it there.
    if (!isPanelEmail(email)) return [];
    const answer = await lookUp(['by-email', email], { email });
    return usersOf(answer, (user) => user.email?.toLowerCase() === email.toLowerCase());
  }

  async function action(uuid: string, name: string, options: { body?: unknown; idempotent: boolean }): Promise<PanelUser | null> {
    const address = await addressOf(uuid);
    const path = panelPath('users', address.segment, 'actions', name);
    return oneUser(await transport.call({ method: 'POST', path, ...options }));
  }

  async function switchUser(uuid: string, name: 'enable' | 'disable'): Promise<PanelUser | null> {
    try {
      return await action(uuid, name, { idempotent: true });
    } catch (error) {
      if (isPanelError(error) && isAlreadyThere(error)) return findByUuid(uuid);
      throw error;
    }
  }

  async function findByUuid(uuid: string): Promise<PanelUser | null> {
    const address = await addressOf(uuid);
    return oneUser(await transport.call({ method: 'GET', path: panelPath('users', address.segment), idempotent: true }));
  }

  async function listDevices(userUuid: string) {
    const address = await addressOf(userUuid);
    const path = panelPath('hwid', 'devices', address.segment);
    const answer = await transport.call({ method: 'GET', path, idempotent: true });
    return answer.found ? fromWireDevices(answer.value).devices : [];
  }

  async function deleteDevice(userUuid: string, hwid: string): Promise<void> {
    const address = await addressOf(userUuid);
    const path = panelPath('hwid', 'devices', 'delete');
    await transport.call({ method: 'POST', path, body: { ...address.device, hwid }, idempotent: true });
  }

  async function lookUp(byPath: [string, string | number], filter: Record<string, string | number>): Promise<PanelAnswer> {
    if ((await generation()) === 'uuid') {
      const path = panelPath('users', ...byPath);
      return transport.call({ method: 'GET', path, idempotent: true, isOfOneGeneration: true });
    }
    return transport.call({
      method: 'GET',
      path: panelPath('users', 'stream'),
      query: { ...filter, size: 100 },
      idempotent: true,
    });
  }

  const operations = {
    async ping() {
      await transport.call({ method: 'GET', path: panelPath('system', 'stats'), idempotent: true }).then(mustBeFound);
    },
    readVersion: () => readPanelVersion(transport),
    readGeneration: async () => (await versions.ask()).generation,
    findByUuid,
    async findByShortUuid(shortUuid) {
      const path = panelPath('users', 'by-short-uuid', shortUuid);
      return oneUser(await transport.call({ method: 'GET', path, idempotent: true }));
    },
    findByMessengerId: async (messengerId) => (await listByMessengerId(messengerId))[0] ?? null,
    findByEmail: async (email) => (await listByEmail(email))[0] ?? null,
    listByMessengerId,
    listByEmail,
    async findByUsername(username) {
      const path = panelPath('users', 'by-username', username);
      return oneUser(await transport.call({ method: 'GET', path, idempotent: true }));
    },
    async createUser(draft) {
      const body = toWireCreate(draft);
      const answer = await transport.call({ method: 'POST', path: panelPath('users'), body, idempotent: false });
      return fromWireUser(mustBeFound(answer));
    },
    async updateUser(patch: PanelUserPatch) {
      const address = await addressOf(patch.uuid);
      const body = toWirePatch(patch, address.patch);
      // With an external squad a 5xx can mean a stale squad, which callers leave out (08 P3), so the call is not retried here.
      const idempotent = !('externalSquadUuid' in body);
      return oneUser(await transport.call({ method: 'PATCH', path: panelPath('users'), body, idempotent }));
    },
    async deleteUser(uuid) {
      const address = await addressOf(uuid);
      return (await transport.call({ method: 'DELETE', path: panelPath('users', address.segment), idempotent: true })).found;
    },
    enableUser: (uuid) => switchUser(uuid, 'enable'),
    disableUser: (uuid) => switchUser(uuid, 'disable'),
    resetTraffic: (uuid) => action(uuid, 'reset-traffic', { idempotent: true }),
    revokeUser(uuid, options = {}) {
      const body = {
        ...(options.onlyPasswords === undefined ? {} : { revokeOnlyPasswords: options.onlyPasswords }),
        ...(options.shortUuid === undefined ? {} : { shortUuid: options.shortUuid }),
      };
      return action(uuid, 'revoke', { body, idempotent: false });
    },
    async setSquadsOfUsers(uuids, squadUuids) {
      const addresses = await Promise.all(uuids.map((uuid) => addressOf(uuid).catch(noneOfOtherGeneration)));
      const segments = addresses.filter((address) => address !== null).map((address) => address.segment);
      if (segments.length === 0) return 0;
      const names = (await generation()) === 'uuid' ? { uuids: segments } : { userIds: segments };
      const body = { ...names, activeInternalSquads: squadUuids };
      const path = panelPath('users', 'bulk', 'update-squads');
      const answer = mustBeFound(await transport.call({ method: 'POST', path, body, idempotent: true }));
      // The count makes the caller check each.
      return segments.length < uuids.length ? segments.length : fromWireAffected(answer);
    },
    async listUsers({ start, size }) {
      const call: PanelCall = { method: 'GET', path: panelPath('users'), query: { start, size }, idempotent: true };
      return fromWireUserPage(mustBeFound(await transport.call(call)));
    },
    async listUserNodes(uuid) {
      const address = await addressOf(uuid);
      const path = panelPath('users', address.segment, 'accessible-nodes');
      const answer = await transport.call({ method: 'GET', path, idempotent: true });
      return answer.found ? fromWireSquadNodes(answer.value) : [];
    },
    async readUserTraffic(uuid, { from, to }) {
      const address = await addressOf(uuid);
      const path = panelPath('bandwidth-stats', 'users', address.segment);
      const query = { start: dayOf(from), end: dayOf(to) };
      const answer = await transport.call({ method: 'GET', path, query, idempotent: true });
      return answer.found ? fromWireUserTraffic(answer.value) : null;
    },
    async getSubscriptionInfo(shortUuid) {
      const answer = await transport.call({ method: 'GET', path: panelPath('sub', shortUuid, 'info'), idempotent: true });
      return answer.found ? fromWireSubscriptionInfo(answer.value) : null;
    },
    listDevices,
    async listAllDevices({ start, size }) {
      const call: PanelCall = { method: 'GET', path: panelPath('hwid', 'devices'), query: { start, size }, idempotent: true };
      return fromWireDevices(mustBeFound(await transport.call(call)));
    },
    deleteDevice,
    async resetDevices(userUuid) {
      const devices = await listDevices(userUuid);
      let failed = 0;
      let lastError: unknown;
      for (const device of devices) {
        try {
          await deleteDevice(userUuid, device.hwid);
        } catch (error) {
          if (!isPanelError(error)) throw error;
          failed += 1;
          lastError = error;
        }
      }
      if (failed > 0 && failed * 2 >= devices.length) throw lastError;
      return { deleted: devices.length - failed, failed };
    },
    // An operation of its own: that a panel cannot encrypt links puts no doubt on what else it has answered.
    encryptLink: (link: string) => operation.run({ version: null, isDoubtful: false }, () => encryptLink(link)),
    ...createSquadCalls(transport),
    ...createNodeCalls(transport, versions.current),
    ...createAppConfigCalls(transport),
    ...createUserBytesCalls(transport, generation),
  } satisfies Omit<VpnPanelPort, 'configurationError' | 'apiUrl' | 'forgetVersion'>;
  const confirmed = Object.entries(operations).map(([name, run]) => [
    name,
    confirmedByVersion(versions, run as (...args: unknown[]) => Promise<unknown>),
  ]);
  return {
    configurationError: () => connectionError(deps.connection()),
    apiUrl: () => shownUrl(deps.connection()),
    forgetVersion: () => versions.forget(),
    ...(Object.fromEntries(confirmed) as typeof operations),
  };
}

function noneOfOtherGeneration(error: unknown): null {
  if (isPanelError(error) && error.isOtherGeneration) return null;
  throw error;
}

function isAlreadyThere(error: PanelError): boolean {
  const { userAlreadyDisabled, userAlreadyEnabled } = PANEL_ERROR_CODES;
  if (error.errorCode === userAlreadyDisabled || error.errorCode === userAlreadyEnabled) return true;
  return error.status === 400 && /already (enabled|disabled)/i.test(error.message);
}

/** Latest `expireAt` first, then `ACTIVE` (spec 06 section 10, deduplication). */
function byPreference(a: PanelUser, b: PanelUser): number {
  const byEnd = b.expireAt.getTime() - a.expireAt.getTime();
  return byEnd !== 0 ? byEnd : Number(b.status === 'ACTIVE') - Number(a.status === 'ACTIVE');
}
