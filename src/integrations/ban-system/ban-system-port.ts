import type { HttpClient } from '../../core/http/http-client.ts';
import type { BanSystemPort } from '../../domain/ban-system/ports.ts';
import { type BanSystemCall, type BanSystemConnection, createBanTransport } from './ban-transport.ts';
import { readAgentHistory, readAgents, readNodes, readSummary } from './read-agents.ts';
import { readHealth, readReport, readStats } from './read-service.ts';
import { hasValue, readSetting, readSettings } from './read-settings.ts';
import { readTopUsers, readTraffic, readViolations } from './read-traffic.ts';
import { readPunishments, readUserDetail, readUsers } from './read-users.ts';
import { fieldsOf, integerOr } from './read-values.ts';

const HISTORY_RECORDS = 50;

/** The calls of the ban system (spec 06 section 13, its table). @param http built by `banSystemHttp` */
export function createBanSystemPort(http: HttpClient, connection: () => BanSystemConnection): BanSystemPort {
  const transport = createBanTransport(http, connection);
  const callOf = (method: BanSystemCall['method']) => (path: readonly string[], query?: BanSystemCall['query']) =>
    transport.call({ method, path, ...(query && { query }) });
  const [get, post] = [callOf('GET'), callOf('POST')];
  const settingNow = async (key: string) => readSetting(key, await get(['api', 'settings', key]));

  return {
    state: () => ({ isEnabled: connection().isEnabled, isConfigured: transport.isConfigured() }),

    readStats: async () => readStats(await get(['api', 'stats'])),
    readRawStats: () => get(['api', 'stats']),
    readReport: async (hours) => readReport(await get(['api', 'stats', 'period'], { hours })),
    readHealth: async (isDetailed) => readHealth(await get(isDetailed ? ['health', 'detailed'] : ['health'])),

    listUsers: async ({ offset, limit, status }) => {
      const answer = await get(['api', 'users'], { offset, limit, status: status || null });
      return { users: readUsers(answer), total: integerOr(fieldsOf(answer).total, null) };
    },
    listUsersOverLimit: async (limit) => readUsers(await get(['api', 'users', 'over-limit'], { limit, window: true })),
    searchUsers: async (query) => readUsers(await get(['api', 'users', 'search', query])),
    readUser: async (email) => readUserDetail(await get(['api', 'users', email]), email),

    listPunishments: async () => readPunishments(await get(['api', 'punishments']), 'punishments'),
    listHistory: async (query, limit) => readPunishments(await get(['api', 'history', query], { limit }), 'items'),
    ban: async ({ username, minutes, reason }) =>
      void (await post(['api', 'ban'], { username, minutes, reason: reason || null })),
    unban: async (userId) => void (await post(['api', 'punishments', userId, 'enable'])),
    addToWhitelist: async (username) => void (await post(['api', 'settings', 'whitelist', 'add'], { username })),
    removeFromWhitelist: async (username) => void (await post(['api', 'settings', 'whitelist', 'remove'], { username })),

    listNodes: async () => readNodes(await get(['api', 'nodes'], { include_agent_stats: true })),
    listAgents: async ({ search, health, status }) => {
      const filter = { search: search || null, health: health || null, status: status || null };
      return readAgents(await get(['api', 'agents'], { ...filter, sort_by: 'name', sort_order: 'asc' }));
    },
    readAgentsSummary: async () => readSummary(await get(['api', 'agents', 'summary'])),
    readAgentHistory: async (node, hours) =>
      readAgentHistory(await get(['api', 'agents', node, 'history'], { hours, limit: HISTORY_RECORDS }), { node, hours }),

    readTraffic: async () => readTraffic(await get(['api', 'traffic'])),
    listTopUsers: async (limit) => readTopUsers(await get(['api', 'traffic', 'top'], { limit })),
    listViolations: async (limit) => readViolations(await get(['api', 'traffic', 'violations'], { limit })),

    listSettings: async () => readSettings(await get(['api', 'settings'])),
    readSetting: settingNow,
    changeSetting: async (key, value) => {
      const answer = await post(['api', 'settings', key], { value });
      return hasValue(answer) ? readSetting(key, answer) : settingNow(key);
    },
    toggleSetting: async (key) => {
      const answer = await post(['api', 'settings', key, 'toggle']);
      return hasValue(answer) ? readSetting(key, answer, 'bool') : settingNow(key);
    },
  };
}
