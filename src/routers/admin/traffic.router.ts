import { z } from 'zod';
import { panelUnavailable, trafficInProgress } from '../../domain/insight/traffic/fill.ts';
import {
  exportNotSent,
  exportTraffic,
  listTraffic,
  noMessengerId,
  readDetails,
} from '../../domain/insight/traffic/read-traffic.ts';
import { invalidDate, invalidPeriod } from '../../domain/insight/traffic/rules.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Admin Traffic`. */

const period = z.int().min(1).max(30).default(30);

const TrafficQuery = z.object({
  period: period.describe('Days until now: 1, 3, 7, 14 or 30. Ignored when both dates are given.'),
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  search: z.string().max(100).default('').describe('Part of the name, username or e-mail, in any case.'),
  sort_by: z
    .string()
    .max(100)
    .default('total_bytes')
    .describe(
      'One of `total_bytes`, `full_name`, `tariff_name`, `device_limit`, `traffic_limit_gb`, `connected`, `total_spent`, `sub_start`, `sub_end`, `last_node`, or `node_` and the UUID of a node. Anything else is `total_bytes`.',
    ),
  sort_desc: z.boolean().default(true).describe('Whether the largest values come first.'),
  tariffs: z.string().max(500).default('').describe('Only users with one of these tariffs; names, separated by commas.'),
  statuses: z
    .string()
    .max(500)
    .default('')
    .describe('Only users whose subscription has one of these statuses at the moment; separated by commas.'),
  nodes: z
    .string()
    .max(2000)
    .default('')
    .describe('Only the traffic of these nodes; UUIDs, separated by commas. Users without it stay in the list.'),
  start_date: z.string().max(10).default('').describe('First day, `YYYY-MM-DD` (UTC); only with `end_date`, at most 31 days.'),
  end_date: z.string().max(10).default('').describe('Last day, `YYYY-MM-DD` (UTC).'),
});

const UserTrafficItem = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullable().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullable().describe('User name in the messenger, without `@`; null when the user has none.'),
    email: z.string().nullable().describe('E-mail address; null when the account has none.'),
    full_name: z.string().describe('First and last name, else the user name, else a text with the id.'),
    tariff_name: z.string().nullable().describe('Name of the tariff; null for none.'),
    subscription_status: z.string().nullable().describe('Status of the subscription; null when there is none.'),
    traffic_limit_gb: z.number().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    device_limit: z.int().describe('Number of devices that may be connected.'),
    node_traffic: z.record(z.string(), z.int()).describe('UUID of a node to bytes; nodes without traffic are left out.'),
    total_bytes: z.int().describe('Bytes of the shown nodes together.'),
  })
  .meta({ id: 'UserTrafficItem' });

const TrafficNodeInfo = z
  .object({
    node_uuid: z.string().describe('UUID of the node.'),
    node_name: z.string().describe('Name of the node.'),
    country_code: z.string().describe('Country code of two letters; empty for none.'),
  })
  .meta({ id: 'TrafficNodeInfo' });

const TrafficUsageResponse = z
  .object({
    items: z.array(UserTrafficItem).describe('Users of the page.'),
    nodes: z.array(TrafficNodeInfo).describe('All nodes of the panel, by name.'),
    total: z.int().describe('Number of users that match the filters.'),
    offset: z.int().describe('Number of records skipped before this page.'),
    limit: z.int().describe('Page size that was applied.'),
    period_days: z.int().describe('Length of the period in days.'),
    available_tariffs: z.array(z.string()).describe('Names of tariffs to filter by.'),
    available_statuses: z.array(z.string()).describe('Statuses of subscriptions to filter by.'),
  })
  .meta({ id: 'TrafficUsageResponse' });

const UserTrafficEnrichment = z
  .object({
    devices_connected: z.int().default(0).describe('Number of devices in the panel.'),
    total_spent_kopeks: z.int().default(0).describe('Sum of all completed payments for subscriptions, kopeks.'),
    subscription_start_date: z.string().nullish().describe('Start of the subscription (UTC); null without one.'),
    subscription_end_date: z.string().nullish().describe('End of the subscription (UTC); null without one.'),
    last_node_name: z.string().nullish().describe('Name of the node of the last connection; null when unknown.'),
  })
  .meta({ id: 'UserTrafficEnrichment' });

const TrafficEnrichmentResponse = z
  .object({ data: z.record(z.string(), UserTrafficEnrichment).describe('Id of the user to further data.') })
  .meta({ id: 'TrafficEnrichmentResponse' });

