import type { Db } from '../../../core/db/db.ts';
import type { ServerSquad } from '../types.ts';
import { countAll } from './repo.ts';

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
