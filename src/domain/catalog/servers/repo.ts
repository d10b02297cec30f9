import { allColumns, nestedRow, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { ServerSquad } from '../types.ts';

/** A server with its dates, which only the administration shows. */
export type DatedServer = ServerSquad & Pick<Rows['ServerSquad'], 'createdAt' | 'updatedAt'>;

const COLUMNS = `${allColumns('ServerSquad').of('s')},
  (SELECT coalesce(sum(t.users), 0)::int FROM squad_counters t WHERE t.squad_uuid = s.squad_uuid) AS current_users,
  COALESCE((SELECT json_agg(g.promo_group_id ORDER BY g.promo_group_id)
    FROM server_squad_promo_groups g WHERE g.server_squad_id = s.id), '[]') AS allowed_promo_group_ids`;

const ORDER = 's.sort_order, s.display_name, s.id';

export function listAll(db: Db, options: { availableOnly: boolean }): Promise<DatedServer[]> {
  return db.sql<DatedServer>(`SELECT ${COLUMNS} FROM server_squads s WHERE s.is_available OR NOT $1::boolean ORDER BY ${ORDER}`, [
    options.availableOnly,
  ]);
}

/** SQL of every server as JSON for `serversOf`, in the usual order: for a statement that reads them beside other rows. */
export const ALL_SERVERS_JSON = `(SELECT COALESCE(json_agg(a), '[]') FROM (SELECT ${COLUMNS} FROM server_squads s ORDER BY ${ORDER}) a)`;

/** @param json read with `ALL_SERVERS_JSON` */
export function serversOf(json: readonly object[]): DatedServer[] {
  return json.map((server) => nestedRow('ServerSquad', server) as DatedServer);
}

export function findByUuids(db: Db, uuids: readonly string[]): Promise<DatedServer[]> {
  return db.sql<DatedServer>(`SELECT ${COLUMNS} FROM server_squads s WHERE s.squad_uuid = ANY($1::text[]) ORDER BY ${ORDER}`, [
    [...uuids],
  ]);
}

export function countAll(db: Db): Promise<number> {
  return db.prisma.serverSquad.count();
}

export async function findById(db: Db, id: number): Promise<DatedServer | null> {
  const [row] = await db.sql<DatedServer>(`SELECT ${COLUMNS} FROM server_squads s WHERE s.id = $1::bigint`, [id]);
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
      `SELECT ${COLUMNS} FROM server_squads s WHERE ${matches} ORDER BY ${ORDER} OFFSET $3::bigint LIMIT $4::bigint`,
      [filter.availableOnly, pattern, page.offset, page.limit],
    ),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM server_squads s WHERE ${matches}`, [
      filter.availableOnly,
      pattern,
    ]),
  ]);
  return { servers, total: count!.total };
}
