import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import type { SearchTerms } from '../../users/types.ts';

const USER = columns('User', ['id', 'messengerId', 'username', 'firstName', 'lastName', 'email']);

/** A user of the panel with traffic of the reading, devices and last node; bytes, GB, kopeks. */
export type TrafficRow = RowOf<typeof USER> & {
  tariffName: string | null;
  /** Now; null without a subscription. */
  subscriptionStatus: string | null;
  trafficLimitGb: number;
  deviceLimit: number;
  startDate: Date | null;
  endDate: Date | null;
  /** Node uuid to bytes, all nodes. */
  nodeTraffic: Record<string, number>;
  devicesConnected: number;
  totalSpentKopeks: number;
  lastNodeName: string | null;
};

/** Ids of readings; null = there is none, everything of it is 0. */
export interface FillIds {
  usage: number | null;
  details: number | null;
}

export interface TrafficFilter {
  search: SearchTerms | null;
  /** Names; empty = all. */
  tariffs: readonly string[];
  /** Effective statuses; empty = all. */
  statuses: readonly string[];
  /** Uuids whose traffic counts; empty = all. */
  nodes: readonly string[];
}

export interface TrafficOrder {
  key: TrafficSort | { node: string };
  isDescending: boolean;
}

export type TrafficSort = keyof typeof SORTS | 'total_bytes';

const STATUS = (now: string) =>
  `CASE WHEN s.status IN ('active', 'trial') AND s.end_date <= ${now} THEN 'expired' ELSE s.status END`;

/** As `fullName` of identity; lower case: the expression of the index `users_full_name`. */
export const FULL_NAME = `lower(coalesce(nullif(btrim(coalesce(u.first_name, '') || ' ' || coalesce(u.last_name, '')), ''), nullif(u.username, ''),
  'ID' || u.messenger_id::text, nullif(split_part(u.email, '@', 1), ''), 'User' || u.id::text))`;

/** Text ignores case, and a missing one is empty; dates that are missing come first in ascending order. */
const SORTS = {
  full_name: FULL_NAME,
  tariff_name: `lower(coalesce(t.name, ''))`,
  device_limit: 'coalesce(s.device_limit, 1)',
  traffic_limit_gb: 'coalesce(s.traffic_limit_gb, 0)',
  connected: 'coalesce(d.devices_connected, 0)',
  total_spent: 'f.total_spent_kopeks',
  sub_start: `coalesce(s.start_date, '-infinity')`,
  sub_end: `coalesce(s.end_date, '-infinity')`,
  last_node: `lower(coalesce(d.last_node_name, ''))`,
} as const;

export const isTrafficSort = (text: string): text is TrafficSort => text === 'total_bytes' || Object.hasOwn(SORTS, text);

export const PANEL_USERS = 'u.vpnpanel_uuid IS NOT NULL';

const joins = (usage: string, details: string) => `LEFT JOIN user_stats f ON f.user_id = u.id
  LEFT JOIN subscriptions s ON s.user_id = u.id LEFT JOIN tariffs t ON t.id = s.tariff_id
  LEFT JOIN panel_traffic_users r ON r.fill_id = ${usage}::int AND r.user_id = u.id
  LEFT JOIN panel_user_details d ON d.fill_id = ${details}::int AND d.user_id = u.id`;

export async function countPanelUsers(db: Db): Promise<number> {
  const [row] = await db.sql<{ users: number }>(`SELECT count(*)::int AS users FROM users u WHERE ${PANEL_USERS}`);
  return row!.users;
}

/** Names of tariffs and effective statuses that users of the panel have, ascending. */
export async function listFacets(db: Db, now: Date): Promise<{ tariffs: string[]; statuses: string[] }> {
  const [row] = await db.sql<{ tariffs: string[]; statuses: string[] }>(
    `SELECT ARRAY(SELECT DISTINCT t.name FROM tariffs t WHERE t.name <> '' AND EXISTS (
         SELECT 1 FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.tariff_id = t.id AND ${PANEL_USERS}) ORDER BY 1) AS tariffs,
       ARRAY(SELECT DISTINCT w.shown FROM (VALUES ('active', 'active', false), ('trial', 'trial', false), ('expired', 'expired', NULL),
         ('active', 'expired', true), ('trial', 'expired', true), ('disabled', 'disabled', NULL), ('limited', 'limited', NULL),
         ('pending', 'pending', NULL)) AS w(stored, shown, is_past) WHERE EXISTS (
         SELECT 1 FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.status = w.stored AND ${PANEL_USERS}
           AND (w.is_past IS NULL OR (s.end_date <= $1::timestamptz) = w.is_past)) ORDER BY 1) AS statuses`,
    [now],
  );
  return row!;
}

