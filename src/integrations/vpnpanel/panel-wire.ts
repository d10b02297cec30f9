/**
 * The only place with the panel's own field names: neutral port types to request bodies and back. Answers are read leniently,
 * because two generations and many minor versions are in use and a new or missing secondary field must not make every call fail.
 * The bodies are held against the panel's package in `tests/unit/vpnpanel/conformity.test.ts`; it is not imported here, because its
 * licence (AGPL) would extend to the service.
 */
import { z } from 'zod';
import type {
  PanelDevice,
  PanelExternalSquad,
  PanelInbound,
  PanelInternalSquad,
  PanelNode,
  PanelSquadNode,
  PanelSubscriptionInfo,
  PanelSystemStats,
} from '../../domain/provisioning/panel-objects.ts';
import type {
  PanelUser,
  PanelUserDraft,
  PanelUserFields,
  PanelUserPatch,
  PanelUserStatus,
  TrafficResetStrategy,
} from '../../domain/provisioning/ports.ts';
import { PanelError } from '../../domain/provisioning/ports.ts';
import { withoutInboundSecrets } from './inbound-secrets.ts';
import { isUuid, uuidFromPanelNumber } from './panel-generation.ts';
import { readPart } from './read-part.ts';

/** Codes of the panel that change what a call means. */
export const PANEL_ERROR_CODES = {
  userAlreadyDisabled: 'A029',
  userAlreadyEnabled: 'A030',
  /** "Failed to create user" and "Update user error": the answers to a stale squad, among other causes. */
  createUser: 'A018',
  updateUser: 'A039',
  /** "Get user usage by range error": version 2 answers so for a node that it does not have (spec 10 V2). */
  nodeUsage: 'A094',
} as const;

/** Fields of a body that creates or changes a user; dates are ISO texts, uuids name squads, `null` empties a field. */
interface WireUserFields {
  expireAt?: string;
  trafficLimitBytes?: number;
  trafficLimitStrategy?: TrafficResetStrategy;
  telegramId?: number;
  email?: string;
  hwidDeviceLimit?: number;
  description?: string;
  tag?: string;
  activeInternalSquads?: string[];
  externalSquadUuid?: string | null;
}

interface WireCreateUser extends WireUserFields {
  username: string;
  status: PanelUserStatus;
  expireAt: string;
}

function toWireFields(fields: PanelUserFields): WireUserFields {
  return {
    ...(fields.expireAt === undefined ? {} : { expireAt: fields.expireAt.toISOString() }),
    ...(fields.trafficLimitBytes === undefined ? {} : { trafficLimitBytes: fields.trafficLimitBytes }),
    ...(fields.trafficResetStrategy === undefined ? {} : { trafficLimitStrategy: fields.trafficResetStrategy }),
    ...(fields.messengerId === undefined ? {} : { telegramId: fields.messengerId }),
    ...(fields.email === undefined ? {} : { email: fields.email }),
    ...(fields.deviceLimit === undefined ? {} : { hwidDeviceLimit: fields.deviceLimit }),
    ...(fields.description === undefined ? {} : { description: fields.description }),
    ...(fields.tag === undefined ? {} : { tag: fields.tag }),
    ...(fields.squadUuids === undefined ? {} : { activeInternalSquads: fields.squadUuids }),
    ...(fields.externalSquadUuid === undefined ? {} : { externalSquadUuid: fields.externalSquadUuid }),
  };
}

export function toWireCreate(draft: PanelUserDraft): WireCreateUser {
  return {
    ...toWireFields(draft),
    username: draft.username,
    status: draft.status,
    expireAt: draft.expireAt.toISOString(),
  };
}

/** @param address `{uuid}` or `{id}`, by the panel's generation */
export function toWirePatch(patch: PanelUserPatch, address: Record<string, string | number>): Record<string, unknown> {
  const { externalSquadUuid, ...fields } = patch;
  return {
    ...address,
    ...(patch.status === undefined ? {} : { status: patch.status }),
    ...toWireFields(fields),
    ...(externalSquadUuid === undefined ? {} : { externalSquadUuid }),
  };
}

