/**
 * The VPN panel in the terms of the domain (spec 06 section 9). Only the adapter in `integrations/vpnpanel` uses
 * the panel's field names. Every method throws `PanelError` when the panel gave no usable answer; "no such object" is never an
 * error but `null`, `false` or an empty list, so that a caller unlinks a user on a definite absence only (spec 06 section 9, spec 02 H21).
 */

import type {
  PanelAppConfig,
  PanelDevice,
  PanelExternalSquad,
  PanelInbound,
  PanelInternalSquad,
  PanelNode,
  PanelNodeDay,
  PanelNodeTraffic,
  PanelNodeUsage,
  PanelSquadNode,
  PanelSubscriptionInfo,
  PanelSystemStats,
  PanelTrafficPeriods,
  PanelUserBytes,
  PanelUserTraffic,
} from './panel-objects.ts';

declare module '../../core/app.ts' {
  interface Ports {
    panel: VpnPanelPort;
  }
}

/**
 * `not_configured`: URL or key is missing, nothing was sent. `unavailable`: no answer, 401, 403, 429, 5xx or an answer that is not the
 * panel's; a retry may succeed. `rejected`: the panel refused; the same call will be refused again.
 */
export type PanelErrorKind = 'unavailable' | 'rejected' | 'not_configured';

export class PanelError extends Error {
  readonly kind: PanelErrorKind;
  /** The panel's own code, e.g. `A019` (username taken), when it sent one. */
  readonly errorCode: string | null;
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /**
   * The handle is of the panel's other generation: the panel was replaced in place, and the user has to be found again (spec 10 V1). Of
   * kind `unavailable`, because it says nothing about the user.
   */
  readonly isOtherGeneration: boolean;
  /** The panel refused the API key: of kind `unavailable`, because the calls succeed again with a corrected key (08 P12). */
  readonly isKeyRefused: boolean;

  /** @param message safe to show: never a host, a path or a key */
  constructor(
    kind: PanelErrorKind,
    message: string,
    options: { errorCode?: string | null; status?: number | null; isOtherGeneration?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'PanelError';
    this.kind = kind;
    this.errorCode = options.errorCode ?? null;
    this.status = options.status ?? null;
    this.isOtherGeneration = options.isOtherGeneration ?? false;
    this.isKeyRefused = this.status === 401 || this.status === 403;
  }
}

/** Recognises a `PanelError` by shape, also one from a second copy of this module. */
export function isPanelError(error: unknown): error is PanelError {
  return error instanceof Error && error.name === 'PanelError' && 'kind' in error;
}

/** How the panel names users: up to version 2 by uuid, from version 3 on by number. */
export type PanelGeneration = 'uuid' | 'number';

/** `LIMITED` = traffic limit reached, `EXPIRED` = past `expireAt`; both are set by the panel. */
export type PanelUserStatus = 'ACTIVE' | 'DISABLED' | 'LIMITED' | 'EXPIRED';

/** When the panel resets the used traffic to zero. */
export type TrafficResetStrategy = 'NO_RESET' | 'DAY' | 'WEEK' | 'MONTH' | 'MONTH_ROLLING';

interface PanelSquadRef {
  uuid: string;
  name: string;
}

export interface PanelUser {
  /** Handle of the user in every other call and in `users.vpnpanel_uuid`. */
  uuid: string;
  shortUuid: string;
  username: string;
  status: PanelUserStatus;
  expireAt: Date;
  /** Bytes; 0 = unlimited. */
  trafficLimitBytes: number;
  trafficResetStrategy: TrafficResetStrategy;
  /** Bytes since the last reset. */
  usedTrafficBytes: number;
  lifetimeUsedTrafficBytes: number;
  onlineAt: Date | null;
  firstConnectedAt: Date | null;
  lastConnectedNodeUuid: string | null;
  subscriptionUrl: string;
  /** Encrypted form of `subscriptionUrl` for clients that hide it; null when the panel returns none, see `withCryptoLink`. */
  cryptoLink: string | null;
  messengerId: number | null;
  email: string | null;
  /** Highest number of devices; null = the panel's own default. */
  deviceLimit: number | null;
  squads: PanelSquadRef[];
  externalSquadUuid: string | null;
  tag: string | null;
  description: string | null;
  /** Credentials that the panel keeps for the user; stored with the user for support. */
  vlessUuid: string | null;
  trojanPassword: string | null;
  ssPassword: string | null;
}

/** Fields common to creation and change; a field left out is not sent. */
export interface PanelUserFields {
  expireAt?: Date;
  /** Bytes; 0 = unlimited. */
  trafficLimitBytes?: number;
  trafficResetStrategy?: TrafficResetStrategy;
  messengerId?: number;
  email?: string;
  deviceLimit?: number;
  description?: string;
  tag?: string;
  /** Uuids of internal squads; the list replaces the old one. */
  squadUuids?: string[];
  /** A stale uuid does not fail the call: it is repeated once without this field. */
  externalSquadUuid?: string;
}

export interface PanelUserDraft extends PanelUserFields {
  username: string;
  status: PanelUserStatus;
  expireAt: Date;
}

export interface PanelUserPatch extends Omit<PanelUserFields, 'externalSquadUuid'> {
  uuid: string;
  /** As on creation; null takes the user out of the external squad. */
  externalSquadUuid?: string | null;
  /** The panel accepts only these two; it sets the others. */
  status?: 'ACTIVE' | 'DISABLED';
}

interface Page {
  /** Offset of the first row. */
  start: number;
  /** Number of rows, 1..1000. */
  size: number;
}

/** Users that one bulk call may name. */
export const BULK_USERS = 500;

export interface VpnPanelPort {
  /** Why no call can be made (names the missing setting), or null when configured. Reads the current settings. */
  configurationError(): string | null;
  /** Address of the panel without any credentials in it; null when none is set or it is not a URL. */
  apiUrl(): string | null;
  /** Resolves when the panel answers an authorised read. */
  ping(): Promise<void>;
  /** As the panel writes it, e.g. `3.3.2`; null when it does not tell. */
  readVersion(): Promise<string | null>;

