import { CONFIG_PROFILE_UUID, type Generation, type StoredDevice, type StoredNode, type StoredUser } from './panel-data.ts';
import type { PanelState } from './panel-state.ts';
import { linksOf } from './subscription-links.ts';
import { currentStatus } from './user-rules.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** What an answer depends on besides the stored rows. */
export interface AnswerContext {
  state: PanelState;
  generation: Generation;
  /** Own address, without a trailing slash. */
  baseUrl: string;
}

const PANEL_START_AT = '2025-01-01T00:00:00.000Z';

export function subscriptionUrlOf(context: AnswerContext, user: StoredUser): string {
  return `${context.baseUrl}/sub/${user.shortUuid}`;
}

export function userAnswer(context: AnswerContext, user: StoredUser) {
  const {
    uuid,
    usedTrafficBytes,
    lifetimeUsedTrafficBytes,
    onlineAt,
    firstConnectedAt,
    squadUuids,
    devices: _devices,
    ...rest
  } = user;
  const squads = context.state.meta.internalSquads.filter((squad) => squadUuids.includes(squad.uuid));
  return {
    ...(context.generation === 'uuid' ? { uuid } : {}),
    ...rest,
    status: currentStatus(user, context.state.clock.now()),
    lastTriggeredThreshold: 0,
    subscriptionUrl: subscriptionUrlOf(context, user),
    activeInternalSquads: squads.map(({ uuid: squadUuid, name }) => ({ uuid: squadUuid, name })),
    userTraffic: { usedTrafficBytes, lifetimeUsedTrafficBytes, onlineAt, firstConnectedAt, lastConnectedNodeUuid: null },
  };
}

export function deviceAnswer(context: AnswerContext, user: StoredUser, device: StoredDevice) {
  return { ...(context.generation === 'uuid' ? { userUuid: user.uuid } : {}), userId: user.id, ...device };
}

export function devicesAnswer(context: AnswerContext, user: StoredUser) {
  return { total: user.devices.length, devices: user.devices.map((device) => deviceAnswer(context, user, device)) };
}

export function inboundAnswer(state: PanelState, uuid: string) {
  const inbound = state.meta.inbounds.find((candidate) => candidate.uuid === uuid);
  return {
    uuid,
    profileUuid: CONFIG_PROFILE_UUID,
    tag: inbound?.tag ?? 'UNKNOWN',
    type: 'vless',
    network: 'raw',
    security: 'reality',
    port: inbound?.port ?? null,
    rawInbound: null,
  };
}

export function internalSquadsAnswer(state: PanelState) {
  const members = new Map<string, number>();
  for (const user of state.users()) {
    for (const uuid of user.squadUuids) members.set(uuid, (members.get(uuid) ?? 0) + 1);
  }
  return state.meta.internalSquads.map((squad) => ({
    uuid: squad.uuid,
    viewPosition: squad.viewPosition,
    name: squad.name,
    tags: [],
    info: { membersCount: members.get(squad.uuid) ?? 0, inboundsCount: squad.inboundUuids.length },
    inbounds: squad.inboundUuids.map((uuid) => inboundAnswer(state, uuid)),
    createdAt: PANEL_START_AT,
    updatedAt: PANEL_START_AT,
  }));
}

export function externalSquadsAnswer(state: PanelState) {
  const members = new Map<string, number>();
  for (const { externalSquadUuid } of state.users()) {
    if (externalSquadUuid !== null) members.set(externalSquadUuid, (members.get(externalSquadUuid) ?? 0) + 1);
  }
  return state.meta.externalSquads.map((squad) => ({
    uuid: squad.uuid,
    viewPosition: squad.viewPosition,
    name: squad.name,
    tags: [],
    info: { membersCount: members.get(squad.uuid) ?? 0 },
    templates: [],
    subscriptionSettings: null,
    hostOverrides: null,
    // The first name is version 2's, the other two replace it in version 3.
    responseHeaders: null,
    responseHeadersAdd: {},
    responseHeadersRemove: [],
    hwidSettings: null,
    customRemarks: null,
    subpageConfigUuid: null,
    createdAt: PANEL_START_AT,
    updatedAt: PANEL_START_AT,
  }));
}

export function nodeAnswer(state: PanelState, node: StoredNode) {
  return {
    uuid: node.uuid,
    id: node.id,
    name: node.name,
    address: node.address,
    port: 2222,
    proxyUrl: null,
    isConnected: !node.isDisabled,
    isDisabled: node.isDisabled,
    isConnecting: false,
    lastStatusChange: node.changedAt,
    lastStatusMessage: null,
    isTrafficTrackingActive: false,
    trafficResetDay: 1,
    trafficLimitBytes: 0,
    trafficUsedBytes: 0,
    notifyPercent: 0,
    viewPosition: node.id,
    countryCode: node.countryCode,
    consumptionMultiplier: 1,
    nodeConsumptionMultiplier: 1,
    tags: [],
    integrationUuids: [],
    ips: [],
    createdAt: PANEL_START_AT,
    updatedAt: PANEL_START_AT,
    configProfile: { activeConfigProfileUuid: CONFIG_PROFILE_UUID, activeInbounds: [inboundAnswer(state, node.inboundUuid)] },
    providerUuid: null,
    provider: null,
    activePluginUuid: null,
    system: {
      info: {
        arch: 'x64',
        cpus: 2,
        cpuModel: 'Sandbox CPU',
        memoryTotal: 2 * 1024 ** 3,
        hostname: node.name.toLowerCase().replaceAll(' ', '-'),
        platform: 'linux',
        release: '6.1',
        type: 'Linux',
        version: 'sandbox',
        networkInterfaces: ['eth0'],
      },
      stats: { memoryFree: 1024 ** 3, memoryUsed: 1024 ** 3, uptime: 0, loadAvg: [0, 0, 0], interface: null },
    },
    versions: node.isDisabled ? null : { xray: '25.1.1', node: '2.7.0' },
    xrayUptime: node.isDisabled ? 0 : Math.max(0, uptimeSeconds(state)),
    usersOnline: usersOnlineAt(state, node),
    note: null,
  };
}

