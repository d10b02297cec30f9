import { panelUnavailable } from '../../domain/insight/traffic/fill.ts';
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
import {
  ExportCsvRequest,
  ExportCsvResponse,
  TrafficEnrichmentResponse,
  TrafficQuery,
  TrafficUsageResponse,
} from './traffic.schemas.ts';

const tags: [string] = ['Admin Traffic'];
const ROOT = '/cabinet/admin/traffic';

export const adminTrafficRouter = router({
  list: adminProcedure('traffic:read')
    .meta({
      openapi: { method: 'GET', path: ROOT, tags, summary: 'Traffic of the users by node' },
      description:
        'Lists the users of the panel with their traffic by node, in the last days or between two dates, filtered and sorted. Users without traffic are listed with 0. The panel is read at most every five minutes; a node that gives no answer is left out, a panel that gives none is 502 with the reason, and 503 asks to repeat the call while a long reading is in progress.',
      refuses: [invalidDate, invalidPeriod, panelUnavailable],
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
      refuses: [invalidPeriod, noMessengerId, exportNotSent, panelUnavailable],
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
