export const USER_STATUSES = ['ACTIVE', 'DISABLED', 'LIMITED', 'EXPIRED'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

/** When the panel sets the used traffic to zero; the last one counts months from the day of creation. */
export const RESET_STRATEGIES = ['NO_RESET', 'DAY', 'WEEK', 'MONTH', 'MONTH_ROLLING'] as const;
export type ResetStrategy = (typeof RESET_STRATEGIES)[number];

/** `uuid`: interface of version 2 (users by uuid, encrypted links). `number`: version 3 (users by number only). */
export type Generation = 'uuid' | 'number';

export interface StoredDevice {
  hwid: string;
  platform: string | null;
  osVersion: string | null;
  deviceModel: string | null;
  userAgent: string | null;
  requestIp: string | null;
  createdAt: string;
  updatedAt: string;
}

/** A panel user as it is stored; names as on the panel's wire, dates as ISO text. */
export interface StoredUser {
  id: number;
  uuid: string;
  shortUuid: string;
  username: string;
  status: UserStatus;
  trafficLimitBytes: number;
  trafficLimitStrategy: ResetStrategy;
  expireAt: string;
  telegramId: number | null;
  email: string | null;
  description: string | null;
  tag: string | null;
  hwidDeviceLimit: number | null;
  externalSquadUuid: string | null;
  trojanPassword: string;
  vlessUuid: string;
  ssPassword: string;
  subRevokedAt: string | null;
  lastTrafficResetAt: string | null;
  createdAt: string;
  updatedAt: string;
  usedTrafficBytes: number;
  lifetimeUsedTrafficBytes: number;
  onlineAt: string | null;
  firstConnectedAt: string | null;
  squadUuids: string[];
  devices: StoredDevice[];
}

export interface StoredSquad {
  uuid: string;
  name: string;
  viewPosition: number;
  inboundUuids: string[];
}

export interface StoredNode {
  uuid: string;
  id: number;
  name: string;
  address: string;
  countryCode: string;
  inboundUuid: string;
  isDisabled: boolean;
  changedAt: string | null;
}

export interface StoredInbound {
  uuid: string;
  tag: string;
  port: number;
}

/** Everything except the users; small, so it is one value in the store. */
export interface StoredMeta {
  nextId: number;
  /** Port of the last start, tried first at the next one so that links handed out stay valid. */
  port: number;
  startedAt: string;
  /** Events that the receiver has not accepted yet, as they are sent; absent in states of earlier releases. */
  events?: { body: string; headers: Record<string, string> }[];
  /** Numbers of the user shards that are not empty. */
  shards: number[];
  internalSquads: StoredSquad[];
  externalSquads: { uuid: string; name: string; viewPosition: number }[];
  nodes: StoredNode[];
  inbounds: StoredInbound[];
}

export const CONFIG_PROFILE_UUID = 'c0f16000-0000-4000-8000-000000000001';

const PLACES = [
  { name: 'Netherlands', countryCode: 'NL', digit: 1 },
  { name: 'Germany', countryCode: 'DE', digit: 2 },
  { name: 'Finland', countryCode: 'FI', digit: 3 },
] as const;

/** Data of a panel at its first start: three locations with a squad, a node and an inbound each, and one external squad. */
export function seedMeta(now: Date): StoredMeta {
  return {
    nextId: 1,
    port: 0,
    startedAt: now.toISOString(),
    shards: [],
    internalSquads: PLACES.map(({ name, digit }) => ({
      uuid: `5a11ad00-0000-4000-8000-00000000000${digit}`,
      name,
      viewPosition: digit,
      inboundUuids: [`1b0a4d00-0000-4000-8000-00000000000${digit}`],
    })),
    externalSquads: [{ uuid: 'e87e4a00-0000-4000-8000-000000000001', name: 'Partners', viewPosition: 1 }],
    nodes: PLACES.map(({ name, countryCode, digit }) => ({
      uuid: `40de0000-0000-4000-8000-00000000000${digit}`,
      id: digit,
      name: `${name} 1`,
      address: `${countryCode.toLowerCase()}1.sandbox.invalid`,
      countryCode,
      inboundUuid: `1b0a4d00-0000-4000-8000-00000000000${digit}`,
      isDisabled: false,
      changedAt: null,
    })),
    inbounds: PLACES.map(({ countryCode, digit }) => ({
      uuid: `1b0a4d00-0000-4000-8000-00000000000${digit}`,
      tag: `VLESS_${countryCode}`,
      port: 443,
    })),
  };
}
