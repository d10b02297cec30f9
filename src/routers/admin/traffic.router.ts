import { exportTraffic } from '../../domain/insight/traffic/export-traffic.ts';
import { listTraffic, readDetails } from '../../domain/insight/traffic/read-traffic.ts';
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
    .meta({ openapi: { method: 'GET', path: ROOT, tags, summary: 'Traffic of the users by node' } })
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