  /**
   * Whether the panel knows users by uuid (version 2) or by number (version 3). The panel is asked each time, and all later calls are made
   * by its answer. @throws PanelError
   */
  readGeneration(): Promise<PanelGeneration>;
  /** The panel says that it was started: its version is read again before it is used. */
  forgetVersion(): void;

  findByUuid(uuid: string): Promise<PanelUser | null>;
  /** By the last part of its subscription link, which stays when the panel is replaced by another version. */
  findByShortUuid(shortUuid: string): Promise<PanelUser | null>;
  /** Of several users of one messenger id: the latest `expireAt`, then `ACTIVE`. */
  findByMessengerId(messengerId: number): Promise<PanelUser | null>;
  findByEmail(email: string): Promise<PanelUser | null>;
  /** All of one messenger id, the one that `findByMessengerId` returns first; without crypto links. */
  listByMessengerId(messengerId: number): Promise<PanelUser[]>;
  /** The same by e-mail. */
  listByEmail(email: string): Promise<PanelUser[]>;
  findByUsername(username: string): Promise<PanelUser | null>;
  /** Never sent twice: after an `unavailable` the caller looks the user up before it tries again. */
  createUser(draft: PanelUserDraft): Promise<PanelUser>;
  /** @returns null when the panel has no such user */
  updateUser(patch: PanelUserPatch): Promise<PanelUser | null>;
  /** @returns false when the user was already absent */
  deleteUser(uuid: string): Promise<boolean>;
  /** Also succeeds on an enabled user. A PATCH may leave a user `LIMITED`, this lifts it. */
  enableUser(uuid: string): Promise<PanelUser | null>;
  /** Also succeeds on a disabled user. */
  disableUser(uuid: string): Promise<PanelUser | null>;
  resetTraffic(uuid: string): Promise<PanelUser | null>;
  /** Issues the user new links, or, with `onlyPasswords`, new passwords behind the same links. */
  revokeUser(uuid: string, options?: { shortUuid?: string; onlyPasswords?: boolean }): Promise<PanelUser | null>;
  /**
   * Assigns many users the same internal squads, which replace what each had; at most `BULK_USERS` users a call, and the call is
   * idempotent. A panel may skip a user that it does not have without an error.
   * @returns how many users the panel reports as changed, or null without such a report
   */
  setSquadsOfUsers(uuids: readonly string[], squadUuids: readonly string[]): Promise<number | null>;
  /** One page in the panel's own stable order. `total` counts all users; crypto links are not filled. */
  listUsers(page: Page): Promise<{ users: PanelUser[]; total: number }>;
  /** Nodes that the user can reach through the squads. */
  listUserNodes(uuid: string): Promise<PanelSquadNode[]>;
  /** Traffic by node and day, both days included; null when there is no such user. Only nodes with traffic are named. */
  readUserTraffic(uuid: string, range: { from: Date; to: Date }): Promise<PanelUserTraffic | null>;
  /** Links behind a subscription's short uuid; null when unknown. */
  getSubscriptionInfo(shortUuid: string): Promise<PanelSubscriptionInfo | null>;