/** The newest finished reading of traffic, of any days. */
export async function findNewestUsage(db: Db): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `SELECT id FROM panel_traffic_fills WHERE key LIKE 'usage:%' AND finished_at IS NOT NULL ORDER BY finished_at DESC, id DESC LIMIT 1`,
  );
  return row?.id ?? null;
}

/** Ids that match, in any order, and their exact number. */
export async function findIds(
  db: Db,
  fills: FillIds,
  filter: TrafficFilter,
  order: TrafficOrder,
  slice: { limit: number; offset: number },
  now: Date,
): Promise<{ ids: number[]; total: number }> {
  const { values, add } = statementValues();
  const from = joins(add(fills.usage), add(fills.details));
  const conditions = [PANEL_USERS, ...conditionsOf(filter, add, now)].join(' AND ');
  const sortKey = sortSql(order.key, filter, add);
  const direction = order.isDescending ? 'DESC' : 'ASC';
  const rows = await db.sql<{ id: number | null; total: number }>(
    `WITH matched AS MATERIALIZED (SELECT u.id, ${sortKey} AS sort_key FROM users u ${from} WHERE ${conditions}),
       page AS (SELECT id, sort_key FROM matched ORDER BY sort_key ${direction}, id LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT page.id, n.total FROM (SELECT count(*)::int AS total FROM matched) n LEFT JOIN page ON true ORDER BY page.sort_key ${direction}, page.id`,
    values,
  );
  return { ids: rows.flatMap((row) => row.id ?? []), total: rows[0]!.total };
}

function conditionsOf({ search, tariffs, statuses }: TrafficFilter, add: AddValue, now: Date): string[] {
  return [
    ...(tariffs.length === 0 ? [] : [`t.name = ANY(${add(tariffs)}::text[])`]),
    ...(statuses.length === 0 ? [] : [`${STATUS(`${add(now)}::timestamptz`)} = ANY(${add(statuses)}::text[])`]),
    ...(search === null ? [] : [searchSql(search, add)]),
  ];
}

/** Names and e-mails by the index of the administrator's list; a text with a blank may span two names, which that index keeps apart. */
function searchSql(terms: SearchTerms, add: AddValue): string {
  const names = "user_search_text(u.username::text, u.first_name::text, u.last_name::text, ''::text)";
  const like = `lower(${add(terms.pattern)})`;
  if (/\s/.test(terms.text)) return `(${FULL_NAME} LIKE ${like} OR ${names} LIKE ${like})`;
  const query = `search_query(${add(terms.text)})`;
  const indexed = (text: string) => `(search_windows(${text}) @@ ${query} AND ${text} LIKE ${like})`;
  return `(${indexed(names)} OR ${indexed('lower(u.email::text)')})`;
}

function sortSql(key: TrafficOrder['key'], { nodes }: TrafficFilter, add: AddValue): string {
  if (typeof key !== 'string') return `coalesce((r.node_bytes ->> ${add(key.node)}::text)::bigint, 0)`;
  if (key !== 'total_bytes') return SORTS[key];
  if (nodes.length === 0) return 'coalesce(r.total_bytes, 0)';
  return `coalesce((SELECT sum(n.value::bigint) FROM jsonb_each_text(r.node_bytes) n WHERE n.key = ANY(${add(nodes)}::text[])), 0)`;
}

/** The rows of these users, in this order. */
export async function listRows(db: Db, fills: FillIds, ids: readonly number[], now: Date): Promise<TrafficRow[]> {
  return db.sql<TrafficRow>(
    `SELECT ${USER.of('u')}, t.name AS tariff_name, ${STATUS('$3::timestamptz')} AS subscription_status,
       coalesce(s.traffic_limit_gb, 0) AS traffic_limit_gb, coalesce(s.device_limit, 1) AS device_limit, s.start_date, s.end_date,
       coalesce(r.node_bytes, '{}') AS node_traffic, coalesce(d.devices_connected, 0) AS devices_connected,
       f.total_spent_kopeks, d.last_node_name
     FROM unnest($4::int[]) WITH ORDINALITY AS o(id, place) JOIN users u ON u.id = o.id ${joins('$1', '$2')} ORDER BY o.place`,
    [fills.usage, fills.details, now, [...ids]],
  );
}
