import type { Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { type DatedServer, SERVER_COLUMNS, SERVER_ORDER } from './find-squads.ts';
import type { ServerSquad } from './types.ts';

export function countAll(db: Db): Promise<number> {
  return db.prisma.serverSquad.count();
}

export async function findById(db: Db, id: number): Promise<DatedServer | null> {
  const [row] = await db.sql<DatedServer>(`SELECT ${SERVER_COLUMNS} FROM server_squads s WHERE s.id = $1::bigint`, [id]);
  return row ?? null;
}

export interface ServerFilter {
  availableOnly: boolean;
  /** Part of a name, of the uuid or of the country code, in any case. */
  search: string | null;
}

/** A page in the usual order and the number of all that match. */
export async function listPage(
  db: Db,
  filter: ServerFilter,
  page: { offset: number; limit: number },
): Promise<{ servers: DatedServer[]; total: number }> {
  const matches = `(s.is_available OR NOT $1::boolean) AND ($2::text IS NULL OR concat_ws(E'\\n', s.display_name, s.original_name,
    s.squad_uuid, s.country_code) ILIKE $2::text)`;
  const pattern = filter.search ? `%${filter.search.replace(/[\\%_]/g, '\\$&')}%` : null;
  const [servers, [count]] = await Promise.all([
    db.sql<DatedServer>(
      `SELECT ${SERVER_COLUMNS} FROM server_squads s WHERE ${matches} ORDER BY ${SERVER_ORDER} OFFSET $3::bigint LIMIT $4::bigint`,
      [filter.availableOnly, pattern, page.offset, page.limit],
    ),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM server_squads s WHERE ${matches}`, [
      filter.availableOnly,
      pattern,
    ]),
  ]);
  return { servers, total: count!.total };
}

/** The columns that the administration writes. */
export type ServerValues = Omit<ServerSquad, 'id' | 'squadUuid' | 'currentUsers' | 'allowedPromoGroupIds'>;

/** @returns the id of the new server; null when the uuid is taken */
export async function insertServer(db: Db, squadUuid: string, values: ServerValues, now: Date): Promise<number | null> {
  const data = { ...values, squadUuid, createdAt: now, updatedAt: now };
  const [row] = await db.prisma.serverSquad.createManyAndReturn({ data: [data], skipDuplicates: true, select: { id: true } });
  return row?.id ?? null;
}

/** @returns false when there is no such server */
export async function updateServerRow(db: Db, id: number, values: Partial<ServerValues>, now: Date): Promise<boolean> {
  const { count } = await db.prisma.serverSquad.updateMany({ where: { id }, data: { ...values, updatedAt: now } });
  return count > 0;
}

/** Replaces the groups that may use the server. `groupIds` must exist. */
export async function replaceServerGroups(db: Db, serverSquadId: number, groupIds: readonly number[]): Promise<void> {
  await db.prisma.serverSquadPromoGroup.deleteMany({ where: { serverSquadId, promoGroupId: { notIn: [...groupIds] } } });
  const data = groupIds.map((promoGroupId) => ({ serverSquadId, promoGroupId }));
  await db.prisma.serverSquadPromoGroup.createMany({ data, skipDuplicates: true });
}

/** @returns the new flag; null when there is no such server */
export async function flipServerFlag(
  db: Db,
  id: number,
  column: 'is_available' | 'is_trial_eligible',
  now: Date,
): Promise<boolean | null> {
  const [row] = await db.sql<{ flag: boolean }>(
    `UPDATE server_squads SET ${column} = NOT ${column}, updated_at = $2::timestamptz WHERE id = $1::bigint RETURNING ${column} AS flag`,
    [id, now],
  );
  return row?.flag ?? null;
}

/** Locks the server and says whether subscriptions are linked to it or have its squad; null when there is none. */
export async function lockServerUse(db: Db, id: number): Promise<{ isInUse: boolean } | null> {
  const [server] = await db.sql<{ squadUuid: string }>('SELECT squad_uuid FROM server_squads WHERE id = $1::bigint FOR UPDATE', [
    id,
  ]);
  if (!server) return null;
  const [row] = await db.sql<{ isInUse: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM subscription_servers WHERE server_squad_id = $1::int)
       OR EXISTS (SELECT 1 FROM subscriptions WHERE connected_squads @> $2::jsonb AND status IN ('active', 'trial')) AS is_in_use`,
    [id, JSON.stringify([server.squadUuid])],
  );
  return { isInUse: row!.isInUse };
}

/** Recounts the users of all squads (spec 02 H20); triggers maintain the counters otherwise. @returns the number of servers */
export async function recountUsers(db: Db): Promise<number> {
  await db.sql('SELECT recount_squads()::text AS done');
  return countAll(db);
}

/** Kopeks per 30 days of a server that the sync creates. */
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

type MissingServer = Pick<Rows['ServerSquad'], 'id' | 'squadUuid'>;

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
