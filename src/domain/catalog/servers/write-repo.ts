import type { Db } from '../../../core/db/db.ts';
import type { ServerSquad } from '../types.ts';

/** The columns that the administration writes. */
export type ServerValues = Omit<ServerSquad, 'id' | 'squadUuid' | 'currentUsers' | 'allowedPromoGroupIds'>;

const COLUMNS: { readonly [K in keyof ServerValues]: readonly [column: string, type: string] } = {
  displayName: ['display_name', 'text'],
  originalName: ['original_name', 'text'],
  countryCode: ['country_code', 'text'],
  isAvailable: ['is_available', 'boolean'],
  isTrialEligible: ['is_trial_eligible', 'boolean'],
  priceKopeks: ['price_kopeks', 'int'],
  description: ['description', 'text'],
  sortOrder: ['sort_order', 'int'],
  maxUsers: ['max_users', 'int'],
};

function columnsOf(values: Partial<ServerValues>): [string, string, unknown][] {
  return Object.entries(values).flatMap(([key, value]): [string, string, unknown][] =>
    value === undefined ? [] : [[...COLUMNS[key as keyof ServerValues], value]],
  );
}

/** @returns the id of the new server; null when the uuid is taken */
export async function insertServer(db: Db, squadUuid: string, values: ServerValues, now: Date): Promise<number | null> {
  const columns = columnsOf(values);
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO server_squads (squad_uuid, created_at, updated_at, ${columns.map(([column]) => column).join(', ')})
     VALUES ($1::text, $2::timestamptz, $2::timestamptz, ${columns.map(([, type], index) => `$${index + 3}::${type}`).join(', ')})
     ON CONFLICT (squad_uuid) DO NOTHING RETURNING id`,
    [squadUuid, now, ...columns.map(([, , value]) => value)],
  );
  return row?.id ?? null;
}

/** @returns false when there is no such server */
export async function updateServerRow(db: Db, id: number, values: Partial<ServerValues>, now: Date): Promise<boolean> {
  const columns = columnsOf(values);
  const sets = columns.map(([column, type], index) => `, ${column} = $${index + 3}::${type}`).join('');
  const rows = await db.sql<{ id: number }>(
    `UPDATE server_squads SET updated_at = $2::timestamptz${sets} WHERE id = $1::bigint RETURNING id`,
    [id, now, ...columns.map(([, , value]) => value)],
  );
  return rows.length > 0;
}

/** Replaces the groups that may use the server. `groupIds` must exist. */
export async function replaceServerGroups(db: Db, serverId: number, groupIds: readonly number[]): Promise<void> {
  await db.sql(
    'DELETE FROM server_squad_promo_groups WHERE server_squad_id = $1::int AND promo_group_id <> ALL($2::int[]) RETURNING promo_group_id',
    [serverId, [...groupIds]],
  );
  await db.sql(
    `INSERT INTO server_squad_promo_groups (server_squad_id, promo_group_id) SELECT $1::int, unnest($2::int[])
     ON CONFLICT DO NOTHING RETURNING promo_group_id`,
    [serverId, [...groupIds]],
  );
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

/** Locks the server and says whether subscriptions are linked to it or hold its squad; null when there is none. */
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

/** Counts the users of all squads anew (spec 02 H20); what is counted follows every change anyway. @returns how many servers there are */
export async function recountUsers(db: Db): Promise<number> {
  await db.sql('SELECT recount_squads()::text AS done');
  const [row] = await db.sql<{ servers: number }>('SELECT count(*)::int AS servers FROM server_squads');
  return row!.servers;
}
