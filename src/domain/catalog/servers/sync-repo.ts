import type { Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

/** Kopeks per 30 days of a server that the sync creates (spec 06 section 10). */
const NEW_SERVER_PRICE_KOPEKS = 1000;

interface PanelSquad {
  uuid: string;
  name: string;
}

/** One sync at a time; readers and purchases are not blocked. */
export async function lockServerTable(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('catalog.server_sync'))::text AS locked");
}

/**
 * The squads of the very first list are on sale and open to trials, since the default tariff would sell no server otherwise (08 P5);
 * later ones wait for an administrator.
 * @returns how many were new
 */
export async function insertPanelSquads(db: Db, squads: readonly PanelSquad[], now: Date): Promise<number> {
  const rows = await db.sql<{ id: number }>(
    `WITH first AS (SELECT NOT EXISTS (SELECT 1 FROM server_squads) AS is_first), fresh AS (
       INSERT INTO server_squads (squad_uuid, display_name, original_name, is_available, is_trial_eligible, price_kopeks, created_at,
         updated_at)
       SELECT uuid, left(name, 255), left(name, 255), (SELECT is_first FROM first), (SELECT is_first FROM first), $3::int,
         $4::timestamptz, $4::timestamptz
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

export type MissingServer = Pick<Rows['ServerSquad'], 'id' | 'squadUuid'>;

/** Servers that the panel does not have, by whether they are still on sale; external squads of tariffs are left out. */
export async function splitMissing(
  db: Db,
  known: readonly string[],
): Promise<{ onSale: MissingServer[]; offSale: MissingServer[] }> {
  const rows = await db.sql<MissingServer & { isAvailable: boolean }>(
    `SELECT id, squad_uuid, is_available FROM server_squads s
     WHERE squad_uuid <> ALL($1::text[])
       AND NOT EXISTS (SELECT 1 FROM tariffs t WHERE t.external_squad_uuid::text = lower(s.squad_uuid))
     ORDER BY id FOR UPDATE`,
    [[...known]],
  );
  return { onSale: rows.filter((row) => row.isAvailable), offSale: rows.filter((row) => !row.isAvailable) };
}

export async function takeOffSale(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.prisma.serverSquad.updateMany({ where: { id: { in: [...ids] } }, data: { isAvailable: false, updatedAt: now } });
}

/** A tariff without squads means every server, so a tariff that loses its last squad is deactivated and loses the trial flag. */
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

/** Deletes also the links to subscriptions and promo groups. */
export async function deleteServers(db: Db, ids: readonly number[]): Promise<void> {
  await db.prisma.serverSquad.deleteMany({ where: { id: { in: [...ids] } } });
}
