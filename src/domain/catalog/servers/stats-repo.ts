import type { Db } from '../../../core/db/db.ts';

export interface ServerTotals {
  total: number;
  available: number;
  /** Servers that an active or trial subscription holds. */
  withConnections: number;
  revenueKopeks: number;
}

export async function readServerTotals(db: Db): Promise<ServerTotals> {
  const [row] = await db.sql<ServerTotals>(
    `SELECT count(*)::int AS total, count(*) FILTER (WHERE is_available)::int AS available,
       count(*) FILTER (WHERE EXISTS (SELECT 1 FROM subscriptions x
         WHERE x.connected_squads @> jsonb_build_array(s.squad_uuid) AND x.status IN ('active', 'trial')))::int AS "withConnections",
       COALESCE((SELECT sum(paid_price_kopeks) FROM subscription_servers), 0)::bigint AS "revenueKopeks"
     FROM server_squads s`,
  );
  return row!;
}

/** Active and trial subscriptions that hold the squad, and active ones among them that are trials. */
export async function countHolders(db: Db, squadUuid: string): Promise<{ active: number; trial: number }> {
  const [row] = await db.sql<{ active: number; trial: number }>(
    `SELECT count(*)::int AS active, count(*) FILTER (WHERE is_trial AND status = 'active')::int AS trial
     FROM subscriptions WHERE connected_squads @> $1::jsonb AND status IN ('active', 'trial')`,
    [JSON.stringify([squadUuid])],
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

export interface ServerUser {
  id: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  status: string;
  balanceKopeks: number;
  subscriptionId: number;
  subscriptionStatus: string;
  subscriptionEndDate: Date;
}

/** Users linked to the server or holding its squad, by id, and the number of all of them. */
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
      `SELECT u.id, u.messenger_id AS "messengerId", u.username, u.first_name AS "firstName", u.last_name AS "lastName", u.status,
         u.balance_kopeks AS "balanceKopeks", s.id AS "subscriptionId", s.status AS "subscriptionStatus",
         s.end_date AS "subscriptionEndDate"
       FROM (${linked} ORDER BY user_id OFFSET $3::bigint LIMIT $4::bigint) linked
       JOIN users u ON u.id = linked.user_id JOIN subscriptions s ON s.id = linked.id ORDER BY u.id`,
      [...key, page.offset, page.limit],
    ),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM (${linked}) linked`, key),
  ]);
  return { users, total: count!.total };
}
