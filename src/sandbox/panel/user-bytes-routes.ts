import { GetNodeUsageCommand } from '@remnawave/backend-contract';
import { usages } from './node-usage-routes.ts';
import { checked, type PanelRoute } from './panel-route.ts';

/** The newer generation's traffic of each user through several nodes. */
export const userBytesRoutes: PanelRoute[] = [
  {
    method: 'POST',
    path: '/api/bandwidth-stats/nodes/usage',
    only: 'number',
    body: GetNodeUsageCommand.RequestBodySchema,
    query: GetNodeUsageCommand.RequestQuerySchema,
    answer: GetNodeUsageCommand.ResponseSchema,
    handle({ body, query, context: { state } }) {
      const { nodesUuids } = body as { nodesUuids: string[] };
      const range = checked(GetNodeUsageCommand.RequestQuerySchema, Object.fromEntries(query)) as {
        start: string;
        end: string;
        minTotalBytes: number;
      };
      const isWithin = (day: string) => day >= range.start && day <= range.end;
      const nodes = nodesUuids.map((uuid) => ({
        uuid,
        users: usages(state)
          .filter((row) => row.nodeUuid === uuid && isWithin(row.at.toISOString().slice(0, 10)))
          .filter((row) => row.bytes >= range.minTotalBytes)
          .map((row) => ({ id: row.user.id, totalBytes: row.bytes })),
      }));
      return { response: { nodes } };
    },
  },
];