const text = z.string();
const count = z.number().catch(0);
const optionalNumber = z.number().nullable().catch(null);
const optionalText = z.string().nullable().catch(null);
const date = z.string().transform((value, context) => {
  const parsed = new Date(value);
  if (Number.isNaN(parsed.getTime())) {
    context.addIssue({ code: 'custom', message: 'not a date' });
    return z.NEVER;
  }
  return parsed;
});
const optionalDate = date.nullable().catch(null);
/** A list that older versions leave out; one that cannot be read is a failure, never an empty list (08 P10). */
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((rows) => rows ?? []);

const wireUser = z.object({
  uuid: text.optional().catch(undefined),
  id: z.number().optional().catch(undefined),
  shortUuid: text,
  username: text,
  // An unknown status counts as ACTIVE (spec 06 section 9).
  status: z.enum(['ACTIVE', 'DISABLED', 'LIMITED', 'EXPIRED']).catch('ACTIVE'),
  expireAt: date,
  trafficLimitBytes: count,
  trafficLimitStrategy: z.enum(['NO_RESET', 'DAY', 'WEEK', 'MONTH', 'MONTH_ROLLING']).catch('NO_RESET'),
  userTraffic: z
    .object({
      usedTrafficBytes: count,
      lifetimeUsedTrafficBytes: count,
      onlineAt: optionalDate,
      firstConnectedAt: optionalDate,
      lastConnectedNodeUuid: optionalText,
    })
    .catch({
      usedTrafficBytes: 0,
      lifetimeUsedTrafficBytes: 0,
      onlineAt: null,
      firstConnectedAt: null,
      lastConnectedNodeUuid: null,
    }),
  subscriptionUrl: text.catch(''),
  happ: z.object({ cryptoLink: optionalText }).nullish().catch(null),
  telegramId: z.coerce.number().int().positive().nullable().catch(null),
  email: optionalText,
  hwidDeviceLimit: optionalNumber,
  activeInternalSquads: list(z.object({ uuid: text, name: text.catch('') })),
  externalSquadUuid: optionalText,
  tag: optionalText,
  description: optionalText,
  vlessUuid: optionalText,
  trojanPassword: optionalText,
  ssPassword: optionalText,
});

/** Runs a lenient schema. @throws PanelError `unavailable`: required fields are missing */
export function fromWireUser(value: unknown): PanelUser {
  const user = readPart(wireUser, value);
  return {
    uuid: userHandle(user.uuid, user.id),
    shortUuid: user.shortUuid,
    username: user.username,
    status: user.status,
    expireAt: user.expireAt,
    trafficLimitBytes: user.trafficLimitBytes,
    trafficResetStrategy: user.trafficLimitStrategy,
    ...user.userTraffic,
    subscriptionUrl: user.subscriptionUrl,
    cryptoLink: user.happ?.cryptoLink || null,
    messengerId: user.telegramId,
    email: user.email,
    deviceLimit: user.hwidDeviceLimit,
    squads: user.activeInternalSquads,
    externalSquadUuid: user.externalSquadUuid,
    tag: user.tag,
    description: user.description,
    vlessUuid: user.vlessUuid,
    trojanPassword: user.trojanPassword,
    ssPassword: user.ssPassword,
  };
}

function userHandle(uuid: string | undefined, id: number | undefined): string {
  if (uuid !== undefined && isUuid(uuid)) return uuid;
  if (id !== undefined && Number.isSafeInteger(id) && id > 0) return uuidFromPanelNumber(id);
  throw new PanelError('unavailable', 'VPN panel sent a user without an id');
}

/** One user, a list, or the `{users}` of a filtered list: the answers of the look-ups by messenger id and e-mail. */
export function fromWireUsers(value: unknown): PanelUser[] {
  if (Array.isArray(value)) return value.map(fromWireUser);
  const wrapped = z.object({ users: z.array(z.unknown()) }).safeParse(value);
  return wrapped.success ? wrapped.data.users.map(fromWireUser) : [fromWireUser(value)];
}

export function fromWireUserPage(value: unknown): { users: PanelUser[]; total: number } {
  const page = readPart(z.object({ users: z.array(z.unknown()), total: z.number() }), value);
  return { users: page.users.map(fromWireUser), total: page.total };
}

