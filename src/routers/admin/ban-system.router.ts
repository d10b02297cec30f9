import { askBanSystem, readBanStats } from '../../domain/ban-system/ask-ban-system.ts';
import { banUser, changeBanSetting, changeWhitelist, toggleBanSetting, unbanUser } from '../../domain/ban-system/change-bans.ts';
import { FreeForm } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  BanAgentHistoryQuery,
  BanAgentHistoryResponse,
  BanAgentsListResponse,
  BanAgentsQuery,
  BanAgentsSummary,
  BanEmailPath,
  BanHealthDetailedResponse,
  BanHealthResponse,
  BanHistoryQuery,
  BanHistoryResponse,
  BanNodesListResponse,
  BanOverLimitQuery,
  BanPunishmentPath,
  BanPunishmentsListResponse,
  BanReportQuery,
  BanReportResponse,
  BanSearchPath,
  BanSettingChange,
  BanSettingDefinition,
  BanSettingPath,
  BanSettingsResponse,
  BanSystemStatsResponse,
  BanSystemStatusResponse,
  BanTopQuery,
  BanTrafficResponse,
  BanTrafficTopItem,
  BanTrafficViolationsResponse,
  BanUserDetailResponse,
  BanUserHistoryQuery,
  BanUserRequest,
  BanUsersListResponse,
  BanUsersQuery,
  BanViolationsQuery,
  BanWhitelistRequest,
  UnbanResponse,
} from './ban-system.schemas.ts';

const tags: [string] = ['Cabinet Admin Ban System'];
const ROOT = '/cabinet/admin/ban-system';
const SEARCH_LIMIT = 100;

const get = (path: string, summary: string) => ({
  openapi: { method: 'GET' as const, path: `${ROOT}${path}` as const, tags, summary },
});
const post = (path: string, summary: string) => ({
  openapi: { method: 'POST' as const, path: `${ROOT}${path}` as const, tags, summary },
});

const reader = adminProcedure('ban_system:read');
const editor = adminProcedure('ban_system:edit');

const done = (message: string) => ({ success: true, message });

