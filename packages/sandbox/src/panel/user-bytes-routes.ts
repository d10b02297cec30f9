import { NodeTotalsBody, NodeTotalsQuery } from './infra-routes.ts';
import { usages } from './node-usage-routes.ts';
import { checked, type PanelRoute } from './panel-route.ts';

/** The newer generation's traffic of each user through several nodes. */
export const userBytesRoutes: PanelRoute[] = [
  {
    method: 'POST',
    path: '/api/bandwidth-stats/nodes/usage',
    only: 'number',
    body: NodeTotalsBody,
    query: NodeTotalsQuery,
    handle({ body, query, context: { state } }) {
      const { nodesUuids } = body as NodeTotalsBody;
      const range = checked(NodeTotalsQuery, Object.fromEntries(query));
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
