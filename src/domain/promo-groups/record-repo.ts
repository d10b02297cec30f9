import { allColumns } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { PromoGroupRecord, PromoGroupValues } from './types.ts';

// The counters are maintained by triggers and exact for their reader, so that counting members does not read the users.
const SELECT_RECORD = `SELECT ${allColumns('PromoGroup').of()},
  (SELECT coalesce(sum(t.users), 0)::int FROM user_counters t WHERE t.promo_group_id = promo_groups.id) AS members_count
  FROM promo_groups`;

/** One page, highest priority first, then by name. */
export async function listRecords(
  db: Db,
  page: { limit: number; offset: number },
): Promise<{ items: PromoGroupRecord[]; total: number }> {
  const [items, total] = await Promise.all([
    db.sql<PromoGroupRecord>(`${SELECT_RECORD} ORDER BY priority DESC, name, id LIMIT $1::int OFFSET $2::bigint`, [
      page.limit,
      page.offset,
    ]),
    db.prisma.promoGroup.count(),
  ]);
  return { items, total };
}

export async function findRecord(db: Db, id: number): Promise<PromoGroupRecord | null> {
  const [row] = await db.sql<PromoGroupRecord>(`${SELECT_RECORD} WHERE id = $1::bigint`, [id]);
  return row ?? null;
}

/** Serializes changes of groups until the end of the transaction: there is always exactly one default (spec 04 section 8.5). */
export async function lockGroupChanges(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('catalog.promo_groups'))::text AS locked");
}

export async function isNameTaken(db: Db, name: string, exceptId: number): Promise<boolean> {
  return (await db.prisma.promoGroup.count({ where: { name, id: { not: exceptId } } })) > 0;
}

/** @returns the id; null when the name is taken */
export async function insertGroup(db: Db, values: PromoGroupValues, isDefault: boolean, now: Date): Promise<number | null> {
  const data = { ...values, isDefault, createdAt: now, updatedAt: now };
  const [row] = await db.prisma.promoGroup.createManyAndReturn({ data: [data], skipDuplicates: true, select: { id: true } });
  return row?.id ?? null;
}

export async function updateGroup(db: Db, id: number, values: PromoGroupValues, now: Date): Promise<void> {
  await db.prisma.promoGroup.update({ where: { id }, data: { ...values, updatedAt: now }, select: { id: true } });
}

/** Names the group that the migration made, in a shop without users where nobody has changed it. */
export async function nameFirstGroup(db: Db, name: string): Promise<void> {
  await db.sql(
    `UPDATE promo_groups SET name = $1 WHERE is_default AND name = 'Default' AND updated_at = created_at
       AND NOT EXISTS (SELECT FROM users) AND NOT EXISTS (SELECT FROM promo_groups WHERE name = $1) RETURNING id`,
    [name],
  );
}

/** Takes the flag from the group that has it. */
export async function unmarkDefault(db: Db, now: Date): Promise<void> {
  await db.prisma.promoGroup.updateMany({ where: { isDefault: true }, data: { isDefault: false, updatedAt: now } });
}

export async function markDefault(db: Db, id: number, now: Date): Promise<void> {
  await db.prisma.promoGroup.update({ where: { id }, data: { isDefault: true, updatedAt: now }, select: { id: true } });
}

/** The oldest group besides this one; null when it is the only one. */
export async function findOldestOther(db: Db, id: number): Promise<number | null> {
  const other = await db.prisma.promoGroup.findFirst({
    where: { id: { not: id } },
    orderBy: { id: 'asc' },
    select: { id: true },
  });
  return other?.id ?? null;
}

/** Until the end of the transaction no user can join the group; waits for those who are joining now. */
export async function lockAgainstJoining(db: Db, id: number): Promise<void> {
  await db.sql('SELECT id FROM promo_groups WHERE id = $1::int FOR UPDATE', [id]);
}

export async function deleteGroup(db: Db, id: number): Promise<void> {
  await db.prisma.promoGroup.delete({ where: { id }, select: { id: true } });
}

/** A server belongs to at least one group: servers that only this group has get the other one. */
export async function moveOnlyServers(db: Db, fromId: number, toId: number): Promise<void> {
  await db.sql(
    `INSERT INTO server_squad_promo_groups (server_squad_id, promo_group_id)
     SELECT l.server_squad_id, $2::int FROM server_squad_promo_groups l WHERE l.promo_group_id = $1::int AND NOT EXISTS (
       SELECT 1 FROM server_squad_promo_groups o WHERE o.server_squad_id = l.server_squad_id AND o.promo_group_id <> $1::int)
     ON CONFLICT DO NOTHING RETURNING server_squad_id`,
    [fromId, toId],
  );
}
