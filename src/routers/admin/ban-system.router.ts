import {
  askBanSystem,
  BAN_SYSTEM_REFUSALS,
  banSystemDisabled,
  banSystemFailed,
  banUser,
  changeBanSetting,
  changeWhitelist,
  readBanStats,
  toggleBanSetting,
  unbanUser,
} from '../../domain/ban-system/change-bans.ts';
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

const get = (path: string, summary: string, description: string) => ({
  openapi: { method: 'GET' as const, path: `${ROOT}${path}` as const, tags, summary },
  description,
});
/** What asks the ban system. */
const ask = (path: string, summary: string, description: string) => ({
  ...get(path, summary, description),
  refuses: BAN_SYSTEM_REFUSALS,
});
const post = (path: string, summary: string, description: string) => ({
  openapi: { method: 'POST' as const, path: `${ROOT}${path}` as const, tags, summary },
  description,
});

const reader = adminProcedure('ban_system:read');
const editor = adminProcedure('ban_system:edit');

const done = (message: string) => ({ success: true, message });

export const adminBanSystemRouter = router({
  status: reader
    .meta(
      get(
        '/status',
        'Whether the ban system is set up',
        'Returns whether the integration is switched on and has an address and a token. Calls nothing outside.',
      ),
    )
    .output(toWire(BanSystemStatusResponse))
    .query(({ ctx }) => {
      const { isEnabled, isConfigured } = ctx.app.ports.banSystem.state();
      return { enabled: isEnabled, configured: isConfigured };
    }),

  stats: reader
    .meta({
      ...get(
        '/stats',
        'The ban system in numbers',
        'Reads users, requests, bans, nodes and agents of the ban system in numbers.',
      ),
      refuses: [...BAN_SYSTEM_REFUSALS, banSystemFailed],
    })
    .output(toWire(BanSystemStatsResponse))
    .query(({ ctx }) => readBanStats(ctx.app)),

  rawStats: reader
    .meta({
      ...get(
        '/stats/raw',
        'The numbers as the ban system gives them',
        'Reads the same numbers as the ban system gives them, under `raw_response`.',
      ),
      refuses: [...BAN_SYSTEM_REFUSALS, banSystemFailed],
    })
    .output(FreeForm)
    .query(async ({ ctx }) => ({ raw_response: await askBanSystem(ctx.app, (ban) => ban.readRawStats()) })),

  report: reader
    .meta(ask('/report', 'Bans of the last hours', 'Reads users, addresses and bans of the last hours.'))
    .input(fromWire(BanReportQuery))
    .output(toWire(BanReportResponse))
    .query(async ({ ctx, input: { hours } }) => {
      const report = await askBanSystem(ctx.app, (ban) => ban.readReport(hours));
      return { ...report, periodHours: hours };
    }),

  health: reader
    .meta(ask('/health', 'Health of the ban system', 'Reads the health of the ban system as a list of components.'))
    .output(toWire(BanHealthResponse))
    .query(({ ctx }) => askBanSystem(ctx.app, (ban) => ban.readHealth(false))),

  healthDetailed: reader
    .meta(
      ask(
        '/health/detailed',
        'Health of the parts of the ban system',
        'Reads the health with the components as the ban system gives them.',
      ),
    )
    .output(toWire(BanHealthDetailedResponse))
    .query(async ({ ctx }) => {
      const { status, uptime, rawComponents } = await askBanSystem(ctx.app, (ban) => ban.readHealth(true));
      return { status, uptime, components: rawComponents };
    }),

  users: reader
    .meta({
      ...get('/users', 'List the users of the ban system', 'Lists the users that the ban system knows, page by page.'),
      refuses: [...BAN_SYSTEM_REFUSALS, banSystemFailed],
    })
    .input(fromWire(BanUsersQuery))
    .output(toWire(BanUsersListResponse))
    .query(async ({ ctx, input: { offset, limit, status = null } }) => {
      const { users, total } = await askBanSystem(ctx.app, (ban) => ban.listUsers({ offset, limit, status }));
      return { users, total: total ?? users.length, offset, limit };
    }),

  usersOverLimit: reader
    .meta(
      ask(
        '/users/over-limit',
        'List users with too many addresses',
        'Lists users with more addresses at the same time than their limit.',
      ),
    )
    .input(fromWire(BanOverLimitQuery))
    .output(toWire(BanUsersListResponse))
    .query(async ({ ctx, input: { limit } }) => {
      const found = await askBanSystem(ctx.app, (ban) => ban.listUsersOverLimit(limit));
      const users = found.map((user) => ({ ...user, isOverLimit: true }));
      return { users, total: users.length, offset: 0, limit };
    }),

  searchUsers: reader
    .meta(ask('/users/search/{query}', 'Find users of the ban system', 'Finds users of the ban system by a part of their name.'))
    .input(fromWire(BanSearchPath))
    .output(toWire(BanUsersListResponse))
    .query(async ({ ctx, input: { query } }) => {
      const users = await askBanSystem(ctx.app, (ban) => ban.searchUsers(query));
      return { users, total: users.length, offset: 0, limit: SEARCH_LIMIT };
    }),

  user: reader
    .meta({
      ...get('/users/{email}', 'Addresses and requests of a user', 'Reads the addresses and the latest requests of a user.'),
      refuses: [...BAN_SYSTEM_REFUSALS, banSystemFailed],
    })
    .input(fromWire(BanEmailPath))
    .output(toWire(BanUserDetailResponse))
    .query(({ ctx, input: { email } }) => askBanSystem(ctx.app, (ban) => ban.readUser(email))),

  userHistory: reader
    .meta(ask('/users/{email}/history', 'Bans of a user', 'Lists former and current bans of a user.'))
    .input(fromWire(BanUserHistoryQuery))
    .output(toWire(BanHistoryResponse))
    .query(async ({ ctx, input: { email, limit } }) => {
      const items = await askBanSystem(ctx.app, (ban) => ban.listHistory(email, limit));
      return { items, total: items.length };
    }),

  history: reader
    .meta(ask('/history/{query}', 'Bans by e-mail or name', 'Lists former and current bans by e-mail or name.'))
    .input(fromWire(BanHistoryQuery))
    .output(toWire(BanHistoryResponse))
    .query(async ({ ctx, input: { query, limit } }) => {
      const items = await askBanSystem(ctx.app, (ban) => ban.listHistory(query, limit));
      return { items, total: items.length };
    }),

  punishments: reader
    .meta(ask('/punishments', 'List the current bans', 'Lists the bans that are in force. A ban without a moment is left out.'))
    .output(toWire(BanPunishmentsListResponse))
    .query(async ({ ctx }) => {
      const punishments = await askBanSystem(ctx.app, (ban) => ban.listPunishments());
      return { punishments, total: punishments.length };
    }),

  unban: adminProcedure('ban_system:unban')
    .meta({
      ...post(
        '/punishments/{user_id}/unban',
        'End a ban',
        'Ends the ban of a user. Is sent to the ban system once and recorded in the audit log.',
      ),
      refuses: [banSystemFailed, banSystemDisabled],
    })
    .input(fromWire(BanPunishmentPath))
    .output(toWire(UnbanResponse))
    .mutation(async ({ ctx, input: { userId } }) => {
      await unbanUser(ctx.app, userId);
      return done('User unbanned successfully');
    }),

  ban: adminProcedure('ban_system:ban')
    .meta({
      ...post(
        '/ban',
        'Ban a user',
        'Bans a user for some minutes. Is sent to the ban system once and recorded in the audit log.',
      ),
      refuses: [banSystemFailed, banSystemDisabled],
    })
    .input(fromWire(BanUserRequest))
    .output(toWire(UnbanResponse))
    .mutation(async ({ ctx, input }) => {
      await banUser(ctx.app, input);
      return done('User banned successfully');
    }),

  nodes: reader
    .meta(ask('/nodes', 'List the nodes of the ban system', 'Lists the nodes with the numbers of their agents.'))
    .output(toWire(BanNodesListResponse))
    .query(async ({ ctx }) => {
      const nodes = await askBanSystem(ctx.app, (ban) => ban.listNodes());
      return { nodes, total: nodes.length, online: nodes.filter(({ isConnected }) => isConnected).length };
    }),

  agents: reader
    .meta(ask('/agents', 'List the agents on the nodes', 'Lists the agents that report connections, by name of the node.'))
    .input(fromWire(BanAgentsQuery))
    .output(toWire(BanAgentsListResponse))
    .query(async ({ ctx, input }) => {
      const { agents, summary } = await askBanSystem(ctx.app, (ban) => ban.listAgents(input));
      return { agents, summary, total: agents.length, online: agents.filter(({ isOnline }) => isOnline).length };
    }),

  agentsSummary: reader
    .meta(ask('/agents/summary', 'All agents in numbers', 'Reads the numbers of all agents together.'))
    .output(toWire(BanAgentsSummary))
    .query(({ ctx }) => askBanSystem(ctx.app, (ban) => ban.readAgentsSummary())),

  agentHistory: reader
    .meta(
      ask(
        '/agents/{node_name}/history',
        'Readings of an agent',
        'Reads the latest 50 readings of an agent, and what they changed by.',
      ),
    )
    .input(fromWire(BanAgentHistoryQuery))
    .output(toWire(BanAgentHistoryResponse))
    .query(({ ctx, input: { nodeName, hours } }) => askBanSystem(ctx.app, (ban) => ban.readAgentHistory(nodeName, hours))),

  traffic: reader
    .meta(
      ask(
        '/traffic',
        'Traffic that the ban system watches',
        'Reads users with the most traffic and the latest violations together.',
      ),
    )
    .output(toWire(BanTrafficResponse))
    .query(({ ctx }) => askBanSystem(ctx.app, (ban) => ban.readTraffic())),

  topTraffic: reader
    .meta(ask('/traffic/top', 'Users with the most traffic', 'Lists the users with the most traffic.'))
    .input(fromWire(BanTopQuery))
    .output(toWire(BanTrafficTopItem.array()))
    .query(({ ctx, input: { limit } }) => askBanSystem(ctx.app, (ban) => ban.listTopUsers(limit))),

  trafficViolations: reader
    .meta(ask('/traffic/violations', 'List violations of traffic limits', 'Lists violations of traffic limits.'))
    .input(fromWire(BanViolationsQuery))
    .output(toWire(BanTrafficViolationsResponse))
    .query(async ({ ctx, input: { limit } }) => {
      const violations = await askBanSystem(ctx.app, (ban) => ban.listViolations(limit));
      return { violations, total: violations.length };
    }),

  settings: reader
    .meta(ask('/settings', 'List the settings of the ban system', 'Lists the settings of the ban system in its order.'))
    .output(toWire(BanSettingsResponse))
    .query(async ({ ctx }) => ({ settings: await askBanSystem(ctx.app, (ban) => ban.listSettings()) })),

  setting: reader
    .meta({
      ...get('/settings/{key}', 'One setting of the ban system', 'Reads one setting of the ban system.'),
      refuses: [...BAN_SYSTEM_REFUSALS, banSystemFailed],
    })
    .input(fromWire(BanSettingPath))
    .output(toWire(BanSettingDefinition))
    .query(({ ctx, input: { key } }) => askBanSystem(ctx.app, (ban) => ban.readSetting(key))),

  changeSetting: editor
    .meta({
      ...post(
        '/settings/{key}',
        'Change a setting of the ban system',
        'Changes a setting at the ban system, which reads the text by the type of the setting, and returns what it is then. Repeating the call changes nothing.',
      ),
      refuses: [banSystemFailed],
      wire: { query: ['value'] },
      // It may be a secret; what became of it is recorded beside its key.
      audit: { hide: ['value'] },
    })
    .input(fromWire(BanSettingChange))
    .output(toWire(BanSettingDefinition))
    .mutation(({ ctx, input: { key, value } }) => changeBanSetting(ctx.app, key, value)),

  toggleSetting: editor
    .meta({
      ...post(
        '/settings/{key}/toggle',
        'Switch a setting of the ban system',
        'Switches a setting that is a boolean and returns what it is then.',
      ),
      refuses: [banSystemFailed, banSystemDisabled],
    })
    .input(fromWire(BanSettingPath))
    .output(toWire(BanSettingDefinition))
    .mutation(({ ctx, input: { key } }) => toggleBanSetting(ctx.app, key)),

  addToWhitelist: editor
    .meta({
      ...post(
        '/settings/whitelist/add',
        'Exempt a user from bans',
        'Exempts a user from bans. Repeating the call changes nothing.',
      ),
      refuses: [banSystemFailed, banSystemDisabled],
    })
    .input(fromWire(BanWhitelistRequest))
    .output(toWire(UnbanResponse))
    .mutation(async ({ ctx, input: { username } }) => {
      await changeWhitelist(ctx.app, username, true);
      return done(`User ${username} added to whitelist`);
    }),

  removeFromWhitelist: editor
    .meta({
      ...post(
        '/settings/whitelist/remove',
        'End the exemption of a user',
        'Ends the exemption of a user. Repeating the call changes nothing.',
      ),
      refuses: [banSystemFailed, banSystemDisabled],
    })
    .input(fromWire(BanWhitelistRequest))
    .output(toWire(UnbanResponse))
    .mutation(async ({ ctx, input: { username } }) => {
      await changeWhitelist(ctx.app, username, false);
      return done(`User ${username} removed from whitelist`);
    }),
});
