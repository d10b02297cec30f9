import type {
  BanAgent,
  BanAgentFilter,
  BanAgentHistory,
  BanAgentsSummary,
  BanHealth,
  BanNode,
  BanReport,
  BanSetting,
  BanStats,
  BanTopUser,
  BanTraffic,
  BanUser,
  BanUserDetail,
  Punishment,
  TrafficViolation,
} from './types.ts';

declare module '../../core/app.ts' {
  interface Ports {
    banSystem: BanSystemPort;
  }
}

/** The ban system gave no answer, or one with an error status. */
export class BanSystemError extends Error {
  /** @param message safe to show: neither the address nor the token */
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'BanSystemError';
  }
}

/** Recognises a `BanSystemError` by shape, also one from a second copy of this module. */
export function isBanSystemError(error: unknown): error is BanSystemError {
  return error instanceof Error && error.name === 'BanSystemError';
}

/**
 * The ban system in the terms of the domain (spec 06 section 13). Nothing of it is stored here. Whatever JSON it answers is read: missing
 * and unusable fields get their default, rows without a time that they need are left out. Every call throws `BanSystemError`.
 */
export interface BanSystemPort {
  /** By the current settings; configured = address and token are set. */
  state(): { isEnabled: boolean; isConfigured: boolean };

  readStats(): Promise<BanStats>;
  /** The statistics as the ban system returns them. */
  readRawStats(): Promise<unknown>;
  readReport(hours: number): Promise<BanReport>;
  readHealth(isDetailed: boolean): Promise<BanHealth>;

  /** @returns `total` null where the ban system does not count */
  listUsers(query: { offset: number; limit: number; status: string | null }): Promise<{ users: BanUser[]; total: number | null }>;
  listUsersOverLimit(limit: number): Promise<BanUser[]>;
  searchUsers(query: string): Promise<BanUser[]>;
  readUser(email: string): Promise<BanUserDetail>;

  listPunishments(): Promise<Punishment[]>;
  /** @param query e-mail or name of a user */
  listHistory(query: string, limit: number): Promise<Punishment[]>;
  ban(request: { username: string; minutes: number; reason: string | null }): Promise<void>;
  unban(userId: string): Promise<void>;
  addToWhitelist(username: string): Promise<void>;
  removeFromWhitelist(username: string): Promise<void>;

  listNodes(): Promise<BanNode[]>;
  listAgents(filter: BanAgentFilter): Promise<{ agents: BanAgent[]; summary: BanAgentsSummary | null }>;
  readAgentsSummary(): Promise<BanAgentsSummary>;
  readAgentHistory(node: string, hours: number): Promise<BanAgentHistory>;

  readTraffic(): Promise<BanTraffic>;
  listTopUsers(limit: number): Promise<BanTopUser[]>;
  listViolations(limit: number): Promise<TrafficViolation[]>;

  /** In the order of the ban system. */
  listSettings(): Promise<BanSetting[]>;
  readSetting(key: string): Promise<BanSetting>;
  changeSetting(key: string, value: string): Promise<BanSetting>;
  toggleSetting(key: string): Promise<BanSetting>;
}
