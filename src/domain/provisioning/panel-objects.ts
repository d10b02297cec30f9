import type { App } from '../../core/app.ts';
import type { PanelUser, PanelUserDraft, PanelUserFields, PanelUserPatch } from './ports.ts';
import type { PushTarget } from './repo.ts';
import {
  changedStrategyFor,
  deviceLimitFor,
  panelDescription,
  panelEmailOf,
  panelStateFor,
  panelTagFor,
  panelUsername,
  resetStrategyFor,
  trafficLimitBytesFor,
} from './rules.ts';

/** What the panel tells of its nodes, squads, devices and statistics, in the terms of the domain. */

export interface PanelInbound {
  uuid: string;
  profileUuid: string;
  tag: string;
  type: string;
  network: string | null;
  security: string | null;
  port: number | null;
  /** The node's own configuration of it, without private keys and passwords. */
  rawInbound: unknown;
}

export interface PanelInternalSquad {
  uuid: string;
  name: string;
  membersCount: number;
  inboundsCount: number;
  inbounds: PanelInbound[];
}

export interface PanelExternalSquad {
  uuid: string;
  name: string;
  membersCount: number;
}

export interface PanelSquadNode {
  uuid: string;
  nodeName: string;
  countryCode: string;
}

/** Traffic of a user by node and day. */
export interface PanelUserTraffic {
  /** Days, `YYYY-MM-DD` in UTC, ascending. */
  days: string[];
  nodes: {
    uuid: string;
    name: string;
    countryCode: string;
    totalBytes: number;
    /** One number a day of `days`. */
    dailyBytes: number[];
  }[];
}

export interface PanelDevice {
  userUuid: string;
  hwid: string;
  platform: string | null;
  osVersion: string | null;
  deviceModel: string | null;
  userAgent: string | null;
  createdAt: Date | null;
  updatedAt: Date | null;
}

export interface PanelNode {
  uuid: string;
  name: string;
  address: string;
  countryCode: string | null;
  isConnected: boolean;
  isDisabled: boolean;
  usersOnline: number;
  trafficUsedBytes: number | null;
  trafficLimitBytes: number | null;
  lastStatusChange: Date | null;
  lastStatusMessage: string | null;
  /** Seconds. */
  coreUptime: number | null;
  /** Of the machine, seconds. */
  uptime: number | null;
  coreVersion: string | null;
  nodeVersion: string | null;
  isTrafficTrackingActive: boolean;
  trafficResetDay: number | null;
  notifyPercent: number | null;
  consumptionMultiplier: number;
  cpuCount: number | null;
  cpuModel: string | null;
  /** With its unit, e.g. `2.00 GiB`. */
  totalRam: string | null;
  createdAt: Date | null;
  updatedAt: Date | null;
  providerUuid: string | null;
}

/** Current traffic of a node. */
export interface PanelNodeTraffic {
  nodeUuid: string;
  downloadBytes: number;
  uploadBytes: number;
  /** The panel's object as it came, for the realtime endpoint. */
  raw: Record<string, unknown>;
}

/** Traffic through a node on one day. */
export interface PanelNodeUsage {
  /** Null where the panel counts no single users. */
  userUuid: string | null;
  username: string | null;
  nodeUuid: string;
  totalBytes: number;
  /** `YYYY-MM-DD` in UTC. */
  date: string;
}

export interface PanelTrafficPeriod {
  currentBytes: number;
  previousBytes: number;
  /** The panel's own text, with sign and unit. */
  difference: string | null;
}

/** All nodes together, each period with the one before it. */
export interface PanelTrafficPeriods {
  last2Days: PanelTrafficPeriod;
  last7Days: PanelTrafficPeriod;
  last30Days: PanelTrafficPeriod;
  currentMonth: PanelTrafficPeriod;
  currentYear: PanelTrafficPeriod;
}

/** Traffic of one node on one of the last seven days. */
export interface PanelNodeDay {
  nodeName: string;
  /** As the panel writes it, `YYYY-MM-DD`. */
  date: string;
  totalBytes: number;
}

export interface PanelSystemStats {
  cpuCores: number;
  cpuPhysicalCores: number;
  memoryTotalBytes: number;
  memoryUsedBytes: number;
  memoryFreeBytes: number;
  memoryAvailableBytes: number;
  uptimeSeconds: number;
  /** Traffic of all users since the panel was installed. */
  totalTrafficBytes: number;
  totalUsers: number;
  usersByStatus: Record<string, number>;
  onlineNow: number;
  onlineLastDay: number;
  onlineLastWeek: number;
  neverOnline: number;
  nodesOnline: number;
  /** The panel's object as it came, for the status endpoint's `system_info`. */
  raw: Record<string, unknown>;
}

/** A configuration of the panel's subscription page: which client apps it names, and how each is connected. */
export interface PanelAppConfig {
  uuid: string;
  name: string;
  viewPosition: number;
}

/** Traffic of one user through one node in a range of days. */
export interface PanelUserBytes {
  userUuid: string;
  totalBytes: number;
}

