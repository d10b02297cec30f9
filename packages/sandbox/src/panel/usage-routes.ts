import { UsageQuery } from './infra-routes.ts';
import { accessibleNodes } from './panel-answers.ts';
import type { StoredUser } from './panel-data.ts';
import { checked, type PanelRoute, type RouteRequest } from './panel-route.ts';
import { userOf } from './user-routes.ts';

const DAY_MS = 24 * 3_600_000;

/** Days of a range, both included, as `YYYY-MM-DD`. */
export function daysBetween(start: string, end: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(start); at <= Date.parse(end); at += DAY_MS) days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

/** The sandbox stores one sum for each user: all of it went through the user's first node on the day the user was seen last. */
function seriesOf({ context }: RouteRequest, user: StoredUser, days: readonly string[]) {
  const [node] = accessibleNodes(context.state, user.squadUuids);
  const day = days.indexOf((user.onlineAt ?? '').slice(0, 10));
  if (!node || day < 0 || user.lifetimeUsedTrafficBytes === 0) return [];
  const data = days.map((_, index) => (index === day ? user.lifetimeUsedTrafficBytes : 0));
  const { uuid, nodeName: name, countryCode } = node;
  return [{ uuid, name, color: '#888888', countryCode, total: user.lifetimeUsedTrafficBytes, data }];
}

export const usageRoutes: PanelRoute[] = [
  {
    method: 'GET',
    path: '/api/bandwidth-stats/users/:user',
    query: UsageQuery,
    handle(request) {
      const user = userOf(request);
      const { start, end } = checked(UsageQuery, Object.fromEntries(request.query));
      const categories = daysBetween(start, end);
      const series = seriesOf(request, user, categories);
      const sparklineData = categories.map((_, day) => series.reduce((sum, node) => sum + (node.data[day] ?? 0), 0));
      return { response: { categories, sparklineData, topNodes: series.map(({ data: _data, ...node }) => node), series } };
    },
  },
];
