import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { csvLine } from '../../../core/csv.ts';
import { refusal } from '../../../core/errors.ts';
import { rublesOf } from '../../../core/money.ts';
import { findUserById } from '../../identity/find-user.ts';
import { fullName } from '../../identity/rules.ts';
import { MessengerError } from '../../messaging/ports.ts';
import { text } from '../../messaging/texts.ts';
import { searchTerms } from '../../users/list/rules.ts';
import { detailsFill, usageFill } from './fill.ts';
import { countKey, countWithRow, type Fill, type FillNode, rankIds } from './fill-repo.ts';
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
import { gibOf, listFilter, type RangeRequest, type RiskThresholds, riskOf, type TrafficRange, trafficRange } from './rules.ts';

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
 * panel does not answer devices are 0 and nodes null.
 */
export async function readDetails(app: App): Promise<TrafficRow[]> {
  const details = await detailsFill(app);
  const fills = { usage: await findNewestUsage(app.db), details: details?.id ?? null };
  const ids = await rank(app, fills, 'total_bytes', true, { limit: MOST_DETAILED, offset: 0 });
  return listRows(app.db, fills, ids, app.clock.now());
}

/** @param needsDetails devices and last nodes are read from the panel too */
async function openView(
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
async function findUsers(
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
async function readUsers(app: App, { fills, filter }: TrafficView, ids: readonly number[]): Promise<UserTraffic[]> {
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

export const noMessengerId = refusal('no_messenger_id', 400, 'Admin has no messenger ID configured');
export const exportNotSent = refusal('export_not_sent', 502, 'Failed to send CSV report. Please try again later.');

/** Bounds of a file: users, those with the most traffic first, and characters; the messenger accepts 50 MB. */
const MOST_USERS = 100_000;
const MOST_CHARACTERS = 20_000_000;
const ROWS_AT_ONCE = 1_000;

const COLUMNS = [
  ...['User ID', 'Messenger ID', 'Username', 'Email', 'Full Name', 'Tariff', 'Status', 'Traffic Limit (GB)', 'Device Limit'],
  ...['Connected Devices', 'Total Spent (RUB)', 'Sub Start', 'Sub End', 'Last Node'],
];
const RISK_COLUMNS = ['Total GB/day', 'Risk Level', 'Risk Ratio', 'Risk GB/day'];

type TrafficExport = RangeRequest & TrafficFilters & { totalThresholdGb: number | null; nodeThresholdGb: number | null };

/**
 * Sends the traffic of the users as a CSV file to the administrator's own chat.
 * @returns the number of users in the file
 * @throws AppError 400 no messenger id, range | 502 the panel, or the messenger, does not answer
 */
export async function exportTraffic(app: App, actor: AdminActor, request: TrafficExport): Promise<number> {
  const admin = await findUserById(app, actor.userId);
  if (!admin || admin.messengerId === null) throw noMessengerId();
  const view = await openView(app, request, null, true);
  const order = { key: 'total_bytes', isDescending: true } as const;
  const { ids, total } = await findUsers(app, view, order, { limit: MOST_USERS, offset: 0 });
  const { file, users } = await writeFile(app, view, ids, { total: request.totalThresholdGb, node: request.nodeThresholdGb });
  const stamp = app.clock.now().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '_');
  const caption = text(admin.language, 'messages.traffic_report', {
    period: view.range.label,
    users: users < total ? `${users} / ${total}` : users,
  });
  const name = `traffic_usage_${view.range.label}_${stamp}.csv`;
  try {
    const document = { name, contentType: 'text/csv', bytes: Buffer.from(file) };
    await app.ports.messenger.sendFile(admin.messengerId, 'document', document, caption);
  } catch (error) {
    if (!(error instanceof MessengerError)) throw error;
    app.log.warn({ failure: error.failure.kind }, 'traffic: the file could not be sent');
    throw exportNotSent({ cause: error });
  }
  app.audit?.record({ after: { users, period: view.range.label } });
  return users;
}

async function writeFile(
  app: App,
  view: TrafficView,
  ids: readonly number[],
  thresholds: RiskThresholds,
): Promise<{ file: string; users: number }> {
  const hasRisk = Boolean(thresholds.total) || Boolean(thresholds.node);
  const head = [...COLUMNS, ...view.shownNodes.map((node) => `${node.name} (bytes)`), 'Total (bytes)', 'Total (GB)'];
  const lines = [csvLine([...head, ...(hasRisk ? RISK_COLUMNS : [])])];
  let characters = lines[0]!.length;
  for (let at = 0; at < ids.length && characters < MOST_CHARACTERS; at += ROWS_AT_ONCE) {
    for (const user of await readUsers(app, view, ids.slice(at, at + ROWS_AT_ONCE))) {
      const row = csvLine([...cellsOf(user, view), ...(hasRisk ? riskCells(user, view, thresholds) : [])]);
      characters += row.length;
      lines.push(row);
    }
  }
  // The mark makes spreadsheets read UTF-8.
  return { file: `\uFEFF${lines.join('')}`, users: lines.length - 1 };
}

function cellsOf(user: UserTraffic, { shownNodes }: TrafficView): (string | number | null)[] {
  return [
    ...[user.id, user.messengerId, user.username, user.email, user.fullName, user.tariffName, user.subscriptionStatus],
    ...[user.trafficLimitGb, user.deviceLimit, user.devicesConnected, rublesOf(user.totalSpentKopeks)],
    ...[user.startDate?.toISOString() ?? null, user.endDate?.toISOString() ?? null, user.lastNodeName],
    ...shownNodes.map((node) => user.nodeTraffic[node.uuid] ?? 0),
    ...[user.totalBytes, gibOf(user.totalBytes)],
  ];
}

function riskCells(user: UserTraffic, { range }: TrafficView, thresholds: RiskThresholds): string[] {
  const risk = riskOf(user.totalBytes, Object.values(user.nodeTraffic), range.periodDays, thresholds);
  return [risk.totalGbPerDay.toFixed(4), risk.level, risk.ratio.toFixed(3), risk.gbPerDay.toFixed(4)];
}
