import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { fullName } from '../../identity/rules.ts';
import { searchTerms } from '../../users/list/rules.ts';
import { detailsFill, usageFill } from './fill.ts';
import type { Fill, FillNode } from './fill-repo.ts';
import { countKey, countWithRow, rankIds } from './rank-repo.ts';
import {
  countPanelUsers,
  type FillIds,
  findIds,
  findNewestUsage,
  isTrafficSort,
  listFacets,
  listRows,
  type TrafficFilter,
  type TrafficOrder,
  type TrafficRow,
  type TrafficSort,
} from './repo.ts';
import { listFilter, type RangeRequest, type TrafficRange, trafficRange } from './rules.ts';

/** How long the number of panel users and the choices of filters are reused: they need a look at every user. */
const COUNTS_MS = 10 * SECOND_MS;
/** Most users of one answer of details. */
const MOST_DETAILED = 20_000;
/** Sort keys that need devices or last nodes. */
const DETAILED_SORTS: readonly unknown[] = ['connected', 'last_node'];

/** Comma lists; null or empty = no filter. */
export interface TrafficFilters {
  tariffs: string | null;
  statuses: string | null;
  nodes: string | null;
}

/** A user with the traffic of the shown nodes; bytes. */
export interface UserTraffic extends Omit<TrafficRow, 'nodeTraffic'> {
  fullName: string;
  /** Node uuid to bytes above 0. */
  nodeTraffic: Record<string, number>;
  totalBytes: number;
}

/** What a list or a file is made from. */
export interface TrafficView {
  range: TrafficRange;
  fills: FillIds;
  /** Of the panel, by name. */
  nodes: FillNode[];
  filter: TrafficFilter;
  /** The nodes of the filter, else all. */
  shownNodes: FillNode[];
}

/**
 * Users of the panel with their traffic in a range of days (spec 06 section 5). Users without traffic are listed with 0.
 * @throws AppError 400 range | 502 with the reason | 503 while the first reading of the panel takes longer
 */
export async function listTraffic(
  app: App,
  request: RangeRequest & TrafficFilters & { search: string; sortBy: string; sortDesc: boolean; limit: number; offset: number },
) {
  const order = orderOf(request.sortBy, request.sortDesc);
  const view = await openView(app, request, request.search, DETAILED_SORTS.includes(order.key));
  const slice = { limit: request.limit, offset: request.offset };
  const now = app.clock.now();
  const [{ ids, total }, facets] = await Promise.all([
    findUsers(app, view, order, slice),
    app.cache.read('traffic:facets', COUNTS_MS, () => listFacets(app.db, now)),
  ]);
  return {
    items: await readUsers(app, view, ids),
    nodes: view.nodes,
    total,
    ...slice,
    periodDays: view.range.periodDays,
    availableTariffs: facets.tariffs,
    availableStatuses: facets.statuses,
  };
}

/**
 * Devices, money spent, dates and last node of the panel's users; of those with the most traffic when there are more than 20,000. While the
 * panel gives no answer devices are 0 and nodes null (spec 06 section 5).
 */
export async function readDetails(app: App): Promise<TrafficRow[]> {
  const details = await detailsFill(app);
  const fills = { usage: await findNewestUsage(app.db), details: details?.id ?? null };
  const ids = await rank(app, fills, 'total_bytes', true, { limit: MOST_DETAILED, offset: 0 });
  return listRows(app.db, fills, ids, app.clock.now());
}

/** @param needsDetails devices and last nodes are read from the panel too */
export async function openView(
  app: App,
  request: RangeRequest & TrafficFilters,
  search: string | null,
  needsDetails: boolean,
): Promise<TrafficView> {
  const range = trafficRange(request, app.clock.now());
  const [usage, details]: (Fill | null)[] = [await usageFill(app, range), needsDetails ? await detailsFill(app) : null];
  const nodes = usage?.nodes ?? [];
  const wanted = new Set(listFilter(request.nodes));
  const chosen = nodes.filter((node) => wanted.has(node.uuid));
  return {
    range,
    fills: { usage: usage?.id ?? null, details: details?.id ?? null },
    nodes,
    filter: {
      search: searchTerms(search),
      tariffs: listFilter(request.tariffs),
      statuses: listFilter(request.statuses),
      nodes: chosen.map((node) => node.uuid),
    },
    shownNodes: chosen.length > 0 ? chosen : nodes,
  };
}

/** @returns the ids of a page, and how many users match */
export async function findUsers(
  app: App,
  { fills, filter }: TrafficView,
  order: TrafficOrder,
  slice: { limit: number; offset: number },
): Promise<{ ids: number[]; total: number }> {
  const isUnfiltered =
    filter.search === null && [filter.tariffs, filter.statuses, filter.nodes].every((list) => list.length === 0);
  if (!isUnfiltered || typeof order.key !== 'string') return findIds(app.db, fills, filter, order, slice, app.clock.now());
  return { ids: await rank(app, fills, order.key, order.isDescending, slice), total: await readTotal(app) };
}

const readTotal = (app: App): Promise<number> => app.cache.read('traffic:users', COUNTS_MS, () => countPanelUsers(app.db));

function rank(
  app: App,
  fills: FillIds,
  sort: TrafficSort,
  isDescending: boolean,
  slice: { limit: number; offset: number },
): Promise<number[]> {
  return rankIds(
    app.db,
    { sort, isDescending, fills, slice },
    {
      total: () => readTotal(app),
      withRow: () => app.cache.read(`traffic:${countKey(sort, fills)}`, COUNTS_MS, () => countWithRow(app.db, sort, fills)),
    },
  );
}

/** The users of a page, with the traffic of the shown nodes alone. */
export async function readUsers(app: App, { fills, filter }: TrafficView, ids: readonly number[]): Promise<UserTraffic[]> {
  const rows = await listRows(app.db, fills, ids, app.clock.now());
  return rows.map((row) => {
    const isShown = (uuid: string) => filter.nodes.length === 0 || filter.nodes.includes(uuid);
    const entries = Object.entries(row.nodeTraffic).filter(([uuid, bytes]) => bytes > 0 && isShown(uuid));
    const totalBytes = Math.min(
      entries.reduce((sum, [, bytes]) => sum + bytes, 0),
      Number.MAX_SAFE_INTEGER,
    );
    return { ...row, fullName: fullName(row), nodeTraffic: Object.fromEntries(entries), totalBytes };
  });
}

/** Anything unknown is the total. */
function orderOf(sortBy: string, isDescending: boolean): TrafficOrder {
  if (sortBy.startsWith('node_')) return { key: { node: sortBy.slice('node_'.length) }, isDescending };
  return { key: isTrafficSort(sortBy) ? sortBy : 'total_bytes', isDescending };
}
