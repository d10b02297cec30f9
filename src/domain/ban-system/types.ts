/** What the ban system reports (spec 06 section 13). Counts are whole numbers, traffic is in bytes, timestamps are UTC. */

export interface BanStats {
  totalUsers: number;
  /** Users for whom a limit of addresses is set. */
  activeUsers: number;
  usersOverLimit: number;
  totalRequests: number;
  totalPunishments: number;
  activePunishments: number;
  nodesOnline: number;
  nodesTotal: number;
  agentsOnline: number;
  agentsTotal: number;
  panelConnected: boolean;
  /** Since when it has counted requests; null = it does not say. */
  intakeStartedAt: Date | null;
}

export interface BanUser {
  email: string;
  uniqueIpCount: number;
  totalRequests: number;
  /** Addresses at the same time; null = unlimited. */
  limit: number | null;
  isOverLimit: boolean;
  blockedCount: number;
  lastSeen: Date | null;
}

export interface BanUserAddress {
  ip: string;
  firstSeen: Date | null;
  lastSeen: Date | null;
  node: string | null;
  requestCount: number;
  countryCode: string | null;
  countryName: string | null;
  city: string | null;
}

export interface BanUserRequest {
  timestamp: Date;
  sourceIp: string;
  destination: string | null;
  destPort: number | null;
  protocol: string | null;
  action: string | null;
  node: string | null;
}

export interface BanUserDetail extends BanUser {
  ips: BanUserAddress[];
  recentRequests: BanUserRequest[];
  networkType: string | null;
}

export interface Punishment {
  id: number | null;
  userId: string;
  uuid: string | null;
  username: string;
  reason: string | null;
  punishedAt: Date;
  /** When it ends by itself. */
  enableAt: Date | null;
  ipCount: number;
  limit: number;
  /** Whether the user has access again. */
  enabled: boolean;
  enabledAt: Date | null;
  nodeName: string | null;
}

type FreeForm = Record<string, unknown>;

export interface BanNode {
  name: string;
  address: string | null;
  isConnected: boolean;
  lastSeen: Date | null;
  usersCount: number;
  agentStats: FreeForm | null;
}

export interface BanAgent {
  nodeName: string;
  sentTotal: number;
  droppedTotal: number;
  batchesTotal: number;
  reconnects: number;
  failures: number;
  queueSize: number;
  queueMax: number;
  dedupChecked: number;
  dedupSkipped: number;
  filterChecked: number;
  filterFiltered: number;
  health: string;
  isOnline: boolean;
  lastReport: Date | null;
}

export interface BanAgentsSummary {
  totalAgents: number;
  onlineAgents: number;
  totalSent: number;
  totalDropped: number;
  avgQueueSize: number;
  healthyCount: number;
  warningCount: number;
  criticalCount: number;
}

/** Left out or blank = all. The values are passed on unchecked. */
export interface BanAgentFilter {
  search?: string | null | undefined;
  health?: string | null | undefined;
  status?: string | null | undefined;
}

export interface BanAgentHistory {
  node: string;
  hours: number;
  records: number;
  delta: FreeForm | null;
  first: FreeForm | null;
  last: FreeForm | null;
  history: { timestamp: Date; sentTotal: number; droppedTotal: number; queueSize: number; batchesTotal: number }[];
}

export interface BanTopUser {
  username: string;
  bytesTotal: number;
  bytesLimit: number | null;
  overLimit: boolean;
}

export interface TrafficViolation {
  id: number | null;
  username: string;
  email: string | null;
  violationType: string;
  description: string | null;
  bytesUsed: number;
  bytesLimit: number;
  detectedAt: Date;
  resolved: boolean;
}

export interface BanTraffic {
  enabled: boolean;
  stats: FreeForm | null;
  topUsers: BanTopUser[];
  recentViolations: TrafficViolation[];
}

export interface BanSetting {
  key: string;
  /** Of the JSON type that the ban system returns. */
  value: unknown;
  /** `bool`, `int`, `float`, `list`, `str` or another word of the ban system. */
  type: string;
  minValue: number | null;
  maxValue: number | null;
  editable: boolean;
  description: string | null;
  category: string | null;
}

export interface BanReport {
  currentUsers: number;
  currentIps: number;
  punishmentStats: FreeForm | null;
  topViolators: { username: string; count: number }[];
}

export interface BanHealthComponent {
  name: string;
  status: string;
  message: string | null;
  details: FreeForm | null;
}

export interface BanHealth {
  status: string;
  /** Seconds. */
  uptime: number | null;
  components: BanHealthComponent[];
  /** The components as the ban system returns them. */
  rawComponents: FreeForm;
}