/** Rows that a bulk call changed; null where the panel does not count. */
export function fromWireAffected(value: unknown): number | null {
  const counted = z.object({ affectedRows: z.number() }).safeParse(value);
  return counted.success ? counted.data.affectedRows : null;
}

const wireDevice = z.object({
  hwid: text,
  userUuid: text.optional().catch(undefined),
  userId: z.number().optional().catch(undefined),
  platform: optionalText,
  osVersion: optionalText,
  deviceModel: optionalText,
  userAgent: optionalText,
  createdAt: optionalDate,
  updatedAt: optionalDate,
});

export function fromWireDevices(value: unknown): { devices: PanelDevice[]; total: number } {
  const page = readPart(z.object({ devices: z.array(wireDevice), total: z.number() }), value);
  const devices = page.devices.map(({ userUuid, userId, ...rest }) => ({ ...rest, userUuid: userHandle(userUuid, userId) }));
  return { devices, total: page.total };
}

const wireInbound = z.object({
  uuid: text,
  profileUuid: text.catch(''),
  tag: text.catch(''),
  type: text.catch(''),
  network: optionalText,
  security: optionalText,
  port: optionalNumber,
  rawInbound: z.unknown().transform((raw) => withoutInboundSecrets(raw)),
});

const wireInternalSquad = z.object({
  uuid: text,
  name: text,
  info: z.object({ membersCount: count, inboundsCount: count }).catch({ membersCount: 0, inboundsCount: 0 }),
  inbounds: list(wireInbound),
});

export function fromWireInternalSquad(value: unknown): PanelInternalSquad {
  const { info, ...squad } = readPart(wireInternalSquad, value);
  return { ...squad, ...info };
}

/** No `.catch` for the list: an unreadable list must not count as "no squads". */
export function fromWireInternalSquads(value: unknown): PanelInternalSquad[] {
  return readPart(z.object({ internalSquads: z.array(z.unknown()) }), value).internalSquads.map(fromWireInternalSquad);
}

const wireExternalSquad = z.object({
  uuid: text,
  name: text,
  info: z.object({ membersCount: count }).catch({ membersCount: 0 }),
});

export function fromWireExternalSquads(value: unknown): PanelExternalSquad[] {
  const { externalSquads } = readPart(z.object({ externalSquads: z.array(wireExternalSquad) }), value);
  return externalSquads.map(({ info, ...squad }) => ({ ...squad, ...info }));
}

export function fromWireInbounds(value: unknown): PanelInbound[] {
  return readPart(z.object({ inbounds: z.array(wireInbound) }), value).inbounds;
}

const wireSquadNode = z.object({ uuid: text, nodeName: text, countryCode: text.catch('') });

export function fromWireSquadNodes(value: unknown): PanelSquadNode[] {
  const either = z.object({ activeNodes: z.array(wireSquadNode).optional(), accessibleNodes: z.array(wireSquadNode).optional() });
  const { activeNodes, accessibleNodes } = readPart(either, value);
  const nodes = activeNodes ?? accessibleNodes;
  if (nodes === undefined) throw new PanelError('unavailable', 'VPN panel sent an answer that cannot be read');
  return nodes;
}

