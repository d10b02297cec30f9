import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Ban System` (spec 06 section 13). */

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
const moment = Moment.nullish();
const freeForm = z.record(z.string(), z.unknown());

export const BanUsersQuery = z.object({ offset: z.int().min(0).default(0), limit: limitOf(50), status: z.string().nullish() });
export const BanOverLimitQuery = z.object({ limit: limitOf(50) });
export const BanSearchPath = z.object({ query: PathText });
export const BanHistoryQuery = BanSearchPath.extend({ limit: limitOf(20) });
export const BanEmailPath = z.object({ email: PathText });
export const BanUserHistoryQuery = BanEmailPath.extend({ limit: limitOf(20) });
export const BanPunishmentPath = z.object({ user_id: PathText });
export const BanAgentsQuery = z.object({
  search: z.string().nullish(),
  health: z.string().nullish(),
  status: z.string().nullish(),
});
export const BanAgentHistoryQuery = z.object({ node_name: PathText, hours });
export const BanTopQuery = z.object({ limit: limitOf(20) });
export const BanViolationsQuery = z.object({ limit: limitOf(50) });
export const BanReportQuery = z.object({ hours });
export const BanSettingPath = z.object({ key: PathText });
export const BanSettingChange = BanSettingPath.extend({ value: plainText(z.string()) });

export const BanUserRequest = z
  .object({
    username: plainText(z.string().min(1)),
    minutes: BanMinutes.default(30),
    reason: z
      .string()
      .max(500)
      .refine((text) => !/[^\P{Cc}\t\n\r]/u.test(text), 'must not contain control characters')
      .nullish(),
  })
  .meta({ id: 'BanUserRequest', example: { username: 'anna_k', minutes: 30, reason: 'Too many addresses' } });

export const BanWhitelistRequest = z
  .object({ username: plainText(z.string().min(1)) })
  .meta({ id: 'BanWhitelistRequest', example: { username: 'anna_k' } });

export const BanSystemStatusResponse = z
  .object({ enabled: z.boolean(), configured: z.boolean() })
  .meta({ id: 'BanSystemStatusResponse' });

export const BanSystemStatsResponse = z
  .object({
    total_users: count,
    active_users: count,
    users_over_limit: count,
    total_requests: count,
    total_punishments: count,
    active_punishments: count,
    nodes_online: count,
    nodes_total: count,
    agents_online: count,
    agents_total: count,
    panel_connected: z.boolean().default(false),
    uptime_seconds: z.int().nullish(),
  })
  .meta({ id: 'BanSystemStatsResponse' });

const banUser = {
  email: z.string(),
  unique_ip_count: count,
  total_requests: count,
  limit: z.int().nullish(),
  is_over_limit: z.boolean().default(false),
  blocked_count: count,
};

export const BanUserListItem = z.object({ ...banUser, last_seen: moment }).meta({ id: 'BanUserListItem' });

export const BanUsersListResponse = z
  .object({ users: BanUserListItem.array().default([]), total: count, offset: count, limit: z.int().default(50) })
  .meta({ id: 'BanUsersListResponse' });

export const BanUserIPInfo = z
  .object({
    ip: z.string(),
    first_seen: moment,
    last_seen: moment,
    node: text,
    request_count: count,
    country_code: text,
    country_name: text,
    city: text,
  })
  .meta({ id: 'BanUserIPInfo' });

export const BanUserRequestLog = z
  .object({
    timestamp: Moment,
    source_ip: z.string(),
    destination: text,
    dest_port: z.int().nullish(),
    protocol: text,
    action: text,
    node: text,
  })
  .meta({ id: 'BanUserRequestLog' });

export const BanUserDetailResponse = z
  .object({
    ...banUser,
    ips: BanUserIPInfo.array().default([]),
    recent_requests: BanUserRequestLog.array().default([]),
    network_type: text,
  })
  .meta({ id: 'BanUserDetailResponse' });

export const BanPunishmentItem = z
  .object({
    id: z.int().nullish(),
    user_id: z.string(),
    uuid: text,
    username: z.string(),
    reason: text,
    punished_at: Moment,
    enable_at: moment,
    ip_count: count,
    limit: count,
    enabled: z.boolean().default(false),
    enabled_at: moment,
    node_name: text,
  })
  .meta({ id: 'BanPunishmentItem' });

export const BanPunishmentsListResponse = z
  .object({ punishments: BanPunishmentItem.array().default([]), total: count })
  .meta({ id: 'BanPunishmentsListResponse' });

export const BanHistoryResponse = z
  .object({ items: BanPunishmentItem.array().default([]), total: count })
  .meta({ id: 'BanHistoryResponse' });

export const UnbanResponse = z.object({ success: z.boolean(), message: z.string() }).meta({ id: 'UnbanResponse' });

export const BanNodeItem = z
  .object({
    name: z.string(),
    address: text,
    is_connected: z.boolean().default(false),
    last_seen: moment,
    users_count: count,
    agent_stats: freeForm.nullish(),
  })
  .meta({ id: 'BanNodeItem' });

export const BanNodesListResponse = z
  .object({ nodes: BanNodeItem.array().default([]), total: count, online: count })
  .meta({ id: 'BanNodesListResponse' });

export const BanAgentItem = z
  .object({
    node_name: z.string(),
    sent_total: count,
    dropped_total: count,
    batches_total: count,
    reconnects: count,
    failures: count,
    queue_size: count,
    queue_max: count,
    dedup_checked: count,
    dedup_skipped: count,
    filter_checked: count,
    filter_filtered: count,
    health: z.string().default('unknown'),
    is_online: z.boolean().default(false),
    last_report: moment,
  })
  .meta({ id: 'BanAgentItem' });

export const BanAgentsSummary = z
  .object({
    total_agents: count,
    online_agents: count,
    total_sent: count,
    total_dropped: count,
    avg_queue_size: z.number().default(0),
    healthy_count: count,
    warning_count: count,
    critical_count: count,
  })
  .meta({ id: 'BanAgentsSummary' });

export const BanAgentsListResponse = z
  .object({ agents: BanAgentItem.array().default([]), summary: BanAgentsSummary.nullish(), total: count, online: count })
  .meta({ id: 'BanAgentsListResponse' });

export const BanAgentHistoryItem = z
  .object({ timestamp: Moment, sent_total: count, dropped_total: count, queue_size: count, batches_total: count })
  .meta({ id: 'BanAgentHistoryItem' });

export const BanAgentHistoryResponse = z
  .object({
    node: z.string(),
    hours: z.int().default(24),
    records: count,
    delta: freeForm.nullish(),
    first: freeForm.nullish(),
    last: freeForm.nullish(),
    history: BanAgentHistoryItem.array().default([]),
  })
  .meta({ id: 'BanAgentHistoryResponse' });

export const BanTrafficTopItem = z
  .object({ username: z.string(), bytes_total: count, bytes_limit: z.int().nullish(), over_limit: z.boolean().default(false) })
  .meta({ id: 'BanTrafficTopItem' });

export const BanTrafficViolationItem = z
  .object({
    id: z.int().nullish(),
    username: z.string(),
    email: text,
    violation_type: z.string(),
    description: text,
    bytes_used: count,
    bytes_limit: count,
    detected_at: Moment,
    resolved: z.boolean().default(false),
  })
  .meta({ id: 'BanTrafficViolationItem' });

export const BanTrafficViolationsResponse = z
  .object({ violations: BanTrafficViolationItem.array().default([]), total: count })
  .meta({ id: 'BanTrafficViolationsResponse' });

export const BanTrafficResponse = z
  .object({
    enabled: z.boolean().default(false),
    stats: freeForm.nullish(),
    top_users: BanTrafficTopItem.array().default([]),
    recent_violations: BanTrafficViolationItem.array().default([]),
  })
  .meta({ id: 'BanTrafficResponse' });

export const BanSettingDefinition = z
  .object({
    key: z.string(),
    value: z.unknown(),
    type: z.string(),
    min_value: z.int().nullish(),
    max_value: z.int().nullish(),
    editable: z.boolean().default(true),
    description: text,
    category: text,
  })
  .meta({ id: 'BanSettingDefinition' });

export const BanSettingsResponse = z
  .object({ settings: BanSettingDefinition.array().default([]) })
  .meta({ id: 'BanSettingsResponse' });

export const BanReportTopViolator = z.object({ username: z.string(), count }).meta({ id: 'BanReportTopViolator' });

export const BanReportResponse = z
  .object({
    period_hours: z.int().default(24),
    current_users: count,
    current_ips: count,
    punishment_stats: freeForm.nullish(),
    top_violators: BanReportTopViolator.array().default([]),
  })
  .meta({ id: 'BanReportResponse' });

export const BanHealthComponent = z
  .object({ name: z.string(), status: z.string(), message: text, details: freeForm.nullish() })
  .meta({ id: 'BanHealthComponent' });

export const BanHealthResponse = z
  .object({ status: z.string(), uptime: z.int().nullish(), components: BanHealthComponent.array().default([]) })
  .meta({ id: 'BanHealthResponse' });

export const BanHealthDetailedResponse = z
  .object({ status: z.string(), uptime: z.int().nullish(), components: freeForm.default({}) })
  .meta({ id: 'BanHealthDetailedResponse' });