/** Nodes that a set of squads gives access to, with the squads' names for the user's variant of the call. */
export function accessibleNodes(state: PanelState, squadUuids: readonly string[]) {
  const squads = state.meta.internalSquads.filter((squad) => squadUuids.includes(squad.uuid));
  return state.meta.nodes
    .map((node) => ({ node, opened: squads.filter((squad) => squad.inboundUuids.includes(node.inboundUuid)) }))
    .filter(({ opened }) => opened.length > 0)
    .map(({ node, opened }) => {
      const { tag } = inboundAnswer(state, node.inboundUuid);
      return {
        uuid: node.uuid,
        nodeName: node.name,
        countryCode: node.countryCode,
        configProfileUuid: CONFIG_PROFILE_UUID,
        configProfileName: 'Sandbox',
        activeInbounds: [tag],
        activeSquads: opened.map((squad) => ({ squadName: squad.name, activeInbounds: [tag] })),
      };
    });
}

/** Seen within a minute. */
export function isOnline(user: StoredUser, now: Date): boolean {
  return user.onlineAt !== null && now.getTime() - Date.parse(user.onlineAt) <= MINUTE_MS;
}

/** A user is connected to the first node of the squads. */
function usersOnlineAt(state: PanelState, node: StoredNode): number {
  const now = state.clock.now();
  const online = [...state.users()].filter((user) => isOnline(user, now));
  return online.filter((user) => accessibleNodes(state, user.squadUuids)[0]?.uuid === node.uuid).length;
}

function uptimeSeconds(state: PanelState): number {
  return Math.floor((state.clock.now().getTime() - Date.parse(state.meta.startedAt)) / 1000);
}

export function statsAnswer(state: PanelState) {
  const now = state.clock.now();
  const statusCounts = { ACTIVE: 0, DISABLED: 0, LIMITED: 0, EXPIRED: 0 };
  const onlineStats = { lastDay: 0, lastWeek: 0, neverOnline: 0, onlineNow: 0 };
  let totalBytes = 0;
  for (const user of state.users()) {
    statusCounts[currentStatus(user, now)] += 1;
    totalBytes += user.lifetimeUsedTrafficBytes;
    if (user.onlineAt === null) onlineStats.neverOnline += 1;
    else {
      const ageMs = now.getTime() - Date.parse(user.onlineAt);
      if (isOnline(user, now)) onlineStats.onlineNow += 1;
      if (ageMs <= DAY_MS) onlineStats.lastDay += 1;
      if (ageMs <= 7 * DAY_MS) onlineStats.lastWeek += 1;
    }
  }
  return {
    cpu: { cores: 2 },
    memory: { total: 2 * 1024 ** 3, free: 1024 ** 3, used: 1024 ** 3 },
    uptime: Math.max(0, uptimeSeconds(state)),
    timestamp: now.getTime(),
    users: { statusCounts, totalUsers: state.userCount() },
    onlineStats,
    nodes: { totalOnline: state.meta.nodes.filter((node) => !node.isDisabled).length, totalBytesLifetime: String(totalBytes) },
  };
}

/** Version 2 or 3 by the generation; the service chooses from it how to address users. */
export function metadataAnswer(generation: Generation) {
  return {
    version: generation === 'uuid' ? '2.7.4' : '3.4.15',
    build: { time: PANEL_START_AT, number: '0' },
    git: {
      backend: { commitSha: 'sandbox', branch: 'sandbox', commitUrl: '' },
      frontend: { commitSha: 'sandbox', commitUrl: '' },
    },
  };
}

export function subscriptionInfoAnswer(context: AnswerContext, user: StoredUser) {
  const now = context.state.clock.now();
  const status = currentStatus(user, now);
  return {
    isFound: true,
    user: {
      shortUuid: user.shortUuid,
      daysLeft: Math.max(0, Math.floor((Date.parse(user.expireAt) - now.getTime()) / DAY_MS)),
      trafficUsed: sizeText(user.usedTrafficBytes),
      trafficLimit: sizeText(user.trafficLimitBytes),
      lifetimeTrafficUsed: sizeText(user.lifetimeUsedTrafficBytes),
      trafficUsedBytes: String(user.usedTrafficBytes),
      trafficLimitBytes: String(user.trafficLimitBytes),
      lifetimeTrafficUsedBytes: String(user.lifetimeUsedTrafficBytes),
      username: user.username,
      expiresAt: user.expireAt,
      isActive: status === 'ACTIVE',
      userStatus: status,
      trafficLimitStrategy: user.trafficLimitStrategy,
    },
    links: linksOf(context.state, user),
    ssConfLinks: {},
    subscriptionUrl: subscriptionUrlOf(context, user),
  };
}

/** A size in the panel's notation. */
export function sizeText(bytes: number): string {
  return bytes >= 1024 ** 3 ? `${(bytes / 1024 ** 3).toFixed(2)} GiB` : `${(bytes / 1024 ** 2).toFixed(2)} MiB`;
}
