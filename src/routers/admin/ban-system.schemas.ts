import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Ban System`. */

/** `.` and `..` would change the path of the call to the ban system (spec 06 section 17, hazard 14). */
const PathText = z
  .string()
  .refine(
    (text) => !['', '.', '..'].includes(text) && !/\p{Cc}/u.test(text),
    'must not be empty, . or .., and have no control characters',
  );

/** Control characters and spans of years mean nothing to the ban system (spec 10 O10). */
const plainText = (limits: z.ZodString) => limits.refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters');
const MAX_BAN_MINUTES = 10 * 365 * 24 * 60;
const BanMinutes = z
  .int()
  .min(1)
  .refine((minutes) => minutes <= MAX_BAN_MINUTES, `must be at most ${MAX_BAN_MINUTES}`);

const limitOf = (otherwise: number) => z.int().min(1).max(100).default(otherwise);
const hours = z.int().min(1).max(168).default(24);
const count = z.int().default(0);
const text = z.string().nullish();
const timestamp = Timestamp.nullish();
const freeForm = z.record(z.string(), z.unknown());

export const BanUsersQuery = z.object({
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: limitOf(50).describe('Greatest number of records in the answer.'),
  status: z.string().nullish().describe('`over_limit`, `with_limit` or `unlimited`; null = all. Passed on unchecked.'),
});
export const BanOverLimitQuery = z.object({ limit: limitOf(50).describe('Greatest number of records in the answer.') });
export const BanSearchPath = z.object({ query: PathText.describe('Part of the name of the user in the ban system.') });
export const BanHistoryQuery = BanSearchPath.extend({ limit: limitOf(20).describe('Greatest number of records in the answer.') });
export const BanEmailPath = z.object({
  email: PathText.describe('Name of the user in the ban system, mostly an e-mail address.'),
});
export const BanUserHistoryQuery = BanEmailPath.extend({
  limit: limitOf(20).describe('Greatest number of records in the answer.'),
});
export const BanPunishmentPath = z.object({
  user_id: PathText.describe('Id of the user in the ban system, from the list of bans.'),
});
export const BanAgentsQuery = z.object({
  search: z.string().nullish().describe('Part of the name of the node; null = all.'),
  health: z.string().nullish().describe('`healthy`, `warning` or `critical`; null = all. Passed on unchecked.'),
  status: z.string().nullish().describe('`online` or `offline`; null = all. Passed on unchecked.'),
});
export const BanAgentHistoryQuery = z.object({
  node_name: PathText.describe('Name of the node.'),
  hours: hours.describe('Length of the period in hours.'),
});
export const BanTopQuery = z.object({ limit: limitOf(20).describe('Greatest number of records in the answer.') });
export const BanViolationsQuery = z.object({ limit: limitOf(50).describe('Greatest number of records in the answer.') });
export const BanReportQuery = z.object({ hours: hours.describe('Length of the period in hours.') });
export const BanSettingPath = z.object({ key: PathText.describe('Name of a setting of the ban system.') });
export const BanSettingChange = BanSettingPath.extend({ value: plainText(z.string()).describe('New value as text.') });

export const BanUserRequest = z
  .object({
    username: plainText(z.string().min(1)).describe('Name of the user in the ban system.'),
    minutes: BanMinutes.default(30).describe('Length of the ban in minutes.'),
    reason: z
      .string()
      .max(500)
      .refine((text) => !/[^\P{Cc}\t\n\r]/u.test(text), 'must not contain control characters')
      .nullish()
      .describe('Reason; null or blank = none.'),
  })
  .meta({ id: 'BanUserRequest', example: { username: 'anna_k', minutes: 30, reason: 'Too many addresses' } });

export const BanWhitelistRequest = z
  .object({ username: plainText(z.string().min(1)).describe('Name of the user in the ban system.') })
  .meta({ id: 'BanWhitelistRequest', example: { username: 'anna_k' } });

export const BanSystemStatusResponse = z
  .object({
    enabled: z.boolean().describe('Whether `BAN_SYSTEM_ENABLED` is on.'),
    configured: z.boolean().describe('Whether address and token are set.'),
  })
  .meta({ id: 'BanSystemStatusResponse' });

export const BanSystemStatsResponse = z
  .object({
    total_users: count.describe('Number of users that it knows.'),
    active_users: count.describe('Number of users with a limit of addresses.'),
    users_over_limit: count.describe('Number of users over their limit.'),
    total_requests: count.describe('Number of requests that it has seen.'),
    total_punishments: count.describe('Number of bans so far.'),
    active_punishments: count.describe('Number of bans in force.'),
    nodes_online: count.describe('Number of connected nodes.'),
    nodes_total: count.describe('Number of nodes.'),
    agents_online: count.describe('Number of connected agents, one on each node.'),
    agents_total: count.describe('Number of agents.'),
    panel_connected: z.boolean().default(false).describe('Whether it has read the users of the panel.'),
    uptime_seconds: z.int().nullish().describe('Seconds since it began to count requests; null when unknown.'),
  })
  .meta({ id: 'BanSystemStatsResponse' });

const banUser = {
  email: z.string().describe('Name of the user in the ban system, mostly an e-mail address.'),
  unique_ip_count: count.describe('Number of addresses at the same time.'),
  total_requests: count.describe('Number of requests.'),
  limit: z.int().nullish().describe('Greatest number of addresses at the same time; null = unlimited.'),
  is_over_limit: z.boolean().default(false).describe('Whether there are more addresses than the limit.'),
  blocked_count: count.describe('Number of bans so far.'),
};

const BanUserListItem = z
  .object({ ...banUser, last_seen: timestamp.describe('Last request (UTC); null when unknown.') })
  .meta({ id: 'BanUserListItem' });

export const BanUsersListResponse = z
  .object({
    users: BanUserListItem.array().default([]).describe('Users of the page.'),
    total: count.describe('Number of users, or of those in the answer where the ban system does not count.'),
    offset: count.describe('Number of users before the page.'),
    limit: z.int().default(50).describe('Greatest number of users in the answer.'),
  })
  .meta({ id: 'BanUsersListResponse' });

const BanUserIPInfo = z
  .object({
    ip: z.string().describe('IP address.'),
    first_seen: timestamp.describe('First request (UTC); null when unknown.'),
    last_seen: timestamp.describe('Last request (UTC); null when unknown.'),
    node: text.describe('Name of the node; null when unknown.'),
    request_count: count.describe('Number of requests.'),
    country_code: text.describe('Country, two letters; null when unknown.'),
    country_name: text.describe('Name of the country; null when unknown.'),
    city: text.describe('Name of the city; null when unknown.'),
  })
  .meta({ id: 'BanUserIPInfo' });

const BanUserRequestLog = z
  .object({
    timestamp: Timestamp.describe('When (UTC).'),
    source_ip: z.string().describe('IP address of the user.'),
    destination: text.describe('Where it went to; null when unknown.'),
    dest_port: z.int().nullish().describe('Port there; null when unknown.'),
    protocol: text.describe('Protocol; null when unknown.'),
    action: text.describe('What became of it; null when unknown.'),
    node: text.describe('Name of the node; null when unknown.'),
  })
  .meta({ id: 'BanUserRequestLog' });

export const BanUserDetailResponse = z
  .object({
    ...banUser,
    ips: BanUserIPInfo.array().default([]).describe('Addresses of the user.'),
    recent_requests: BanUserRequestLog.array().default([]).describe('Latest requests.'),
    network_type: text.describe('Kind of network as the ban system names it; null when unknown.'),
  })
  .meta({ id: 'BanUserDetailResponse' });

const BanPunishmentItem = z
  .object({
    id: z.int().nullish().describe('Number of the ban; null when unknown.'),
    user_id: z.string().describe('Id of the user in the ban system.'),
    uuid: text.describe('UUID of the user in the panel; null when unknown.'),
    username: z.string().describe('Name of the user in the ban system.'),
    reason: text.describe('Reason; null without one.'),
    punished_at: Timestamp.describe('Beginning (UTC).'),
    enable_at: timestamp.describe('Planned end (UTC); null when unknown.'),
    ip_count: count.describe('Number of addresses that led to it.'),
    limit: count.describe('Limit of addresses at that time.'),
    enabled: z.boolean().default(false).describe('Whether the user has access again.'),
    enabled_at: timestamp.describe('When the user got access again (UTC); null before.'),
    node_name: text.describe('Name of the node; null when unknown.'),
  })
  .meta({ id: 'BanPunishmentItem' });

export const BanPunishmentsListResponse = z
  .object({
    punishments: BanPunishmentItem.array().default([]).describe('Bans in force.'),
    total: count.describe('Number of bans in the answer.'),
  })
  .meta({ id: 'BanPunishmentsListResponse' });

export const BanHistoryResponse = z
  .object({
    items: BanPunishmentItem.array().default([]).describe('Bans, former and current.'),
    total: count.describe('Number of bans in the answer.'),
  })
  .meta({ id: 'BanHistoryResponse' });

export const UnbanResponse = z
  .object({ success: z.boolean().describe('Always true.'), message: z.string().describe('What was done, in English.') })
  .meta({ id: 'UnbanResponse' });

const BanNodeItem = z
  .object({
    name: z.string().describe('Name of the node in the ban system.'),
    address: text.describe('Address; null when unknown.'),
    is_connected: z.boolean().default(false).describe('Whether its agent is connected.'),
    last_seen: timestamp.describe('Last report (UTC); null when unknown.'),
    users_count: count.describe('Number of users.'),
    agent_stats: freeForm.nullish().describe('Numbers of the agent as the ban system gives them; null when unknown.'),
  })
  .meta({ id: 'BanNodeItem' });

export const BanNodesListResponse = z
  .object({
    nodes: BanNodeItem.array().default([]).describe('Nodes.'),
    total: count.describe('Number of nodes.'),
    online: count.describe('Number of connected nodes.'),
  })
  .meta({ id: 'BanNodesListResponse' });

const BanAgentItem = z
  .object({
    node_name: z.string().describe('Name of the node.'),
    sent_total: count.describe('Number of reports sent.'),
    dropped_total: count.describe('Number of reports that were lost.'),
    batches_total: count.describe('Number of packages sent.'),
    reconnects: count.describe('Number of new connections to the ban system.'),
    failures: count.describe('Number of failed reports.'),
    queue_size: count.describe('Number of reports that wait.'),
    queue_max: count.describe('Greatest number of reports that waited.'),
    dedup_checked: count.describe('Number of reports checked for repetition; 0 where it is not counted.'),
    dedup_skipped: count.describe('Number of repeated reports left out; 0 where it is not counted.'),
    filter_checked: count.describe('Number of reports checked by filters; 0 where it is not counted.'),
    filter_filtered: count.describe('Number of reports left out by filters; 0 where it is not counted.'),
    health: z
      .string()
      .default('unknown')
      .describe('Health as the ban system names it, such as `healthy`, `warning`, `critical` or `unknown`.'),
    is_online: z.boolean().default(false).describe('Whether the agent is connected.'),
    last_report: timestamp.describe('Last report (UTC); null when unknown.'),
  })
  .meta({ id: 'BanAgentItem' });

export const BanAgentsSummary = z
  .object({
    total_agents: count.describe('Number of agents.'),
    online_agents: count.describe('Number of connected agents.'),
    total_sent: count.describe('Number of reports sent.'),
    total_dropped: count.describe('Number of reports that were lost.'),
    avg_queue_size: z.number().default(0).describe('Average number of reports that wait.'),
    healthy_count: count.describe('Number of healthy agents.'),
    warning_count: count.describe('Number of agents with a warning.'),
    critical_count: count.describe('Number of agents in a critical state.'),
  })
  .meta({ id: 'BanAgentsSummary' });

export const BanAgentsListResponse = z
  .object({
    agents: BanAgentItem.array().default([]).describe('Agents.'),
    summary: BanAgentsSummary.nullish().describe('Numbers of all agents; null when the ban system gives none.'),
    total: count.describe('Number of agents in the answer.'),
    online: count.describe('Number of connected agents in the answer.'),
  })
  .meta({ id: 'BanAgentsListResponse' });

const BanAgentHistoryItem = z
  .object({
    timestamp: Timestamp.describe('When (UTC).'),
    sent_total: count.describe('Number of reports sent.'),
    dropped_total: count.describe('Number of reports that were lost.'),
    queue_size: count.describe('Number of reports that wait.'),
    batches_total: count.describe('Number of packages sent.'),
  })
  .meta({ id: 'BanAgentHistoryItem' });

export const BanAgentHistoryResponse = z
  .object({
    node: z.string().describe('Name of the node.'),
    hours: z.int().default(24).describe('Length of the period in hours.'),
    records: count.describe('Number of readings.'),
    delta: freeForm.nullish().describe('Change over the period as the ban system gives it; null without one.'),
    first: freeForm.nullish().describe('First reading as the ban system gives it; null without one.'),
    last: freeForm.nullish().describe('Last reading as the ban system gives it; null without one.'),
    history: BanAgentHistoryItem.array().default([]).describe('Readings.'),
  })
  .meta({ id: 'BanAgentHistoryResponse' });

export const BanTrafficTopItem = z
  .object({
    username: z.string().describe('Name of the user in the ban system.'),
    bytes_total: count.describe('Traffic in bytes.'),
    bytes_limit: z.int().nullish().describe('Limit in bytes; null = none.'),
    over_limit: z.boolean().default(false).describe('Whether the limit is exceeded.'),
  })
  .meta({ id: 'BanTrafficTopItem' });

const BanTrafficViolationItem = z
  .object({
    id: z.int().nullish().describe('Number of the violation; null when unknown.'),
    username: z.string().describe('Name of the user in the ban system.'),
    email: text.describe('E-mail address; null when unknown.'),
    violation_type: z.string().describe('Kind of the violation as the ban system names it.'),
    description: text.describe('Description; null without one.'),
    bytes_used: count.describe('Traffic in bytes.'),
    bytes_limit: count.describe('Limit in bytes.'),
    detected_at: Timestamp.describe('When it was found (UTC).'),
    resolved: z.boolean().default(false).describe('Whether it is settled.'),
  })
  .meta({ id: 'BanTrafficViolationItem' });

export const BanTrafficViolationsResponse = z
  .object({
    violations: BanTrafficViolationItem.array().default([]).describe('Violations.'),
    total: count.describe('Number of violations in the answer.'),
  })
  .meta({ id: 'BanTrafficViolationsResponse' });

export const BanTrafficResponse = z
  .object({
    enabled: z.boolean().default(false).describe('Whether the ban system watches traffic.'),
    stats: freeForm.nullish().describe('Numbers as the ban system gives them; null without any.'),
    top_users: BanTrafficTopItem.array().default([]).describe('Users with the most traffic.'),
    recent_violations: BanTrafficViolationItem.array().default([]).describe('Latest violations.'),
  })
  .meta({ id: 'BanTrafficResponse' });

export const BanSettingDefinition = z
  .object({
    key: z.string().describe('Name of the setting.'),
    value: z.unknown().describe('Value, of the type that the ban system gives.'),
    type: z.string().describe('Type of the value: `bool`, `int`, `float`, `list`, `str` or another word of the ban system.'),
    min_value: z.int().nullish().describe('Smallest value; null without a bound.'),
    max_value: z.int().nullish().describe('Greatest value; null without a bound.'),
    editable: z.boolean().default(true).describe('Whether it can be changed.'),
    description: text.describe('Description; null without one.'),
    category: text.describe('Category; null without one.'),
  })
  .meta({ id: 'BanSettingDefinition' });

export const BanSettingsResponse = z
  .object({ settings: BanSettingDefinition.array().default([]).describe('Settings in the order of the ban system.') })
  .meta({ id: 'BanSettingsResponse' });

const BanReportTopViolator = z
  .object({
    username: z.string().describe('Name of the user in the ban system.'),
    count: count.describe('Number of bans of the user in the period of the report.'),
  })
  .meta({ id: 'BanReportTopViolator' });

export const BanReportResponse = z
  .object({
    period_hours: z.int().default(24).describe('Length of the period in hours.'),
    current_users: count.describe('Number of users.'),
    current_ips: count.describe('Number of addresses.'),
    punishment_stats: freeForm.nullish().describe('Bans of the period as the ban system gives them; null without any.'),
    top_violators: BanReportTopViolator.array().default([]).describe('Users with the most bans.'),
  })
  .meta({ id: 'BanReportResponse' });

const BanHealthComponent = z
  .object({
    name: z.string().describe('Name of the part of the ban system.'),
    status: z.string().describe('State of the part, as the ban system names it.'),
    message: text.describe('Message; null without one.'),
    details: freeForm.nullish().describe('Details as the ban system gives them; null without any.'),
  })
  .meta({ id: 'BanHealthComponent' });

export const BanHealthResponse = z
  .object({
    status: z.string().describe('State of the ban system, as it names it itself.'),
    uptime: z.int().nullish().describe('Seconds since its start; null when unknown.'),
    components: BanHealthComponent.array().default([]).describe('Components.'),
  })
  .meta({ id: 'BanHealthResponse' });

export const BanHealthDetailedResponse = z
  .object({
    status: z.string().describe('State of the ban system, as it names it itself.'),
    uptime: z.int().nullish().describe('Seconds since its start; null when unknown.'),
    components: freeForm.default({}).describe('Components by name, as the ban system gives them.'),
  })
  .meta({ id: 'BanHealthDetailedResponse' });
