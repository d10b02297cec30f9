import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { TextParams } from '../messaging/texts.ts';

export interface ReadTraffic {
  panelUuid: string;
  usedBytes: number;
}

/**
 * Stores what users have used and compares it with what is stored. A user who is new, whose row is older than `validFrom`, or whose
 * counter was reset has no increase. Rows that say the same are not written again until they are old, since a panel has a million users.
 * @returns the users with an increase of at least `thresholdBytes`
 */
export async function storeSnapshots(
  db: Db,
  rows: readonly ReadTraffic[],
  { now, validFrom, refreshBefore, thresholdBytes }: { now: Date; validFrom: Date; refreshBefore: Date; thresholdBytes: number },
): Promise<{ panelUuid: string; increaseBytes: number }[]> {
  return db.sql(
    `WITH given AS (
         SELECT DISTINCT ON (g."panelUuid") g."panelUuid" AS panel_uuid, g."usedBytes" AS used_bytes
         FROM jsonb_to_recordset($1::jsonb) AS g("panelUuid" uuid, "usedBytes" bigint) ORDER BY g."panelUuid"),
       known AS MATERIALIZED (
         SELECT s.panel_uuid, s.used_bytes, s.read_at FROM traffic_snapshots s JOIN given g ON g.panel_uuid = s.panel_uuid),
       stored AS (
         INSERT INTO traffic_snapshots AS s (panel_uuid, used_bytes, read_at)
         SELECT panel_uuid, used_bytes, $2::timestamptz FROM given ORDER BY panel_uuid
         ON CONFLICT (panel_uuid) DO UPDATE SET used_bytes = EXCLUDED.used_bytes, read_at = EXCLUDED.read_at
           WHERE s.used_bytes <> EXCLUDED.used_bytes OR s.read_at < $4::timestamptz RETURNING s.panel_uuid)
     SELECT g.panel_uuid, g.used_bytes - k.used_bytes AS increase_bytes
     FROM given g JOIN known k ON k.panel_uuid = g.panel_uuid
     WHERE k.read_at >= $3::timestamptz AND g.used_bytes > k.used_bytes AND g.used_bytes - k.used_bytes >= $5::bigint`,
    [JSON.stringify(rows), now, validFrom, refreshBefore, Math.ceil(thresholdBytes)],
  );
}

/** @returns whether the administrators may be notified of this user now, which counts as done; of two callers at once, one gets true */
export async function claimAlarm(db: Db, panelUuid: string, now: Date, notifiedBefore: Date): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO traffic_alarms AS a (panel_uuid, notified_at) VALUES ($1::uuid, $2::timestamptz)
     ON CONFLICT (panel_uuid) DO UPDATE SET notified_at = EXCLUDED.notified_at WHERE a.notified_at <= $3::timestamptz
     RETURNING a.panel_uuid`,
    [panelUuid, now, notifiedBefore],
  );
  return rows.length > 0;
}

export interface UserOfDay {
  panelUuid: string;
  /** Node uuid to bytes, of the readings that count and of those that are taken off. */
  added: Record<string, number>[];
  removed: Record<string, number>[];
  messengerId: number | null;
  username: string | null;
  email: string | null;
}

/**
 * Users with at least so much traffic in some readings together, less that in others, most first.
 * @param fills ids of readings that count, and of readings of which a part of those consists
 */
export function listHeavyUsers(
  db: Db,
  { added, removed }: { added: readonly number[]; removed: readonly number[] },
  thresholdBytes: number,
  limit: number,
): Promise<UserOfDay[]> {
  const nodesOf = (fills: string) => `(SELECT coalesce(jsonb_agg(r.node_bytes), '[]') FROM panel_traffic_users r
    WHERE r.fill_id = ANY(${fills}::int[]) AND r.user_id = h.user_id)`;
  return db.sql<UserOfDay>(
    `SELECT u.vpnpanel_uuid AS panel_uuid, ${nodesOf('$1')} AS added, ${nodesOf('$2')} AS removed, u.messenger_id, u.username, u.email
     FROM (
       SELECT r.user_id, sum(CASE WHEN r.fill_id = ANY($1::int[]) THEN r.total_bytes ELSE -r.total_bytes END) AS bytes
       FROM panel_traffic_users r WHERE r.fill_id = ANY($1::int[] || $2::int[])
       GROUP BY r.user_id HAVING sum(CASE WHEN r.fill_id = ANY($1::int[]) THEN r.total_bytes ELSE -r.total_bytes END) >= $3::bigint
       ORDER BY bytes DESC, r.user_id LIMIT $4::int) h
     JOIN users u ON u.id = h.user_id WHERE u.vpnpanel_uuid IS NOT NULL ORDER BY h.bytes DESC, h.user_id`,
    [[...added], [...removed], Math.ceil(thresholdBytes), limit],
  );
}

// Increases that the fast check has found and that the administrators have not been notified of.

const VIOLATION = columns('TrafficViolation', ['panelUuid', 'bytes', 'texts']);

/** A user whose traffic the administrators should see. */
export type Violation = Omit<RowOf<typeof VIOLATION>, 'texts'> & {
  /** Of the message; values are escaped there. */
  texts: TextParams;
};

/** Stores what was found; of two increases of a user the larger one stays. */
export async function insertViolations(db: Db, violations: readonly Violation[], foundAt: Date): Promise<void> {
  if (violations.length === 0) return;
  await db.sql(
    `INSERT INTO traffic_violations AS v (panel_uuid, bytes, texts, found_at)
     SELECT DISTINCT ON (g."panelUuid") g."panelUuid", g.bytes, g.texts, $2::timestamptz
     FROM jsonb_to_recordset($1::jsonb) AS g("panelUuid" uuid, bytes bigint, texts jsonb) ORDER BY g."panelUuid", g.bytes DESC
     ON CONFLICT (panel_uuid) DO UPDATE SET bytes = EXCLUDED.bytes, texts = EXCLUDED.texts, found_at = EXCLUDED.found_at
       WHERE v.bytes < EXCLUDED.bytes RETURNING v.panel_uuid`,
    [JSON.stringify(violations), foundAt],
  );
}

/**
 * Removes what was found until a given time. @returns it, to be sent in the same transaction; of two callers at once each gets other rows
 */
export function takeViolations(db: Db, foundUntil: Date): Promise<Violation[]> {
  return db.sql<Violation>(
    `DELETE FROM traffic_violations v WHERE v.panel_uuid = ANY(ARRAY(
       SELECT panel_uuid FROM traffic_violations WHERE found_at <= $1::timestamptz ORDER BY panel_uuid FOR UPDATE))
     RETURNING ${VIOLATION.of('v')}`,
    [foundUntil],
  );
}

/** Whether there is anything to send. */
export async function hasViolations(db: Db, foundUntil: Date): Promise<boolean> {
  const rows = await db.sql('SELECT panel_uuid FROM traffic_violations WHERE found_at <= $1::timestamptz LIMIT 1', [foundUntil]);
  return rows.length > 0;
}