const wireNode = z.object({
  uuid: text,
  name: text,
  address: text.catch(''),
  countryCode: optionalText,
  isConnected: z.boolean().catch(false),
  isDisabled: z.boolean().catch(false),
  usersOnline: count,
  trafficUsedBytes: optionalNumber,
  trafficLimitBytes: optionalNumber,
  lastStatusChange: optionalDate,
  lastStatusMessage: optionalText,
  // Older panels send text ("12345"), newer ones a number of seconds.
  xrayUptime: z.coerce.number().nullable().catch(null),
  isTrafficTrackingActive: z.boolean().catch(false),
  trafficResetDay: optionalNumber,
  notifyPercent: optionalNumber,
  consumptionMultiplier: z.number().catch(1),
  cpuCount: optionalNumber,
  cpuModel: optionalText,
  totalRam: optionalText,
  system: z
    .object({
      info: z.object({ cpus: z.number(), cpuModel: text, memoryTotal: z.number() }),
      stats: z.object({ uptime: optionalNumber }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
  versions: z.object({ xray: optionalText, node: optionalText }).nullish().catch(null),
  // Of older panels.
  xrayVersion: optionalText,
  nodeVersion: optionalText,
  createdAt: optionalDate,
  updatedAt: optionalDate,
  providerUuid: optionalText,
});

export function fromWireNode(value: unknown): PanelNode {
  const { system, versions, xrayVersion, nodeVersion, xrayUptime, cpuCount, cpuModel, totalRam, ...node } = readPart(
    wireNode,
    value,
  );
  return {
    ...node,
    coreUptime: xrayUptime,
    uptime: system?.stats?.uptime ?? null,
    coreVersion: versions?.xray ?? xrayVersion,
    nodeVersion: versions?.node ?? nodeVersion,
    cpuCount: system?.info.cpus ?? cpuCount,
    cpuModel: system?.info.cpuModel ?? cpuModel,
    totalRam: system ? `${(system.info.memoryTotal / 1024 ** 3).toFixed(2)} GiB` : totalRam,
  };
}

export function fromWireNodes(value: unknown): PanelNode[] {
  return readPart(z.array(z.unknown()), value).map(fromWireNode);
}

/** Byte counts beyond exact numbers come as text. */
const optionalBytes = z
  .union([z.number(), text.regex(/^\d+$/).transform(Number)])
  .nullable()
  .catch(null);

const wireStats = z.object({
  cpu: z.object({ cores: count, physicalCores: optionalNumber }).catch({ cores: 0, physicalCores: null }),
  memory: z
    .object({ total: count, used: count, free: count, available: optionalNumber })
    .catch({ total: 0, used: 0, free: 0, available: null }),
  uptime: count,
  users: z.object({ totalUsers: count, statusCounts: z.record(text, z.number()).catch({}), totalTrafficBytes: optionalBytes }),
  onlineStats: z
    .object({ onlineNow: count, lastDay: count, lastWeek: count, neverOnline: count })
    .catch({ onlineNow: 0, lastDay: 0, lastWeek: 0, neverOnline: 0 }),
  nodes: z.object({ totalOnline: count, totalBytesLifetime: optionalBytes }).catch({ totalOnline: 0, totalBytesLifetime: null }),
});

export function fromWireStats(value: unknown): PanelSystemStats {
  const stats = readPart(wireStats, value);
  return {
    cpuCores: stats.cpu.cores,
    // Newer panels count cores and free memory in one way only.
    cpuPhysicalCores: stats.cpu.physicalCores ?? stats.cpu.cores,
    memoryTotalBytes: stats.memory.total,
    memoryUsedBytes: stats.memory.used,
    memoryFreeBytes: stats.memory.free,
    memoryAvailableBytes: stats.memory.available ?? stats.memory.free,
    uptimeSeconds: Math.floor(stats.uptime),
    totalTrafficBytes: stats.users.totalTrafficBytes ?? stats.nodes.totalBytesLifetime ?? 0,
    totalUsers: stats.users.totalUsers,
    usersByStatus: stats.users.statusCounts,
    onlineNow: stats.onlineStats.onlineNow,
    onlineLastDay: stats.onlineStats.lastDay,
    onlineLastWeek: stats.onlineStats.lastWeek,
    neverOnline: stats.onlineStats.neverOnline,
    nodesOnline: stats.nodes.totalOnline,
    raw: readPart(z.record(text, z.unknown()), value),
  };
}

export function fromWireSubscriptionInfo(value: unknown): PanelSubscriptionInfo | null {
  const info = readPart(
    z.object({
      isFound: z.boolean().catch(true),
      links: list(text),
      ssConfLinks: z.record(text, text).catch({}),
      subscriptionUrl: text.catch(''),
    }),
    value,
  );
  return info.isFound ? { links: info.links, ssConfLinks: info.ssConfLinks, subscriptionUrl: info.subscriptionUrl } : null;
}

export function fromWireEncryptedLink(value: unknown): string | null {
  return readPart(z.object({ encryptedLink: text }), value).encryptedLink || null;
}
