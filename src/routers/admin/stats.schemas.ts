import { z } from 'zod';
import { NodePath } from '../web/vpnpanel.schemas.ts';

/** Contract group `Cabinet Admin Stats`. */

export const StatsNodePath = NodePath;

export const TopQuery = z.object({
  limit: z
    .int()
    .default(20)
    .describe('Greatest number of records in the answer; values outside of 1 to 100 count as the nearest of these.'),
});
export const RecentPaymentsQuery = z.object({
  limit: z
    .int()
    .default(50)
    .describe('Greatest number of records in the answer; values outside of 1 to 100 count as the nearest of these.'),
});

const NodeStatus = z
  .object({
    uuid: z.string().describe('UUID in the panel.'),
    name: z.string().describe('Name of the node in the panel.'),
    address: z.string().describe('Address of the node.'),
    is_connected: z.boolean().describe('Whether the panel is connected to the node.'),
    is_disabled: z.boolean().describe('Whether the node is switched off.'),
    users_online: z.int().describe('Number of users online.'),
    traffic_used_bytes: z.int().nullish().describe('Used traffic in bytes; null when it is not counted.'),
    uptime: z.string().nullish().describe('Seconds since the machine started, as text; null when unknown.'),
    xray_version: z.string().nullish().describe('Release of the core on the node; null when unknown.'),
    node_version: z.string().nullish().describe('Release of the software on the node; null when unknown.'),
    last_status_message: z.string().nullish().describe('Message of the last change; null for none.'),
    xray_uptime: z.string().nullish().describe('How long the core has run, as text; null when unknown.'),
    is_xray_running: z.boolean().nullish().describe('Whether the core runs on the node.'),
    cpu_count: z.int().nullish().describe('Number of processor cores; null when unknown.'),
    cpu_model: z.string().nullish().describe('Model of the processor; null when unknown.'),
    total_ram: z.string().nullish().describe('Memory as text; null when unknown.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
  })
  .meta({ id: 'NodeStatus' });

export const NodesOverview = z
  .object({
    total: z.int().describe('Number of nodes.'),
    online: z.int().describe('Number of connected nodes.'),
    offline: z.int().describe('Number of nodes that are neither connected nor switched off.'),
    disabled: z.int().describe('Number of nodes that are switched off.'),
    total_users_online: z.int().describe('Number of users online on all nodes.'),
    nodes: z.array(NodeStatus).describe('The nodes.'),
  })
  .meta({ id: 'NodesOverview' });

const SubscriptionStats = z
  .object({
    total: z.int().describe('Number of subscriptions of any status.'),
    active: z.int().describe('Number of subscriptions with status `active`; their end is not looked at.'),
    trial: z.int().describe('Those of them that are trials.'),
    paid: z.int().describe('Those of them that are no trial.'),
    expired: z.int().describe('All subscriptions that are not `active`.'),
    purchased_today: z
      .int()
      .describe('Number of completed payments for subscriptions since midnight in the time zone of the service.'),
    purchased_week: z.int().describe('Number of completed payments for subscriptions since the midnight 7 days before.'),
    purchased_month: z.int().describe('Number of completed payments for subscriptions since the midnight 30 days before.'),
    trial_to_paid_conversion: z
      .number()
      .describe(
        'Users who ever paid for a subscription in percent of the users with a subscription, one decimal; 0 when no user has one.',
      ),
  })
  .meta({ id: 'SubscriptionStats' });

const FinancialStats = z
  .object({
    income_today_kopeks: z.int().describe('Top-ups and payments for subscriptions through providers since midnight, kopeks.'),
    income_today_rubles: z.number().describe('Top-ups and payments for subscriptions through providers since midnight, rubles.'),
    income_month_kopeks: z
      .int()
      .describe('Top-ups and payments for subscriptions through providers since the first day of the month, kopeks.'),
    income_month_rubles: z
      .number()
      .describe('Top-ups and payments for subscriptions through providers since the first day of the month, rubles.'),
    income_total_kopeks: z.int().describe('Top-ups and payments for subscriptions through providers since 2020-01-01, kopeks.'),
    income_total_rubles: z
      .number()
      .describe('Top-ups and payments for subscriptions through providers since 2020-01-01, rubles.'),
    subscription_income_kopeks: z.int().describe('Payments for subscriptions with any method, the balance included, kopeks.'),
    subscription_income_rubles: z.number().describe('Payments for subscriptions with any method, the balance included, rubles.'),
  })
  .meta({ id: 'FinancialStats' });

const ServerStats = z
  .object({
    total_servers: z.int().describe('Number of servers.'),
    available_servers: z.int().describe('Number of servers that can be chosen.'),
    servers_with_connections: z.int().describe('Number of servers that an active or trial subscription has.'),
    total_revenue_kopeks: z.int().describe('What was paid for servers of subscriptions, kopeks.'),
    total_revenue_rubles: z.number().describe('What was paid for servers of subscriptions, rubles.'),
  })
  .meta({ id: 'ServerStats' });

const RevenueData = z
  .object({
    date: z.string().describe('Calendar day in the time zone of the service (`TIMEZONE`), `YYYY-MM-DD`.'),
    amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
  })
  .meta({ id: 'RevenueData' });

const TariffStatItem = z
  .object({
    tariff_id: z.int().describe('Id of the tariff.'),
    tariff_name: z.string().describe('Name of the tariff.'),
    active_subscriptions: z.int().describe('Number of subscriptions with status `active`.'),
    trial_subscriptions: z.int().describe('Those of them that are trials.'),
    purchased_today: z.int().describe('Subscriptions without trials that were created since midnight.'),
    purchased_week: z.int().describe('Subscriptions without trials that were created in the last 7 times 24 hours.'),
    purchased_month: z.int().describe('Subscriptions without trials that were created in the last 30 times 24 hours.'),
  })
  .meta({ id: 'TariffStatItem' });

const TariffStats = z
  .object({
    tariffs: z.array(TariffStatItem).describe('All tariffs, inactive ones too, in the order of display.'),
    total_tariff_subscriptions: z.int().describe('Sum of the active subscriptions of all tariffs.'),
  })
  .meta({ id: 'TariffStats' });

export const DashboardStats = z
  .object({
    nodes: NodesOverview.describe('Nodes of the panel; none where it gives no answer.'),
    subscriptions: SubscriptionStats.describe('Subscriptions and purchases.'),
    financial: FinancialStats.describe('Money from outside.'),
    servers: ServerStats.describe('Servers on sale.'),
    revenue_chart: z
      .array(RevenueData)
      .describe('Money from outside by day, of the last 30 times 24 hours, ascending; days without any are absent.'),
    tariff_stats: TariffStats.nullish().describe('Subscriptions by tariff; null when there are no tariffs.'),
  })
  .meta({ id: 'DashboardStats' });

export const SystemInfoResponse = z
  .object({
    bot_version: z.string().describe('Release of the service.'),
    python_version: z.string().describe('Release of the runtime that the service runs on (Node.js).'),
    uptime_seconds: z.int().describe('Seconds since the process that answers started.'),
    users_total: z.int().describe('Number of users of any status.'),
    subscriptions_active: z.int().describe('Number of subscriptions with status `active`.'),
  })
  .meta({ id: 'SystemInfoResponse' });

/** The contract leaves both answers untyped. */
export const NodeRestarted = z.object({ success: z.boolean(), message: z.string() });
export const NodeToggled = z.object({ success: z.boolean(), message: z.string(), is_disabled: z.boolean() });

const CabinetAdminStatsTopReferrerItem = z
  .object({
    user_id: z.int().describe('Internal id of the referrer.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    email: z.string().nullish().describe('E-mail address; null when the account has none.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    display_name: z
      .string()
      .describe(
        'First name with the last name, else `@username`, else `ID` and the messenger id, else the part of the e-mail before `@`, else `User#` and the id.',
      ),
    invited_count: z.int().describe('Number of referrals.'),
    invited_today: z.int().default(0).describe('Referrals created since midnight in the time zone of the service.'),
    invited_week: z.int().default(0).describe('Referrals created in the last 7 times 24 hours.'),
    invited_month: z.int().default(0).describe('Referrals created in the last 30 times 24 hours.'),
    earnings_today_kopeks: z.int().default(0).describe('Rewards since midnight, kopeks.'),
    earnings_week_kopeks: z.int().default(0).describe('Rewards of the last 7 times 24 hours, kopeks.'),
    earnings_month_kopeks: z.int().default(0).describe('Rewards of the last 30 times 24 hours, kopeks.'),
    earnings_total_kopeks: z.int().default(0).describe('Rewards in all, kopeks.'),
  })
  .meta({ id: 'CabinetAdminStatsTopReferrerItem' });

export const CabinetAdminStatsTopReferrersResponse = z
  .object({
    by_earnings: z.array(CabinetAdminStatsTopReferrerItem).describe('Referrers by their rewards, then by id.'),
    by_invited: z.array(CabinetAdminStatsTopReferrerItem).describe('Referrers by the number of their referrals, then by id.'),
    total_referrers: z.int().describe('Number of users who have referrals.'),
    total_referrals: z.int().describe('Number of all referrals.'),
    total_earnings_kopeks: z.int().describe('Rewards of all users who have referrals, kopeks.'),
  })
  .meta({ id: 'CabinetAdminStatsTopReferrersResponse' });

const TopCampaignItem = z
  .object({
    id: z.int().describe('Id of the campaign.'),
    name: z.string().describe('Name of the campaign.'),
    start_parameter: z.string().describe('Part of the links that marks the campaign.'),
    bonus_type: z.string().describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
    is_active: z.boolean().describe('Whether the link of the campaign still registers users for it.'),
    registrations: z.int().describe('Number of users who registered through the campaign.'),
    conversions: z.int().describe('Registrants with a completed payment for a subscription or a change from trial to paid.'),
    conversion_rate: z.number().describe('Registrants who paid in percent of all, one decimal; 0 for none.'),
    total_revenue_kopeks: z.int().describe('Completed top-ups of the registrants through providers, kopeks.'),
    avg_revenue_per_user_kopeks: z.int().describe('Revenue divided by the registrations, kopeks, rounded down.'),
    created_at: z.string().nullish().describe('When the campaign was created (UTC).'),
  })
  .meta({ id: 'TopCampaignItem' });

export const TopCampaignsResponse = z
  .object({
    campaigns: z.array(TopCampaignItem).describe('Campaigns by revenue, then by id.'),
    total_campaigns: z.int().describe('Number of all campaigns.'),
    total_registrations: z.int().describe('Registrations through all campaigns.'),
    total_revenue_kopeks: z.int().describe('Completed top-ups of the registrants through providers of all campaigns, kopeks.'),
  })
  .meta({ id: 'TopCampaignsResponse' });

const RecentPaymentItem = z
  .object({
    id: z.int().describe('Id of the movement.'),
    user_id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    email: z.string().nullish().describe('E-mail address; null when the account has none.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    display_name: z
      .string()
      .describe(
        'First name with the last name, else `@username`, else `ID` and the messenger id, else the part of the e-mail before `@`, else `User#` and the id.',
      ),
    amount_kopeks: z.int().describe('Absolute amount in kopeks.'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
    type: z.string().describe('Kind of movement: `deposit` (top-up) or `subscription_payment` (purchase or renewal).'),
    type_display: z.string().describe('The type as a word in the language of the administrator.'),
    payment_method: z.string().nullish().describe('How it was paid: id of a provider, `balance` or `manual`; null for bonuses.'),
    description: z.string().nullish().describe('What the movement was for; null when nothing was recorded.'),
    created_at: z.string().describe('When the movement was recorded (UTC).'),
    is_completed: z.boolean().describe('Whether it is finished.'),
  })
  .meta({ id: 'RecentPaymentItem' });

export const RecentPaymentsResponse = z
  .object({
    payments: z.array(RecentPaymentItem).describe('Top-ups and payments for subscriptions, newest first, completed or not.'),
    total_count: z.int().describe('Number of all such movements.'),
    total_today_kopeks: z.int().describe('Completed ones through providers since midnight, kopeks.'),
    total_week_kopeks: z.int().describe('Completed ones through providers of the last 7 times 24 hours, kopeks.'),
  })
  .meta({ id: 'RecentPaymentsResponse' });
