import type { App } from '../../core/app.ts';
import { allColumns, nestedRow, type Rows } from '../../core/db/columns.ts';
import type { ServerSquad } from './types.ts';

/** A server with its dates, which only the administration shows. */
export type DatedServer = ServerSquad & Pick<Rows['ServerSquad'], 'createdAt' | 'updatedAt'>;

export const SERVER_COLUMNS = `${allColumns('ServerSquad').of('s')},
  (SELECT coalesce(sum(t.users), 0)::int FROM squad_counters t WHERE t.squad_uuid = s.squad_uuid) AS current_users,
  COALESCE((SELECT json_agg(g.promo_group_id ORDER BY g.promo_group_id)
    FROM server_squad_promo_groups g WHERE g.server_squad_id = s.id), '[]') AS allowed_promo_group_ids`;

export const SERVER_ORDER = 's.sort_order, s.display_name, s.id';

/** SQL of every server as JSON for `serversOf`, in the usual order: for a statement that reads them beside other rows. */
export const ALL_SERVERS_JSON = `(SELECT COALESCE(json_agg(a), '[]') FROM (SELECT ${SERVER_COLUMNS} FROM server_squads s ORDER BY ${SERVER_ORDER}) a)`;

/** @param json read with `ALL_SERVERS_JSON` */
export function serversOf(json: readonly object[]): DatedServer[] {
  return json.map((server) => nestedRow('ServerSquad', server) as DatedServer);
}

const listWhere = ({ db }: Pick<App, 'db'>, condition: string, values: unknown[] = []): Promise<DatedServer[]> =>
  db.sql(`SELECT ${SERVER_COLUMNS} FROM server_squads s WHERE ${condition} ORDER BY ${SERVER_ORDER}`, values);

/** Every server, unavailable ones too, by (sort order, display name, id); never a page of them (spec 02 H9). */
export const listSquads = (app: Pick<App, 'db'>) => listWhere(app, 'true');

/** Every available server in the same order, full ones included. */
export const listAvailableSquads = (app: Pick<App, 'db'>) => listWhere(app, 's.is_available');

/** The servers with these squad uuids; unknown uuids are left out. */
export async function findSquadsByUuid(app: App, uuids: readonly string[]): Promise<ServerSquad[]> {
  return uuids.length === 0 ? [] : listWhere(app, 's.squad_uuid = ANY($1::text[])', [[...uuids]]);
}

/** Active and trial subscriptions that have a squad, and the active ones among them that are trials; the squad need not be a server. */
export async function countSquadHolders({ db }: App, squadUuid: string): Promise<{ active: number; trial: number }> {
  const [row] = await db.sql<{ active: number; trial: number }>(
    `SELECT count(*)::int AS active, count(*) FILTER (WHERE is_trial AND status = 'active')::int AS trial
     FROM subscriptions WHERE connected_squads @> $1::jsonb AND status IN ('active', 'trial')`,
    [JSON.stringify([squadUuid])],
  );
  return row!;
}
