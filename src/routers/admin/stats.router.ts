import { rublesOf } from '../../core/money.ts';
import { languageOf } from '../../domain/broadcasts/audiences.ts';
import {
  panelFailed,
  panelRefused,
  readDashboard,
  readNodes,
  readRecentPayments,
  readSystemInfo,
  readTopCampaigns,
  readTopReferrers,
  restartNode,
  toggleNode,
} from '../../domain/insight/admin/dashboard.ts';
import { orFailWith } from '../../domain/insight/load-failure.ts';
import { text } from '../../domain/messaging/texts.ts';
import type { NodesOverview as Nodes } from '../../domain/provisioning/nodes.ts';
import { nodeNotFound } from '../../domain/provisioning/nodes.ts';
import { publishedAsFreeForm } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { toNode, wholeOf } from '../vpnpanel-wire.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  CabinetAdminStatsTopReferrersResponse,
  DashboardStats,
  NodeRestarted,
  NodesOverview,
  NodeToggled,
  RecentPaymentsQuery,
  RecentPaymentsResponse,
  StatsNodePath,
  SystemInfoResponse,
  TopCampaignsResponse,
  TopQuery,
} from './stats.schemas.ts';

const tags: [string] = ['Cabinet Admin Stats'];
const ROOT = '/cabinet/admin/stats';
const MAX_LIMIT = 100;

const reading = adminProcedure('stats:read');
const managing = adminProcedure('vpnpanel:manage');

const limited = (limit: number) => Math.min(Math.max(limit, 1), MAX_LIMIT);

/** Numbers of the panel as text, and its core under the contract's name. */
function toNodes({ usersOnline, nodes, ...counts }: Nodes) {
  return {
    ...counts,
    totalUsersOnline: wholeOf(usersOnline),
    nodes: nodes.map((node) => ({
      ...toNode(node),
      name: node.name || 'Unknown',
      uptime: node.uptime === null ? null : String(node.uptime),
      xrayVersion: node.coreVersion,
    })),
  };
}

export const adminStatsRouter = router({
  dashboard: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/dashboard`, tags, summary: 'The service at a glance' },
      description:
        'Returns nodes, subscriptions, money, servers, the revenue of the last 30 days by day and subscriptions by tariff. Without an answer of the panel there are no nodes.',
    })
    .output(toWire(DashboardStats))
    .query(async ({ ctx }) => {
      const read = () => readDashboard(ctx.app);
      const { nodes, financial, servers, revenueChart, ...rest } = await orFailWith('Failed to load dashboard statistics', read);
      return {
        ...rest,
        nodes: toNodes(nodes),
        financial: {
          ...financial,
          incomeTodayRubles: rublesOf(financial.incomeTodayKopeks),
          incomeMonthRubles: rublesOf(financial.incomeMonthKopeks),
          incomeTotalRubles: rublesOf(financial.incomeTotalKopeks),
          subscriptionIncomeRubles: rublesOf(financial.subscriptionIncomeKopeks),
        },
        servers: { ...servers, totalRevenueRubles: rublesOf(servers.totalRevenueKopeks) },
        revenueChart: revenueChart.map((day) => ({ ...day, amountRubles: rublesOf(day.amountKopeks) })),
      };
    }),

  systemInfo: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/system-info`, tags, summary: 'The running service' },
      description:
        'Returns the release of the service and of its runtime, and how many users and active subscriptions there are.',
    })
    .output(toWire(SystemInfoResponse))
    .query(async ({ ctx }) => {
      const info = await orFailWith('Failed to load system information', () => readSystemInfo(ctx.app));
      return { ...info, botVersion: ctx.app.ports.instance.version(), pythonVersion: info.runtimeVersion };
    }),

  nodes: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/nodes`, tags, summary: 'Nodes of the panel and their counts' },
      description: 'Returns the nodes of the panel with their counts. Without an answer of the panel there are none.',
    })
    .output(toWire(NodesOverview))
    .query(async ({ ctx }) => toNodes(await readNodes(ctx.app))),

  restartNode: managing
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/nodes/{node_uuid}/restart`, tags, summary: 'Restart a node' },
      description: 'Asks the panel to restart a node; the panel does it later. Recorded in the audit log.',
      refuses: [panelFailed, panelRefused],
    })
    .input(fromWire(StatsNodePath))
    .output(toWire(publishedAsFreeForm(NodeRestarted)))
    .mutation(async ({ ctx, input }) => {
      await orFailWith('Failed to restart node', () => restartNode(ctx.app, ctx.actor, input.nodeUuid));
      return { success: true, message: 'Node restart initiated' };
    }),

  toggleNode: managing
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/nodes/{node_uuid}/toggle`, tags, summary: 'Enable or disable a node' },
      description:
        'Enables a node that is switched off at the panel, switches off any other, and returns the new state. Recorded in the audit log.',
      refuses: [panelFailed, panelRefused, nodeNotFound],
    })
    .input(fromWire(StatsNodePath))
    .output(toWire(publishedAsFreeForm(NodeToggled)))
    .mutation(async ({ ctx, input }) => {
      const isDisabled = await orFailWith('Failed to toggle node', () => toggleNode(ctx.app, ctx.actor, input.nodeUuid));
      return { success: true, message: isDisabled ? 'Node disabled' : 'Node enabled', isDisabled };
    }),

  topReferrers: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/referrals/top`, tags, summary: 'Referrers who earned or invited most' },
      description:
        'Returns the referrers who earned most and those who invited most, with today, 7 days, 30 days and in all. The totals are those of all referrers.',
    })
    .input(fromWire(TopQuery))
    .output(toWire(CabinetAdminStatsTopReferrersResponse))
    .query(({ ctx, input }) =>
      orFailWith('Failed to load referrers statistics', () => readTopReferrers(ctx.app, limited(input.limit))),
    ),

  topCampaigns: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/campaigns/top`, tags, summary: 'Campaigns with the highest revenue' },
      description: 'Returns the campaigns whose registrants paid in most. The totals are those of all campaigns.',
    })
    .input(fromWire(TopQuery))
    .output(toWire(TopCampaignsResponse))
    .query(async ({ ctx, input }) => {
      const read = () => readTopCampaigns(ctx.app, limited(input.limit));
      const { campaigns, ...totals } = await orFailWith('Failed to load campaigns statistics', read);
      return { ...totals, campaigns: campaigns.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() })) };
    }),

  recentPayments: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/payments/recent`, tags, summary: 'The newest payments' },
      description:
        'Returns the newest top-ups and payments for subscriptions, completed or not, and what was paid through providers today and in 7 days.',
    })
    .input(fromWire(RecentPaymentsQuery))
    .output(toWire(RecentPaymentsResponse))
    .query(async ({ ctx, input }) => {
      const read = () => Promise.all([readRecentPayments(ctx.app, limited(input.limit)), languageOf(ctx.app, ctx.actor)]);
      const [{ payments, ...totals }, language] = await orFailWith('Failed to load recent payments', read);
      return {
        ...totals,
        payments: payments.map((row) => ({
          ...row,
          amountRubles: rublesOf(row.amountKopeks),
          typeDisplay: text(language, row.type === 'deposit' ? 'payments.type_deposit' : 'payments.type_subscription_payment'),
          createdAt: row.createdAt.toISOString(),
        })),
      };
    }),
});