const ExportCsvRequest = z
  .object({
    period: period.describe('Days until now: 1, 3, 7, 14 or 30. Ignored when both dates are given.'),
    start_date: z.string().nullish().describe('First day, `YYYY-MM-DD` (UTC); only with `end_date`, at most 31 days.'),
    end_date: z.string().nullish().describe('Last day, `YYYY-MM-DD` (UTC).'),
    tariffs: z.string().nullish().describe('Only users with one of these tariffs; names, separated by commas.'),
    statuses: z
      .string()
      .nullish()
      .describe('Only users whose subscription has one of these statuses at the moment; separated by commas.'),
    nodes: z.string().nullish().describe('Only the traffic of these nodes; UUIDs, separated by commas.'),
    total_threshold_gb: z
      .number()
      .min(0)
      .nullish()
      .describe('GB a day of all nodes together that count as a risk of 1; null or 0 = none.'),
    node_threshold_gb: z
      .number()
      .min(0)
      .nullish()
      .describe('GB a day of a single node that count as a risk of 1; null or 0 = none.'),
  })
  .meta({
    id: 'ExportCsvRequest',
    example: { period: 30, start_date: '2026-01-01', end_date: '2026-01-31', statuses: 'active,expired' },
  });

const ExportCsvResponse = z
  .object({
    success: z.boolean().describe('Always true: an export that cannot be sent is answered with an error status.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'ExportCsvResponse' });

const tags: [string] = ['Admin Traffic'];
const ROOT = '/cabinet/admin/traffic';

export const adminTrafficRouter = router({
  list: adminProcedure('traffic:read')
    .meta({
      // The first read of a period stores what the panel says.
      replicas: false,
      openapi: { method: 'GET', path: ROOT, tags, summary: 'Traffic of the users by node' },
      description:
        'Lists the users of the panel with their traffic by node, in the last days or between two dates, filtered and sorted. Users without traffic are listed with 0. The panel is read at most every five minutes; a node that gives no answer is left out, a panel that gives none is 502 with the reason, and 503 asks to repeat the call while a long reading is in progress.',
      refuses: [invalidDate, invalidPeriod, panelUnavailable, trafficInProgress],
    })
    .input(fromWire(TrafficQuery))
    .output(toWire(TrafficUsageResponse))
    .query(async ({ ctx, input }) => {
      const { items, nodes, ...rest } = await listTraffic(ctx.app, input);
      return {
        ...rest,
        items: items.map((user) => ({ ...user, userId: user.id })),
        nodes: nodes.map(({ uuid, name, countryCode }) => ({ nodeUuid: uuid, nodeName: name, countryCode })),
      };
    }),

  enrichment: adminProcedure('traffic:read')
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/enrichment`, tags, summary: 'Devices, payments and last node of the users' },
      description:
        'Returns connected devices, money spent, dates of the subscription and the last node of the users of the panel, by user id; of the 20,000 with the most traffic where there are more. The panel is read at most every five minutes; without its answer devices are 0.',
    })
    .output(toWire(TrafficEnrichmentResponse))
    .query(async ({ ctx }) => {
      const rows = await readDetails(ctx.app);
      const entries = rows.map(({ id, startDate, endDate, ...user }) => {
        const dates = {
          subscriptionStartDate: startDate?.toISOString() ?? null,
          subscriptionEndDate: endDate?.toISOString() ?? null,
        };
        return [String(id), { ...user, ...dates }];
      });
      return { data: Object.fromEntries(entries) };
    }),

  exportCsv: adminProcedure('traffic:export')
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/export-csv`, tags, summary: 'Send the traffic as a CSV file to the own chat' },
      description:
        "Sends the traffic of the users as a CSV file to the administrator's own chat; at most 100,000 users, those with the most traffic. With a threshold it adds how near each user is to it. Text that a spreadsheet would run as a formula is quoted.",
      refuses: [invalidDate, invalidPeriod, noMessengerId, exportNotSent, panelUnavailable, trafficInProgress],
    })
    .input(fromWire(ExportCsvRequest))
    .output(toWire(ExportCsvResponse))
    .mutation(async ({ ctx, input }) => {
      const users = await exportTraffic(ctx.app, ctx.actor, {
        period: input.period,
        startDate: input.startDate ?? null,
        endDate: input.endDate ?? null,
        tariffs: input.tariffs ?? null,
        statuses: input.statuses ?? null,
        nodes: input.nodes ?? null,
        totalThresholdGb: input.totalThresholdGb ?? null,
        nodeThresholdGb: input.nodeThresholdGb ?? null,
      });
      return { success: true, message: `CSV sent (${users} users)` };
    }),
});