export interface PanelSubscriptionInfo {
  links: string[];
  ssConfLinks: Record<string, string>;
  subscriptionUrl: string;
}

/** State that an existing panel user should have: `panelStateFor`, and `DISABLED` for a blocked or deleted account (08 P15). */
export function presentState(target: PushTarget, now: Date): ReturnType<typeof panelStateFor> {
  return panelStateFor(target.user.status === 'active' ? target : { ...target, status: 'disabled' }, now);
}

/** The same where the panel has no user: none is created for used up traffic, since a new user would have all of it again. */
export function stateWithoutUser(target: PushTarget, now: Date): ReturnType<typeof panelStateFor> {
  return presentState(target.status === 'limited' ? { ...target, status: 'disabled' } : target, now);
}

/**
 * `presentState` as it is sent. The panel itself decides whether traffic is used up: a limited subscription enables a panel user that
 * is disabled or expired; otherwise no status is sent. An end that is as early as the panel accepts, or past, stays as it is.
 */
function stateOf(target: PushTarget, present: PanelUser, now: Date): Pick<PanelUserPatch, 'status' | 'expireAt'> {
  const { status, expireAt } = presentState(target, now);
  if (status === 'DISABLED') return present.expireAt <= expireAt ? { status } : { status, expireAt };
  const isDecidedByPanel = target.status === 'limited' && (present.status === 'LIMITED' || present.status === 'ACTIVE');
  return isDecidedByPanel ? { expireAt } : { status, expireAt };
}

/** Body of a creation (spec 02 section 4.2). */
export function draftOf(app: App, target: PushTarget, username: string): PanelUserDraft {
  return {
    ...commonFields(app, target),
    ...(target.connectedSquads.length === 0 ? {} : { squadUuids: target.connectedSquads }),
    ...(target.externalSquadUuid === null ? {} : { externalSquadUuid: target.externalSquadUuid }),
    trafficResetStrategy: resetStrategyFor(target.trafficResetMode, app.settings.get('DEFAULT_TRAFFIC_RESET_STRATEGY')),
    ...stateWithoutUser(target, app.clock.now()),
    username,
  };
}

/**
 * Body of a change (spec 02 section 4.3). Squads are sent only where the panel's differ, since a stale uuid fails the whole call,
 * and never an empty list. A tariff without an external squad takes the user out of the former one (08 P9); a subscription without a
 * tariff leaves it.
 */
export function patchOf(app: App, target: PushTarget, present: PanelUser): PanelUserPatch {
  const current = new Set(present.squads.map((squad) => squad.uuid));
  const wanted = new Set(target.connectedSquads);
  const squadsDiffer = wanted.size > 0 && (wanted.size !== current.size || [...wanted].some((uuid) => !current.has(uuid)));
  const { externalSquadUuid } = target;
  const keepsExternalSquad =
    externalSquadUuid === present.externalSquadUuid || (externalSquadUuid === null && target.tariffId === null);
  const defaultStrategy = app.settings.get('DEFAULT_TRAFFIC_RESET_STRATEGY');
  const strategy = changedStrategyFor(target.trafficResetMode, defaultStrategy, present.trafficResetStrategy);
  return {
    ...commonFields(app, target),
    ...(squadsDiffer ? { squadUuids: [...wanted] } : {}),
    ...(keepsExternalSquad ? {} : { externalSquadUuid }),
    ...(strategy === null ? {} : { trafficResetStrategy: strategy }),
    ...stateOf(target, present, app.clock.now()),
    uuid: present.uuid,
  };
}

/** Name of the panel user, from `VPNPANEL_USER_USERNAME_TEMPLATE`. */
export function usernameOf(app: App, target: PushTarget): string {
  return panelUsername(app.settings.get('VPNPANEL_USER_USERNAME_TEMPLATE'), target.user);
}

function commonFields(app: App, target: PushTarget): PanelUserFields {
  const { settings } = app;
  const { user } = target;
  const email = panelEmailOf(user);
  const description = panelDescription(settings.get('VPNPANEL_USER_DESCRIPTION_TEMPLATE'), user);
  const deviceLimit = deviceLimitFor(target, {
    devicesSelectionEnabled: settings.get('DEVICES_SELECTION_ENABLED'),
    devicesSelectionDisabledAmount: settings.get('DEVICES_SELECTION_DISABLED_AMOUNT'),
  });
  const tag = panelTagFor(target, {
    trialUserTag: settings.get('TRIAL_USER_TAG'),
    paidSubscriptionUserTag: settings.get('PAID_SUBSCRIPTION_USER_TAG'),
  });
  return {
    trafficLimitBytes: trafficLimitBytesFor(target.trafficLimitGb),
    ...(user.messengerId === null ? {} : { messengerId: user.messengerId }),
    ...(email === null ? {} : { email }),
    ...(description === '' ? {} : { description }),
    ...(deviceLimit === null ? {} : { deviceLimit }),
    ...(tag === null ? {} : { tag }),
  };
}
