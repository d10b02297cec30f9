import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { PanelUserBytes } from '../../provisioning/panel-objects.ts';
import { type FillIds, FULL_NAME, PANEL_USERS, type TrafficSort } from './repo.ts';

const FILL = columns('PanelTrafficFill', ['id', 'nodes', 'finishedAt']);

export interface FillNode {
  uuid: string;
  name: string;
  countryCode: string;
}

/** A finished reading of the panel. */
export type Fill = Omit<RowOf<typeof FILL>, 'nodes' | 'finishedAt'> & { nodes: FillNode[]; finishedAt: Date };

const LEASE = "interval '5 minutes'";

/** The newest finished reading of the key. */
export async function findFill(db: Db, key: string): Promise<Fill | null> {
  const [row] = await db.sql<Fill>(
    `SELECT ${FILL.of()} FROM panel_traffic_fills WHERE key = $1 AND finished_at IS NOT NULL ORDER BY finished_at DESC, id DESC LIMIT 1`,
    [key],
  );
  return row ?? null;
}

export async function isReading(db: Db, key: string): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM panel_traffic_fills WHERE key = $1 AND finished_at IS NULL', [key]);
  return rows.length > 0;
}

/** Starts a reading, in place of one whose instance is gone. @returns null while another one is in progress */
export async function startFill(db: Db, key: string, now: Date): Promise<number | null> {
  await db.sql('DELETE FROM panel_traffic_fills WHERE key = $1 AND finished_at IS NULL AND lease_until < now() RETURNING id', [
    key,
  ]);
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO panel_traffic_fills (key, lease_until, started_at) VALUES ($1, now() + ${LEASE}, $2::timestamptz)
     ON CONFLICT (key) WHERE finished_at IS NULL DO NOTHING RETURNING id`,
    [key, now],
  );
  return row?.id ?? null;
}

/** @throws Error when the reading was taken over */
export async function renewFill(db: Db, id: number): Promise<void> {
  const rows = await db.sql(
    `UPDATE panel_traffic_fills SET lease_until = now() + ${LEASE} WHERE id = $1::int AND finished_at IS NULL RETURNING id`,
    [id],
  );
  if (rows.length === 0) throw new Error('the reading of the panel was taken over');
}

/** Keys of readings that are needed for longer than those that are shown. */
const IS_KEPT = "o.key LIKE 'kept:%'";

/** The reading is shown from now on; older ones of the key and those of other days that nobody read for an hour go. */
export async function finishFill(db: Db, id: number, nodes: readonly FillNode[], now: Date): Promise<Fill> {
  const [row] = await db.sql<Fill>(
    `UPDATE panel_traffic_fills SET nodes = $2::jsonb, finished_at = $3::timestamptz WHERE id = $1::int RETURNING ${FILL.of()}`,
    [id, JSON.stringify(nodes), now],
  );
  if (!row) throw new Error('the reading of the panel was taken over');
  await db.sql(
    `DELETE FROM panel_traffic_fills o USING panel_traffic_fills f WHERE f.id = $1::int AND o.finished_at IS NOT NULL AND o.id <> f.id
       AND (o.key = f.key OR (o.finished_at < $2::timestamptz - interval '1 hour' AND NOT ${IS_KEPT})) RETURNING o.id`,
    [id, now],
  );
  return row;
}

export async function dropFill(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM panel_traffic_fills WHERE id = $1::int AND finished_at IS NULL RETURNING id', [id]);
}

/**
 * Adds the traffic of users through one node; users that are not known here are left out. Several nodes are added at once: the rows are
 * locked in the order of users, so that two statements never wait for each other.
 */
export async function addNodeBytes(db: Db, fillId: number, nodeUuid: string, rows: readonly PanelUserBytes[]): Promise<void> {
  await db.sql(
    `INSERT INTO panel_traffic_users AS r (fill_id, user_id, total_bytes, node_bytes)
     SELECT $1::int, u.id, b."totalBytes", jsonb_build_object($2::text, b."totalBytes")
     FROM jsonb_to_recordset($3::jsonb) AS b("userUuid" uuid, "totalBytes" bigint) JOIN users u ON u.vpnpanel_uuid = b."userUuid"
     ORDER BY u.id ON CONFLICT (fill_id, user_id) DO UPDATE SET total_bytes = least(r.total_bytes + EXCLUDED.total_bytes, 9007199254740991),
       node_bytes = r.node_bytes || EXCLUDED.node_bytes RETURNING r.user_id`,
    [fillId, nodeUuid, JSON.stringify(rows)],
  );
}

/** Adds devices and last nodes of users; a name that is null leaves the known one. */
export async function addDetails(
  db: Db,
  fillId: number,
  rows: readonly { userUuid: string; devices: number; lastNodeName: string | null }[],
): Promise<void> {
  await db.sql(
    `INSERT INTO panel_user_details AS r (fill_id, user_id, devices_connected, last_node_name)
     SELECT $1::int, u.id, b.devices, b."lastNodeName"
     FROM jsonb_to_recordset($2::jsonb) AS b("userUuid" uuid, devices int, "lastNodeName" text) JOIN users u ON u.vpnpanel_uuid = b."userUuid"
     ON CONFLICT (fill_id, user_id) DO UPDATE SET devices_connected = r.devices_connected + EXCLUDED.devices_connected,
       last_node_name = coalesce(EXCLUDED.last_node_name, r.last_node_name) RETURNING r.user_id`,
    [fillId, JSON.stringify(rows)],
  );
}

/** Deletes kept readings whose keys are before this one. */
export async function dropKeptBefore(db: Db, key: string): Promise<void> {
  await db.sql(`DELETE FROM panel_traffic_fills o WHERE ${IS_KEPT} AND o.key < $1 RETURNING o.id`, [key]);
}

/**
 * Pages of all panel users in an order that an index has, so that none of them sorts or reads all users. Users without a row of the table,
 * e.g. without a subscription, have the lowest value and follow by id, or precede.
 */
interface Ranking {
  table: string;
  /** The indexed expression of the row `r`. */
  key: string;
  /** The reading that the rows belong to; null = rows are not of a reading. */
  fill: keyof FillIds | null;
  /** Every user has a row. */
  isComplete?: true;
  /** Rows that have a value; default: all. */
  where?: string;
}

const RANKINGS: Record<Exclude<TrafficSort, 'full_name' | 'tariff_name'>, Ranking> = {
  total_bytes: { table: 'panel_traffic_users', key: 'r.total_bytes', fill: 'usage' },
  connected: { table: 'panel_user_details', key: 'r.devices_connected', fill: 'details' },
  last_node: { table: 'panel_user_details', key: "lower(left(coalesce(r.last_node_name, ''), 200))", fill: 'details' },
  total_spent: { table: 'user_stats', key: 'r.total_spent_kopeks', fill: null, isComplete: true },
  sub_start: { table: 'subscriptions', key: 'r.start_date', fill: null },
  sub_end: { table: 'subscriptions', key: 'r.end_date', fill: null },
  device_limit: { table: 'subscriptions', key: 'r.device_limit', fill: null },
  traffic_limit_gb: { table: 'subscriptions', key: 'r.traffic_limit_gb', fill: null },
};

const BY_TARIFF: Ranking = { table: 'subscriptions', key: '', fill: null, where: 'r.tariff_id IS NOT NULL' };

interface RankRequest {
  sort: TrafficSort;
  isDescending: boolean;
  fills: FillIds;
  slice: { limit: number; offset: number };
}

/** How many of the panel users there are, and how many of them have a row; both may be some seconds old. */
interface RankCounts {
  total: () => Promise<number>;
  withRow: () => Promise<number>;
}

/** Ids of a page. The counts are only asked where rows and users without one meet. */
export async function rankIds(db: Db, request: RankRequest, counts: RankCounts): Promise<number[]> {
  const { sort, isDescending, slice, fills } = request;
  if (sort === 'full_name') return read(db, namesSql(isDescending), slice, null);
  const ranking = rankingOf(sort);
  const fill = ranking.fill === null ? null : fills[ranking.fill];
  const rows = sort === 'tariff_name' ? tariffsSql(isDescending) : rowsSql(ranking, isDescending);
  if (ranking.isComplete) return read(db, rows, slice, fill);
  const rest = restSql(ranking, isDescending);
  const { limit, offset } = slice;
  if (isDescending) {
    const ids = await read(db, rows, slice, fill);
    // A full page needs no count of those before it.
    if (ids.length === limit) return ids;
    const missing = { limit: limit - ids.length, offset: Math.max(0, offset - (await counts.withRow())) };
    return [...ids, ...(await read(db, rest, missing, fill))];
  }
  const without = Math.max(0, (await counts.total()) - (await counts.withRow()));
  const ids = offset < without ? await read(db, rest, { limit: Math.min(limit, without - offset), offset }, fill) : [];
  return [...ids, ...(await read(db, rows, { limit: limit - ids.length, offset: Math.max(0, offset - without) }, fill))];
}

/** Panel users that have a row, for `RankCounts`. */
export async function countWithRow(db: Db, sort: TrafficSort, fills: FillIds): Promise<number> {
  const ranking = rankingOf(sort);
  const [row] = await db.sql<{ users: number }>(
    `SELECT count(*)::int AS users FROM ${ranking.table} r JOIN users u ON u.id = r.user_id WHERE ${PANEL_USERS} AND ${ofFill(ranking, '$1')}`,
    [ranking.fill === null ? null : fills[ranking.fill]],
  );
  return row!.users;
}

/** What a count of `countWithRow` depends on. */
export function countKey(sort: TrafficSort, fills: FillIds): string {
  const { table, fill, where } = rankingOf(sort);
  return `${table}:${fill === null ? '' : fills[fill]}:${where ?? ''}`;
}

const rankingOf = (sort: TrafficSort): Ranking => (sort === 'tariff_name' || sort === 'full_name' ? BY_TARIFF : RANKINGS[sort]);

/** The condition also names the parameter where there is no reading. */
function ofFill({ fill, where = 'true' }: Ranking, parameter: string): string {
  return `${where} AND ${fill === null ? `${parameter}::int IS NULL` : `r.fill_id = ${parameter}::int`}`;
}

const PAGE = 'LIMIT $1::int OFFSET $2::bigint';

/** Of equal values the ids follow the direction, as the index has them; the index of traffic has the largest first. */
function rowsSql(ranking: Ranking, isDescending: boolean): string {
  const direction = isDescending ? 'DESC' : 'ASC';
  const ids = ranking.table === 'panel_traffic_users' ? 'ASC' : direction;
  return `SELECT r.user_id AS id FROM ${ranking.table} r JOIN users u ON u.id = r.user_id WHERE ${ofFill(ranking, '$3')} AND ${PANEL_USERS}
    ORDER BY ${ranking.key} ${direction}, r.user_id ${ids} ${PAGE}`;
}

function restSql(ranking: Ranking, isDescending: boolean): string {
  const ids = isDescending && ranking.table !== 'panel_traffic_users' ? 'DESC' : 'ASC';
  return `SELECT u.id FROM users u WHERE ${PANEL_USERS} AND NOT EXISTS (
      SELECT 1 FROM ${ranking.table} r WHERE r.user_id = u.id AND ${ofFill(ranking, '$3')}) ORDER BY u.id ${ids} ${PAGE}`;
}

/** Tariff by tariff; of each no more rows than the page may need. */
function tariffsSql(isDescending: boolean): string {
  const direction = isDescending ? 'DESC' : 'ASC';
  return `SELECT x.id FROM tariffs t CROSS JOIN LATERAL (
      SELECT r.user_id AS id FROM subscriptions r JOIN users u ON u.id = r.user_id WHERE r.tariff_id = t.id AND ${PANEL_USERS}
        AND $3::int IS NULL ORDER BY r.user_id ${direction} LIMIT $1::bigint + $2::bigint) x
    ORDER BY lower(t.name) ${direction}, t.id ${direction}, x.id ${direction} ${PAGE}`;
}

function namesSql(isDescending: boolean): string {
  const direction = isDescending ? 'DESC' : 'ASC';
  return `SELECT u.id FROM users u WHERE ${PANEL_USERS} AND $3::int IS NULL ORDER BY ${FULL_NAME} ${direction}, u.id ${direction} ${PAGE}`;
}

async function read(db: Db, sql: string, { limit, offset }: { limit: number; offset: number }, fill: number | null) {
  if (limit <= 0) return [];
  return (await db.sql<{ id: number }>(sql, [limit, offset, fill])).map((row) => row.id);
}
