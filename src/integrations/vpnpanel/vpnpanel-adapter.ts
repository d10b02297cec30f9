import type { HttpClient } from '../../core/http/http-client.ts';
import type { Logger } from '../../core/log.ts';
import type { PanelUser, PanelUserPatch, VpnPanelPort } from '../../domain/provisioning/ports.ts';
import { isPanelError, type PanelError } from '../../domain/provisioning/ports.ts';
import { isPanelEmail } from '../../domain/provisioning/rules.ts';
import { createAppConfigCalls } from './panel-app-config-calls.ts';
import { connectionError, type PanelConnection, shownUrl } from './panel-connection.ts';
import { createVersionCache, panelNumberFromUuid, requireUuid } from './panel-generation.ts';
import { createNodeCalls } from './panel-node-calls.ts';
import { createSquadCalls } from './panel-squad-calls.ts';
import { createPanelTransport, dayOf, mustBeFound, type PanelAnswer, type PanelCall, panelPath } from './panel-transport.ts';
import { createUserBytesCalls } from './panel-user-bytes-calls.ts';
import { readPanelVersion } from './panel-version.ts';
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
  const version = createVersionCache(transport, deps.monotonicMs ?? (() => performance.now()));
  const generation = async () => (await version()).generation;

  /** Null: a panel of this generation cannot have such a user. */
  async function addressOf(uuid: string): Promise<UserAddress | null> {
    requireUuid(uuid);
    if ((await generation()) === 'uuid') return { segment: uuid, patch: { uuid }, device: { userUuid: uuid } };
    const id = panelNumberFromUuid(uuid);
    return id === null ? null : { segment: id, patch: { id }, device: { userId: id } };
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

  async function withCryptoLink(user: PanelUser): Promise<PanelUser> {
    if (user.cryptoLink !== null || user.subscriptionUrl === '') return user;
    return { ...user, cryptoLink: await encryptLink(user.subscriptionUrl) };
  }

  async function oneUser(answer: PanelAnswer): Promise<PanelUser | null> {
    return answer.found ? withCryptoLink(fromWireUser(answer.value)) : null;
  }

  async function bestUser(answer: PanelAnswer, matches: (user: PanelUser) => boolean): Promise<PanelUser | null> {
    if (!answer.found) return null;
    const [best] = fromWireUsers(answer.value).filter(matches).sort(byPreference);
    return best ? withCryptoLink(best) : null;
  }

  async function action(uuid: string, name: string, options: { body?: unknown; idempotent: boolean }): Promise<PanelUser | null> {
    const address = await addressOf(uuid);
    if (!address) return null;
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
    if (!address) return null;
    return oneUser(await transport.call({ method: 'GET', path: panelPath('users', address.segment), idempotent: true }));
  }

  async function listDevices(userUuid: string) {
    const address = await addressOf(userUuid);
    if (!address) return [];
    const path = panelPath('hwid', 'devices', address.segment);
    const answer = await transport.call({ method: 'GET', path, idempotent: true });
    return answer.found ? fromWireDevices(answer.value).devices : [];
  }

  async function deleteDevice(userUuid: string, hwid: string): Promise<void> {
    const address = await addressOf(userUuid);
    if (!address) return;
    const path = panelPath('hwid', 'devices', 'delete');
    await transport.call({ method: 'POST', path, body: { ...address.device, hwid }, idempotent: true });
  }

  async function lookUp(byPath: [string, string | number], filter: Record<string, string | number>): Promise<PanelAnswer> {
    if ((await generation()) === 'uuid') {
      return transport.call({ method: 'GET', path: panelPath('users', ...byPath), idempotent: true });
    }
    return transport.call({
      method: 'GET',
      path: panelPath('users', 'stream'),
      query: { ...filter, size: 100 },
      idempotent: true,
    });
  }

  return {
    configurationError: () => connectionError(deps.connection()),
    apiUrl: () => shownUrl(deps.connection()),
    async ping() {
      await transport.call({ method: 'GET', path: panelPath('system', 'stats'), idempotent: true }).then(mustBeFound);
    },
    readVersion: () => readPanelVersion(transport),
    findByUuid,
    async findByMessengerId(messengerId) {
      const answer = await lookUp(['by-telegram-id', messengerId], { telegramId: messengerId });
      return bestUser(answer, (user) => user.messengerId === messengerId);
    },
    async findByEmail(email) {
      // The panel refuses to look up such an address, and no user can have it there.
      if (!isPanelEmail(email)) return null;
      const answer = await lookUp(['by-email', email], { email });
      return bestUser(answer, (user) => user.email?.toLowerCase() === email.toLowerCase());
    },
    async findByUsername(username) {
      const path = panelPath('users', 'by-username', username);
      return oneUser(await transport.call({ method: 'GET', path, idempotent: true }));
    },
    async createUser(draft) {
      const body = toWireCreate(draft);
      const answer = await transport.call({ method: 'POST', path: panelPath('users'), body, idempotent: false });
      return withCryptoLink(fromWireUser(mustBeFound(answer)));
    },
    async updateUser(patch: PanelUserPatch) {
      const address = await addressOf(patch.uuid);
      if (!address) return null;
      const body = toWirePatch(patch, address.patch);
      // With an external squad a 5xx can mean a stale squad, which callers leave out (08 P3), so the call is not retried here.
      const idempotent = !('externalSquadUuid' in body);
      return oneUser(await transport.call({ method: 'PATCH', path: panelPath('users'), body, idempotent }));
    },
    async deleteUser(uuid) {
      const address = await addressOf(uuid);
      if (!address) return false;
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
      const addresses = await Promise.all(uuids.map(addressOf));
      const known = addresses.filter((address) => address !== null);
      if (known.length === 0) return 0;
      const names =
        (await generation()) === 'uuid'
          ? { uuids: known.map((address) => address.segment) }
          : { userIds: known.map((address) => address.segment) };
      const body = { ...names, activeInternalSquads: squadUuids };
      const path = panelPath('users', 'bulk', 'update-squads');
      const answer = mustBeFound(await transport.call({ method: 'POST', path, body, idempotent: true }));
      // Users of another generation cannot exist there; the count makes the caller check each.
      return known.length < uuids.length ? known.length : fromWireAffected(answer);
    },
    async listUsers({ start, size }) {
      const call: PanelCall = { method: 'GET', path: panelPath('users'), query: { start, size }, idempotent: true };
      return fromWireUserPage(mustBeFound(await transport.call(call)));
    },
    async listUserNodes(uuid) {
      const address = await addressOf(uuid);
      if (!address) return [];
      const path = panelPath('users', address.segment, 'accessible-nodes');
      const answer = await transport.call({ method: 'GET', path, idempotent: true });
      return answer.found ? fromWireSquadNodes(answer.value) : [];
    },
    async readUserTraffic(uuid, { from, to }) {
      const address = await addressOf(uuid);
      if (!address) return null;
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
    encryptLink,
    ...createSquadCalls(transport),
    ...createNodeCalls(transport, version),
    ...createAppConfigCalls(transport),
    ...createUserBytesCalls(transport, generation),
  };
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
