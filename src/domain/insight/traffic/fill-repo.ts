import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { PanelUserBytes } from '../../provisioning/panel-objects.ts';

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
