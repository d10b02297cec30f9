import type { Db } from '../../../core/db/db.ts';

/** Kopeks per 30 days of a server that the panel brought (spec 06 section 10). */
const NEW_SERVER_PRICE_KOPEKS = 1000;

interface PanelSquad {
  uuid: string;
  name: string;
}

/** One sync at a time; readers and purchases go on. */
export async function lockServerTable(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('catalog.server_sync'))::text AS locked");
}

/** @returns how many were new */
export async function insertPanelSquads(db: Db, squads: readonly PanelSquad[], now: Date): Promise<number> {
  const rows = await db.sql<{ id: number }>(
    `WITH fresh AS (
       INSERT INTO server_squads (squad_uuid, display_name, original_name, is_available, price_kopeks, created_at, updated_at)
       SELECT uuid, left(name, 255), left(name, 255), false, $3::int, $4::timestamptz, $4::timestamptz
       FROM unnest($1::text[], $2::text[]) AS squads(uuid, name)
       ON CONFLICT (squad_uuid) DO NOTHING RETURNING id)
     INSERT INTO server_squad_promo_groups (server_squad_id, promo_group_id)
     SELECT fresh.id, g.id FROM fresh CROSS JOIN promo_groups g WHERE g.is_default RETURNING server_squad_id AS id`,
    [squads.map((squad) => squad.uuid), squads.map((squad) => squad.name), NEW_SERVER_PRICE_KOPEKS, now],
  );
  return rows.length;
}

/** @returns how many had another name at the panel */
export async function refreshOriginalNames(db: Db, squads: readonly PanelSquad[], now: Date): Promise<number> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE server_squads s SET original_name = left(p.name, 255), updated_at = $3::timestamptz
     FROM unnest($1::text[], $2::text[]) AS p(uuid, name)
     WHERE s.squad_uuid = p.uuid AND s.original_name IS DISTINCT FROM left(p.name, 255) RETURNING s.id`,
    [squads.map((squad) => squad.uuid), squads.map((squad) => squad.name), now],
  );
  return rows.length;
}

export interface MissingServer {
  id: number;
  squadUuid: string;
}

/** Servers that the panel does not have, by whether they are still on sale; external squads of tariffs are left out. */
export async function splitMissing(
  db: Db,
  known: readonly string[],
): Promise<{ onSale: MissingServer[]; gone: MissingServer[] }> {
  const rows = await db.sql<MissingServer & { isAvailable: boolean }>(
    `SELECT id, squad_uuid AS "squadUuid", is_available AS "isAvailable" FROM server_squads s
     WHERE squad_uuid <> ALL($1::text[])
       AND NOT EXISTS (SELECT 1 FROM tariffs t WHERE t.external_squad_uuid::text = lower(s.squad_uuid))
     ORDER BY id FOR UPDATE`,
    [[...known]],
  );
  return { onSale: rows.filter((row) => row.isAvailable), gone: rows.filter((row) => !row.isAvailable) };
}

export async function takeOffSale(db: Db, ids: readonly number[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  await db.sql(
    'UPDATE server_squads SET is_available = false, updated_at = $2::timestamptz WHERE id = ANY($1::int[]) RETURNING id',
    [[...ids], now],
  );
}

/** Without its last squad a tariff would sell every server, and as trial tariff give them away: it is switched off as both. */
export async function dropSquadsFromTariffs(db: Db, uuids: readonly string[], now: Date): Promise<void> {
  if (uuids.length === 0) return;
  await db.sql(
    `UPDATE tariffs SET
       allowed_squads = allowed_squads - $1::text[], server_traffic_limits = server_traffic_limits - $1::text[],
       is_active = is_active AND allowed_squads - $1::text[] <> '[]'::jsonb,
       is_trial_available = is_trial_available AND allowed_squads - $1::text[] <> '[]'::jsonb, updated_at = $2::timestamptz
     WHERE allowed_squads ?| $1::text[] RETURNING id`,
    [[...uuids], now],
  );
}

/** The panel has already cut these subscriptions off, so nothing needs to be pushed. */
export async function dropSquadsFromSubscriptions(db: Db, uuids: readonly string[], now: Date): Promise<void> {
  if (uuids.length === 0) return;
  await db.sql(
    `UPDATE subscriptions SET connected_squads = connected_squads - $2::text[], updated_at = $3::timestamptz
     WHERE connected_squads @> ANY($1::jsonb[]) RETURNING id`,
    [uuids.map((uuid) => JSON.stringify([uuid])), [...uuids], now],
  );
}

/** Links to subscriptions and promo groups go with them. */
export async function deleteServers(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db.sql('DELETE FROM server_squads WHERE id = ANY($1::int[]) RETURNING id', [[...ids]]);
}
