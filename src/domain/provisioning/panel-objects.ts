/** What the panel tells of its nodes, squads, devices and statistics, in the terms of the domain (spec 06 section 9). */

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