export const adminBanSystemRouter = router({
  status: reader
    .meta(get('/status', 'Whether the ban system is set up'))
    .output(toWire(BanSystemStatusResponse))
    .query(({ ctx }) => {
      const { isEnabled, isConfigured } = ctx.app.ports.banSystem.state();
      return { enabled: isEnabled, configured: isConfigured };
    }),

  stats: reader
    .meta(get('/stats', 'The ban system in numbers'))
    .output(toWire(BanSystemStatsResponse))
    .query(({ ctx }) => readBanStats(ctx.app)),

  rawStats: reader
    .meta(get('/stats/raw', 'The numbers as the ban system gives them'))
    .output(FreeForm)
    .query(async ({ ctx }) => ({ raw_response: await askBanSystem(ctx.app, (ban) => ban.readRawStats()) })),

  report: reader
    .meta(get('/report', 'Bans of the last hours'))
    .input(fromWire(BanReportQuery))
    .output(toWire(BanReportResponse))
    .query(async ({ ctx, input: { hours } }) => {
      const report = await askBanSystem(ctx.app, (ban) => ban.readReport(hours));
      return { ...report, periodHours: hours };
    }),

  health: reader
    .meta(get('/health', 'Health of the ban system'))
    .output(toWire(BanHealthResponse))
    .query(({ ctx }) => askBanSystem(ctx.app, (ban) => ban.readHealth(false))),

  healthDetailed: reader
    .meta(get('/health/detailed', 'Health of the parts of the ban system'))
    .output(toWire(BanHealthDetailedResponse))
    .query(async ({ ctx }) => {
      const { status, uptime, rawComponents } = await askBanSystem(ctx.app, (ban) => ban.readHealth(true));
      return { status, uptime, components: rawComponents };
    }),

  users: reader
    .meta(get('/users', 'List the users of the ban system'))
    .input(fromWire(BanUsersQuery))
    .output(toWire(BanUsersListResponse))
    .query(async ({ ctx, input: { offset, limit, status = null } }) => {
      const { users, total } = await askBanSystem(ctx.app, (ban) => ban.listUsers({ offset, limit, status }));
      return { users, total: total ?? users.length, offset, limit };
    }),

  usersOverLimit: reader
    .meta(get('/users/over-limit', 'List users with too many addresses'))
    .input(fromWire(BanOverLimitQuery))
    .output(toWire(BanUsersListResponse))
    .query(async ({ ctx, input: { limit } }) => {
      const found = await askBanSystem(ctx.app, (ban) => ban.listUsersOverLimit(limit));
      const users = found.map((user) => ({ ...user, isOverLimit: true }));
      return { users, total: users.length, offset: 0, limit };
    }),

  searchUsers: reader
    .meta(get('/users/search/{query}', 'Find users of the ban system'))
    .input(fromWire(BanSearchPath))
    .output(toWire(BanUsersListResponse))
    .query(async ({ ctx, input: { query } }) => {
      const users = await askBanSystem(ctx.app, (ban) => ban.searchUsers(query));
      return { users, total: users.length, offset: 0, limit: SEARCH_LIMIT };
    }),

  user: reader
    .meta(get('/users/{email}', 'Addresses and requests of a user'))
    .input(fromWire(BanEmailPath))
    .output(toWire(BanUserDetailResponse))
    .query(({ ctx, input: { email } }) => askBanSystem(ctx.app, (ban) => ban.readUser(email))),

  userHistory: reader
    .meta(get('/users/{email}/history', 'Bans of a user'))
    .input(fromWire(BanUserHistoryQuery))
    .output(toWire(BanHistoryResponse))
    .query(async ({ ctx, input: { email, limit } }) => {
      const items = await askBanSystem(ctx.app, (ban) => ban.listHistory(email, limit));
      return { items, total: items.length };
    }),

  history: reader
    .meta(get('/history/{query}', 'Bans by e-mail or name'))
    .input(fromWire(BanHistoryQuery))
    .output(toWire(BanHistoryResponse))
    .query(async ({ ctx, input: { query, limit } }) => {
      const items = await askBanSystem(ctx.app, (ban) => ban.listHistory(query, limit));
      return { items, total: items.length };
    }),

  punishments: reader
    .meta(get('/punishments', 'List the current bans'))
    .output(toWire(BanPunishmentsListResponse))
    .query(async ({ ctx }) => {
      const punishments = await askBanSystem(ctx.app, (ban) => ban.listPunishments());
      return { punishments, total: punishments.length };
    }),

  unban: adminProcedure('ban_system:unban')
    .meta(post('/punishments/{user_id}/unban', 'End a ban'))
    .input(fromWire(BanPunishmentPath))
    .output(toWire(UnbanResponse))
    .mutation(async ({ ctx, input: { userId } }) => {
      await unbanUser(ctx.app, userId);
      return done('User unbanned successfully');
    }),

  ban: adminProcedure('ban_system:ban')
    .meta(post('/ban', 'Ban a user'))
    .input(fromWire(BanUserRequest))
    .output(toWire(UnbanResponse))
    .mutation(async ({ ctx, input }) => {
      await banUser(ctx.app, input);
      return done('User banned successfully');
    }),

  nodes: reader
    .meta(get('/nodes', 'List the nodes of the ban system'))
    .output(toWire(BanNodesListResponse))
    .query(async ({ ctx }) => {
      const nodes = await askBanSystem(ctx.app, (ban) => ban.listNodes());
      return { nodes, total: nodes.length, online: nodes.filter(({ isConnected }) => isConnected).length };
    }),

  agents: reader
    .meta(get('/agents', 'List the agents on the nodes'))
    .input(fromWire(BanAgentsQuery))
    .output(toWire(BanAgentsListResponse))
    .query(async ({ ctx, input }) => {
      const { agents, summary } = await askBanSystem(ctx.app, (ban) => ban.listAgents(input));
      return { agents, summary, total: agents.length, online: agents.filter(({ isOnline }) => isOnline).length };
    }),

  agentsSummary: reader
    .meta(get('/agents/summary', 'All agents in numbers'))
    .output(toWire(BanAgentsSummary))
    .query(({ ctx }) => askBanSystem(ctx.app, (ban) => ban.readAgentsSummary())),

  agentHistory: reader
    .meta(get('/agents/{node_name}/history', 'Readings of an agent'))
    .input(fromWire(BanAgentHistoryQuery))
    .output(toWire(BanAgentHistoryResponse))
    .query(({ ctx, input: { nodeName, hours } }) => askBanSystem(ctx.app, (ban) => ban.readAgentHistory(nodeName, hours))),

  traffic: reader
    .meta(get('/traffic', 'Traffic that the ban system watches'))
    .output(toWire(BanTrafficResponse))
    .query(({ ctx }) => askBanSystem(ctx.app, (ban) => ban.readTraffic())),

  topTraffic: reader
    .meta(get('/traffic/top', 'Users with the most traffic'))
    .input(fromWire(BanTopQuery))
    .output(toWire(BanTrafficTopItem.array()))
    .query(({ ctx, input: { limit } }) => askBanSystem(ctx.app, (ban) => ban.listTopUsers(limit))),

  trafficViolations: reader
    .meta(get('/traffic/violations', 'List violations of traffic limits'))
    .input(fromWire(BanViolationsQuery))
    .output(toWire(BanTrafficViolationsResponse))
    .query(async ({ ctx, input: { limit } }) => {
      const violations = await askBanSystem(ctx.app, (ban) => ban.listViolations(limit));
      return { violations, total: violations.length };
    }),

  settings: reader
    .meta(get('/settings', 'List the settings of the ban system'))
    .output(toWire(BanSettingsResponse))
    .query(async ({ ctx }) => ({ settings: await askBanSystem(ctx.app, (ban) => ban.listSettings()) })),

  setting: reader
    .meta(get('/settings/{key}', 'One setting of the ban system'))
    .input(fromWire(BanSettingPath))
    .output(toWire(BanSettingDefinition))
    .query(({ ctx, input: { key } }) => askBanSystem(ctx.app, (ban) => ban.readSetting(key))),

  changeSetting: editor
    .meta({
      ...post('/settings/{key}', 'Change a setting of the ban system'),
      wire: { query: ['value'] },
      // It may be a secret; what became of it is recorded beside its key.
      audit: { hide: ['value'] },
    })
    .input(fromWire(BanSettingChange))
    .output(toWire(BanSettingDefinition))
    .mutation(({ ctx, input: { key, value } }) => changeBanSetting(ctx.app, key, value)),

  toggleSetting: editor
    .meta(post('/settings/{key}/toggle', 'Switch a setting of the ban system'))
    .input(fromWire(BanSettingPath))
    .output(toWire(BanSettingDefinition))
    .mutation(({ ctx, input: { key } }) => toggleBanSetting(ctx.app, key)),

  addToWhitelist: editor
    .meta(post('/settings/whitelist/add', 'Exempt a user from bans'))
    .input(fromWire(BanWhitelistRequest))
    .output(toWire(UnbanResponse))
    .mutation(async ({ ctx, input: { username } }) => {
      await changeWhitelist(ctx.app, username, true);
      return done(`User ${username} added to whitelist`);
    }),

  removeFromWhitelist: editor
    .meta(post('/settings/whitelist/remove', 'End the exemption of a user'))
    .input(fromWire(BanWhitelistRequest))
    .output(toWire(UnbanResponse))
    .mutation(async ({ ctx, input: { username } }) => {
      await changeWhitelist(ctx.app, username, false);
      return done(`User ${username} removed from whitelist`);
    }),
});
