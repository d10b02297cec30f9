import type { Db } from '../../../core/db/db.ts';
import type { ServerSquad } from '../types.ts';

export interface ServerRow {
  id: number;
  squadUuid: string;
  displayName: string;
  originalName: string | null;
  countryCode: string | null;
  isAvailable: boolean;
  isTrialEligible: boolean;
  priceKopeks: number;
  description: string | null;
  sortOrder: number;
  maxUsers: number | null;
  currentUsers: number;
  promoGroupIds: number[];
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = `s.id, s.squad_uuid, s.display_name, s.original_name, s.country_code, s.is_available, s.is_trial_eligible,
  s.price_kopeks, s.description, s.sort_order, s.max_users, s.created_at, s.updated_at,
  (SELECT coalesce(sum(t.users), 0)::int FROM squad_counters t WHERE t.squad_uuid = s.squad_uuid) AS current_users,
  COALESCE((SELECT json_agg(g.promo_group_id ORDER BY g.promo_group_id)
    FROM server_squad_promo_groups g WHERE g.server_squad_id = s.id), '[]') AS promo_group_ids`;

const ORDER = 's.sort_order, s.display_name, s.id';

/** A server with its dates, which only the administration shows. */
export interface DatedServer extends ServerSquad {
  createdAt: Date;
  updatedAt: Date;
}

function toServer(row: ServerRow): DatedServer {
  return {
    id: row.id,
    squadUuid: row.squadUuid,
    displayName: row.displayName,
    originalName: row.originalName,
    countryCode: row.countryCode,
    isAvailable: row.isAvailable,
    isTrialEligible: row.isTrialEligible,
    priceKopeks: row.priceKopeks,
    description: row.description,
    sortOrder: row.sortOrder,
    maxUsers: row.maxUsers,
    currentUsers: row.currentUsers,
    allowedPromoGroupIds: row.promoGroupIds,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export async function listAll(db: Db, options: { availableOnly: boolean }): Promise<DatedServer[]> {
  const rows = await db.sql<ServerRow>(
    `SELECT ${COLUMNS} FROM server_squads s WHERE s.is_available OR NOT $1::boolean ORDER BY ${ORDER}`,
    [options.availableOnly],
  );
  return rows.map(toServer);
}

export async function findByUuids(db: Db, uuids: readonly string[]): Promise<DatedServer[]> {
  const rows = await db.sql<ServerRow>(
    `SELECT ${COLUMNS} FROM server_squads s WHERE s.squad_uuid = ANY($1::text[]) ORDER BY ${ORDER}`,
    [[...uuids]],
  );
  return rows.map(toServer);
}

export async function countAll(db: Db): Promise<number> {
  const [row] = await db.sql<{ total: number }>('SELECT count(*)::int AS total FROM server_squads');
  return row!.total;
}

export async function findById(db: Db, id: number): Promise<DatedServer | null> {
  const [row] = await db.sql<ServerRow>(`SELECT ${COLUMNS} FROM server_squads s WHERE s.id = $1::bigint`, [id]);
  return row ? toServer(row) : null;
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
  const [rows, [count]] = await Promise.all([
    db.sql<ServerRow>(
      `SELECT ${COLUMNS} FROM server_squads s WHERE ${matches} ORDER BY ${ORDER} OFFSET $3::bigint LIMIT $4::bigint`,
      [filter.availableOnly, pattern, page.offset, page.limit],
    ),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM server_squads s WHERE ${matches}`, [
      filter.availableOnly,
      pattern,
    ]),
  ]);
  return { servers: rows.map(toServer), total: count!.total };
}
