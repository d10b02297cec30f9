import { NodeUsersQuery, nodeOf } from './infra-routes.ts';
import { accessibleNodes, isOnline, sizeText } from './panel-answers.ts';
import type { StoredNode, StoredUser } from './panel-data.ts';
import { checked, NODE_USAGE_ERROR, PanelRefusal, type PanelRoute, type RouteRequest } from './panel-route.ts';
import type { PanelState } from './panel-state.ts';
import { daysBetween } from './usage-routes.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Usage {
  user: StoredUser;
  nodeUuid: string;
  bytes: number;
  /** When the user was seen last. */
  at: Date;
}

/** The sandbox stores one sum for each user: all of it went through the user's first node at the time when the user was seen last. */
export function usages(state: PanelState): Usage[] {
  return [...state.users()].flatMap((user) => {
    const [node] = accessibleNodes(state, user.squadUuids);
    if (!node || user.onlineAt === null || user.lifetimeUsedTrafficBytes === 0) return [];
    return [{ user, nodeUuid: node.uuid, bytes: user.lifetimeUsedTrafficBytes, at: new Date(user.onlineAt) }];
  });
}

const sumOf = (rows: readonly Usage[]) => rows.reduce((sum, row) => sum + row.bytes, 0);
const dayOf = (timestamp: Date) => timestamp.toISOString().slice(0, 10);

/** One tenth is upload, as is usual for users who mostly download. */
function directions(bytes: number): { downloadBytes: number; uploadBytes: number; totalBytes: number } {
  const uploadBytes = Math.floor(bytes / 10);
  return { downloadBytes: bytes - uploadBytes, uploadBytes, totalBytes: bytes };
}

function realtimeOf(state: PanelState, node: StoredNode) {
  const since = state.clock.now().getTime() - HOUR_MS;
  const rows = usages(state).filter((row) => row.nodeUuid === node.uuid && row.at.getTime() > since);
  return { ...directions(sumOf(rows)), usersOnline: rows.filter((row) => isOnline(row.user, state.clock.now())).length };
}

/** Rows of one node within the days of the query, both included. */
function usageInRange(request: RouteRequest, { start, end }: { start: string; end: string }): Usage[] {
  const { uuid } = nodeOf(request);
  const isWithin = (day: string) => day >= start.slice(0, 10) && day <= end.slice(0, 10);
  return usages(request.context.state).filter((row) => row.nodeUuid === uuid && isWithin(dayOf(row.at)));
}

/** Traffic between `fromDays` and `toDays` ago. */
function movedBetween(state: PanelState, from: Date, to: Date): number {
  return sumOf(usages(state).filter((row) => row.at >= from && row.at < to));
}

function periodAnswer(state: PanelState, bounds: readonly [before: Date, start: Date, end: Date]) {
  const [before, start, end] = bounds;
  const [previous, current] = [movedBetween(state, before, start), movedBetween(state, start, end)];
  const difference = `${current < previous ? '-' : ''}${sizeText(Math.abs(current - previous))}`;
  return { current: sizeText(current), previous: sizeText(previous), difference };
}

function rollingPeriod(state: PanelState, days: number) {
  const end = new Date(state.clock.now().getTime() + 1);
  const start = new Date(end.getTime() - days * DAY_MS);
  return periodAnswer(state, [new Date(start.getTime() - days * DAY_MS), start, end]);
}

function calendarPeriod(state: PanelState, startOf: (now: Date, offset: number) => number) {
  const now = state.clock.now();
  const bounds = [-1, 0, 1].map((offset) => new Date(startOf(now, offset))) as [Date, Date, Date];
  return periodAnswer(state, bounds);
}

export const nodeUsageRoutes: PanelRoute[] = [
  {
    method: 'GET',
    path: '/api/system/nodes/metrics',
    handle({ context: { state } }) {
      const running = state.meta.nodes.filter((node) => !node.isDisabled);
      const nodes = running.map((node) => {
        const { downloadBytes, uploadBytes, usersOnline } = realtimeOf(state, node);
        const moved = { tag: 'VLESS', upload: sizeText(uploadBytes), download: sizeText(downloadBytes) };
        const { uuid: nodeUuid, name: nodeName } = node;
        const stats = { inboundsStats: [moved], outboundsStats: [{ ...moved, tag: 'DIRECT' }] };
        return { nodeUuid, nodeName, countryEmoji: '', providerName: 'sandbox', usersOnline, ...stats };
      });
      return { response: { nodes } };
    },
  },
  {
    method: 'GET',
    path: '/api/bandwidth-stats/nodes/:uuid/users/legacy',
    only: 'uuid',
    handle(request) {
      const { nodes } = request.context.state.meta;
      if (!nodes.some((node) => node.uuid === request.params.uuid)) throw new PanelRefusal(NODE_USAGE_ERROR);
      const query = { start: request.query.get('start') ?? '', end: request.query.get('end') ?? '' };
      const response = usageInRange(request, query).map(({ user, nodeUuid, bytes, at }) => ({
        userUuid: user.uuid,
        username: user.username,
        nodeUuid,
        total: bytes,
        // Version 2 writes a day as its start (spec 10 V3).
        date: `${dayOf(at)}T00:00:00.000Z`,
      }));
      return { response };
    },
  },
  {
    method: 'GET',
    path: '/api/bandwidth-stats/nodes/:uuid/users',
    query: NodeUsersQuery,
    handle(request) {
      const query = checked(NodeUsersQuery, Object.fromEntries(request.query));
      const days = daysBetween(query.start, query.end);
      const rows = usageInRange(request, query);
      const sparklineData = days.map((day) => sumOf(rows.filter((row) => dayOf(row.at) === day)));
      const top = rows.toSorted((a, b) => b.bytes - a.bytes).slice(0, query.topUsersLimit);
      const topUsers = top.map(({ user, bytes }) => ({ color: '#888888', username: user.username, total: bytes }));
      return { response: { categories: days, sparklineData, topUsers } };
    },
  },
  {
    method: 'GET',
    path: '/api/system/stats/bandwidth',
    handle({ context: { state } }) {
      const month = (now: Date, offset: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1);
      const year = (now: Date, offset: number) => Date.UTC(now.getUTCFullYear() + offset, 0, 1);
      const response = {
        bandwidthLastTwoDays: rollingPeriod(state, 2),
        bandwidthLastSevenDays: rollingPeriod(state, 7),
        bandwidthLast30Days: rollingPeriod(state, 30),
        bandwidthCalendarMonth: calendarPeriod(state, month),
        bandwidthCurrentYear: calendarPeriod(state, year),
      };
      return { response };
    },
  },
  {
    method: 'GET',
    path: '/api/system/stats/nodes',
    handle({ context: { state } }) {
      const now = state.clock.now();
      const days = daysBetween(dayOf(new Date(now.getTime() - 6 * DAY_MS)), dayOf(now));
      const rows = usages(state);
      const lastSevenDays = state.meta.nodes.flatMap((node) =>
        days.map((date) => {
          const moved = rows.filter((row) => row.nodeUuid === node.uuid && dayOf(row.at) === date);
          return { nodeName: node.name, date, totalBytes: String(sumOf(moved)) };
        }),
      );
      return { response: { lastSevenDays } };
    },
  },
];