  listDevices(userUuid: string): Promise<PanelDevice[]>;
  listAllDevices(page: Page): Promise<{ devices: PanelDevice[]; total: number }>;
  /** Also succeeds when the device was deleted before. */
  deleteDevice(userUuid: string, hwid: string): Promise<void>;
  /** Removes the user's devices one by one; a success when fewer than half failed. @throws PanelError otherwise */
  resetDevices(userUuid: string): Promise<{ deleted: number; failed: number }>;

  /** In the panel's order. */
  listAppConfigs(): Promise<PanelAppConfig[]>;
  /** With the panel's object as it is, null when it has none; null for an unknown uuid. */
  getAppConfig(uuid: string): Promise<(PanelAppConfig & { config: Record<string, unknown> | null }) | null>;

  /** Encrypted form of a subscription link; null when the panel cannot or the call failed. Never throws. */
  encryptLink(link: string): Promise<string | null>;

  listInternalSquads(): Promise<PanelInternalSquad[]>;
  getInternalSquad(uuid: string): Promise<PanelInternalSquad | null>;
  createInternalSquad(input: { name: string; inboundUuids: string[] }): Promise<PanelInternalSquad>;
  updateInternalSquad(input: { uuid: string; name?: string; inboundUuids?: string[] }): Promise<PanelInternalSquad | null>;
  deleteInternalSquad(uuid: string): Promise<boolean>;
  listInternalSquadNodes(uuid: string): Promise<PanelSquadNode[]>;
  /** Adds every user of the panel to the squad; the panel does so after its answer. */
  addAllUsersToSquad(uuid: string): Promise<boolean>;
  removeAllUsersFromSquad(uuid: string): Promise<boolean>;
  listExternalSquads(): Promise<PanelExternalSquad[]>;
  listInbounds(): Promise<PanelInbound[]>;

  listNodes(): Promise<PanelNode[]>;
  getNode(uuid: string): Promise<PanelNode | null>;
  enableNode(uuid: string): Promise<PanelNode | null>;
  disableNode(uuid: string): Promise<PanelNode | null>;
  /** @returns false when there is no such node */
  restartNode(uuid: string): Promise<boolean>;
  restartAllNodes(): Promise<void>;

  /** Nodes with traffic at present. */
  listNodeTraffic(): Promise<PanelNodeTraffic[]>;
  /** Usage of a node by day, both days included; null when there is no such node. */
  listNodeUsage(uuid: string, range: { from: Date; to: Date }): Promise<PanelNodeUsage[] | null>;

  /** Users with traffic through a node, one row a user, both days included; null when there is no such node. */
  listNodeUserBytes(uuid: string, range: { from: Date; to: Date }): Promise<PanelUserBytes[] | null>;

  getSystemStats(): Promise<PanelSystemStats>;
  getTrafficPeriods(): Promise<PanelTrafficPeriods>;
  /** The last seven days of every node. */
  listNodeDays(): Promise<PanelNodeDay[]>;
}
