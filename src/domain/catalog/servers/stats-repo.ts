import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

export interface ServerTotals {
  totalServers: number;
  availableServers: number;
  unavailableServers: number;
  /** Servers that an active or trial subscription has. */
  serversWithConnections: number;
  totalRevenueKopeks: number;
}

export async function readServerTotals(db: Db): Promise<ServerTotals> {
  const [row] = await db.sql<ServerTotals>(
    `SELECT count(*)::int AS total_servers, count(*) FILTER (WHERE is_available)::int AS available_servers,
       count(*) FILTER (WHERE NOT is_available)::int AS unavailable_servers,
       count(*) FILTER (WHERE EXISTS (SELECT 1 FROM subscriptions x
         WHERE x.connected_squads @> jsonb_build_array(s.squad_uuid) AND x.status IN ('active', 'trial')))::int AS servers_with_connections,
       COALESCE((SELECT sum(paid_price_kopeks) FROM subscription_servers), 0)::bigint AS total_revenue_kopeks
     FROM server_squads s`,
  );
  return row!;
}

/** Names of the tariffs that list the squad. */
export async function listTariffsUsing(db: Db, squadUuid: string): Promise<string[]> {
  const rows = await db.sql<{ name: string }>(
    'SELECT name FROM tariffs WHERE allowed_squads @> $1::jsonb ORDER BY display_order, id',
    [JSON.stringify([squadUuid])],
  );
  return rows.map((row) => row.name);
}

export type ServerUser = RowOf<typeof SERVER_USER> & {
  subscriptionId: number;
  subscriptionStatus: string;
  subscriptionEndDate: Date;
};

const SERVER_USER = columns('User', [
  ...(['id', 'messengerId', 'username', 'firstName', 'lastName', 'status', 'balanceKopeks'] as const),
]);

/** Users linked to the server or having its squad, by id, and the number of all of them. */
export async function listServerUsers(
  db: Db,
  server: { id: number; squadUuid: string },
  page: { offset: number; limit: number },
): Promise<{ users: ServerUser[]; total: number }> {
  const linked = `SELECT user_id, id FROM subscriptions WHERE connected_squads @> $2::jsonb
    UNION SELECT s.user_id, s.id FROM subscription_servers l JOIN subscriptions s ON s.id = l.subscription_id
    WHERE l.server_squad_id = $1::int`;
  const key = [server.id, JSON.stringify([server.squadUuid])];
  const [users, [count]] = await Promise.all([
    db.sql<ServerUser>(
      `SELECT ${SERVER_USER.of('u')}, s.id AS subscription_id, s.status AS subscription_status, s.end_date AS subscription_end_date
       FROM (${linked} ORDER BY user_id OFFSET $3::bigint LIMIT $4::bigint) linked
       JOIN users u ON u.id = linked.user_id JOIN subscriptions s ON s.id = linked.id ORDER BY u.id`,
      [...key, page.offset, page.limit],
    ),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM (${linked}) linked`, key),
  ]);
  return { users, total: count!.total };
}
