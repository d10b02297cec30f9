import { z } from 'zod';
import { NodePath } from '../web/vpnpanel.schemas.ts';

/** Contract group `Cabinet Admin Stats` (spec 06 sections 4.3 and 4.4). */

export const StatsNodePath = NodePath;

export const TopQuery = z.object({ limit: z.int().default(20) });
export const RecentPaymentsQuery = z.object({ limit: z.int().default(50) });

export const NodeStatus = z
  .object({
    uuid: z.string(),
    name: z.string(),
    address: z.string(),
    is_connected: z.boolean(),
    is_disabled: z.boolean(),
    users_online: z.int(),
    traffic_used_bytes: z.int().nullish(),
    uptime: z.string().nullish(),
    xray_version: z.string().nullish(),
    node_version: z.string().nullish(),
    last_status_message: z.string().nullish(),
    xray_uptime: z.string().nullish(),
    is_xray_running: z.boolean().nullish(),
    cpu_count: z.int().nullish(),
    cpu_model: z.string().nullish(),
    total_ram: z.string().nullish(),
    country_code: z.string().nullish(),
  })
  .meta({ id: 'NodeStatus' });

export const NodesOverview = z
  .object({
    total: z.int(),
    online: z.int(),
    offline: z.int(),
    disabled: z.int(),
    total_users_online: z.int(),
    nodes: z.array(NodeStatus),
  })
  .meta({ id: 'NodesOverview' });

export const SubscriptionStats = z
  .object({
    total: z.int(),
    active: z.int(),
    trial: z.int(),
    paid: z.int(),
    expired: z.int(),
    purchased_today: z.int(),
    purchased_week: z.int(),
    purchased_month: z.int(),
    trial_to_paid_conversion: z.number(),
  })
  .meta({ id: 'SubscriptionStats' });

export const FinancialStats = z
  .object({
    income_today_kopeks: z.int(),
    income_today_rubles: z.number(),
    income_month_kopeks: z.int(),
    income_month_rubles: z.number(),
    income_total_kopeks: z.int(),
    income_total_rubles: z.number(),
    subscription_income_kopeks: z.int(),
    subscription_income_rubles: z.number(),
  })
  .meta({ id: 'FinancialStats' });

export const ServerStats = z
  .object({
    total_servers: z.int(),
    available_servers: z.int(),
    servers_with_connections: z.int(),
    total_revenue_kopeks: z.int(),
    total_revenue_rubles: z.number(),
  })
  .meta({ id: 'ServerStats' });

export const RevenueData = z
  .object({ date: z.string(), amount_kopeks: z.int(), amount_rubles: z.number() })
  .meta({ id: 'RevenueData' });

export const TariffStatItem = z
  .object({
    tariff_id: z.int(),
    tariff_name: z.string(),
    active_subscriptions: z.int(),
    trial_subscriptions: z.int(),
    purchased_today: z.int(),
    purchased_week: z.int(),
    purchased_month: z.int(),
  })
  .meta({ id: 'TariffStatItem' });

export const TariffStats = z
  .object({ tariffs: z.array(TariffStatItem), total_tariff_subscriptions: z.int() })
  .meta({ id: 'TariffStats' });

export const DashboardStats = z
  .object({
    nodes: NodesOverview,
    subscriptions: SubscriptionStats,
    financial: FinancialStats,
    servers: ServerStats,
    revenue_chart: z.array(RevenueData),
    tariff_stats: TariffStats.nullish(),
  })
  .meta({ id: 'DashboardStats' });

export const SystemInfoResponse = z
  .object({
    bot_version: z.string(),
    python_version: z.string(),
    uptime_seconds: z.int(),
    users_total: z.int(),
    subscriptions_active: z.int(),
  })
  .meta({ id: 'SystemInfoResponse' });

/** The contract leaves both answers untyped. */
export const NodeRestarted = z.object({ success: z.boolean(), message: z.string() });
export const NodeToggled = z.object({ success: z.boolean(), message: z.string(), is_disabled: z.boolean() });

export const CabinetAdminStatsTopReferrerItem = z
  .object({
    user_id: z.int(),
    messenger_id: z.int().nullish(),
    email: z.string().nullish(),
    username: z.string().nullish(),
    display_name: z.string(),
    invited_count: z.int(),
    invited_today: z.int().default(0),
    invited_week: z.int().default(0),
    invited_month: z.int().default(0),
    earnings_today_kopeks: z.int().default(0),
    earnings_week_kopeks: z.int().default(0),
    earnings_month_kopeks: z.int().default(0),
    earnings_total_kopeks: z.int().default(0),
  })
  .meta({ id: 'CabinetAdminStatsTopReferrerItem' });

export const CabinetAdminStatsTopReferrersResponse = z
  .object({
    by_earnings: z.array(CabinetAdminStatsTopReferrerItem),
    by_invited: z.array(CabinetAdminStatsTopReferrerItem),
    total_referrers: z.int(),
    total_referrals: z.int(),
    total_earnings_kopeks: z.int(),
  })
  .meta({ id: 'CabinetAdminStatsTopReferrersResponse' });

export const TopCampaignItem = z
  .object({
    id: z.int(),
    name: z.string(),
    start_parameter: z.string(),
    bonus_type: z.string(),
    is_active: z.boolean(),
    registrations: z.int(),
    conversions: z.int(),
    conversion_rate: z.number(),
    total_revenue_kopeks: z.int(),
    avg_revenue_per_user_kopeks: z.int(),
    created_at: z.string().nullish(),
  })
  .meta({ id: 'TopCampaignItem' });

export const TopCampaignsResponse = z
  .object({
    campaigns: z.array(TopCampaignItem),
    total_campaigns: z.int(),
    total_registrations: z.int(),
    total_revenue_kopeks: z.int(),
  })
  .meta({ id: 'TopCampaignsResponse' });

export const RecentPaymentItem = z
  .object({
    id: z.int(),
    user_id: z.int(),
    messenger_id: z.int().nullish(),
    email: z.string().nullish(),
    username: z.string().nullish(),
    display_name: z.string(),
    amount_kopeks: z.int(),
    amount_rubles: z.number(),
    type: z.string(),
    type_display: z.string(),
    payment_method: z.string().nullish(),
    description: z.string().nullish(),
    created_at: z.string(),
    is_completed: z.boolean(),
  })
  .meta({ id: 'RecentPaymentItem' });

export const RecentPaymentsResponse = z
  .object({
    payments: z.array(RecentPaymentItem),
    total_count: z.int(),
    total_today_kopeks: z.int(),
    total_week_kopeks: z.int(),
  })
  .meta({ id: 'RecentPaymentsResponse' });
