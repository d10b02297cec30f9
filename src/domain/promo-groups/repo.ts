import { allColumns, columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { isRowId } from '../../core/row-id.ts';
import { earnedGroupSql } from '../identity/promo-account.ts';
import type { AssignedBy, PromoGroupRecord, PromoGroupValues } from './types.ts';

/** A promo group as discounts and visibility need it (spec 04 section 8.1). Percentages 0 to 100, of a period by its days. */
export type PromoGroup = RowOf<typeof PROMO_GROUP>;

const PROMO_GROUP = columns('PromoGroup', [
  'id',
  'name',
  'isDefault',
  'priority',
  'serverDiscountPercent',
  'trafficDiscountPercent',
  'deviceDiscountPercent',
  'periodDiscounts',
  'applyDiscountsToAddons',
]);

/** The membership with the highest (priority, id), else the group stored on the user. */
export async function findPrimaryGroupOf(db: Db, userId: number): Promise<PromoGroup | null> {
  const [row] = await db.sql<PromoGroup>(
    `SELECT ${PROMO_GROUP.of()} FROM promo_groups WHERE id = COALESCE(
       (SELECT g.id FROM user_promo_groups m JOIN promo_groups g ON g.id = m.promo_group_id
        WHERE m.user_id = $1::int ORDER BY g.priority DESC, g.id DESC LIMIT 1),
       (SELECT promo_group_id FROM users WHERE id = $1::int))`,
    [userId],
  );
  return row ?? null;
}

export function listGroups(db: Db): Promise<PromoGroup[]> {
  return db.sql<PromoGroup>(`SELECT ${PROMO_GROUP.of()} FROM promo_groups ORDER BY priority DESC, name, id`);
}

export async function findDefaultGroup(db: Db): Promise<PromoGroup | null> {
  const [row] = await db.sql<PromoGroup>(`SELECT ${PROMO_GROUP.of()} FROM promo_groups WHERE is_default`);
  return row ?? null;
}

/** Those of `ids` that exist, in ascending order. Locked for share until the end of the transaction, so that links to them stay valid. */
export async function lockExistingGroupIds(db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await db.sql<{ id: number }>(
    'SELECT id FROM promo_groups WHERE id = ANY($1::bigint[]) ORDER BY id FOR KEY SHARE',
    [[...new Set(ids)]],
  );
  return rows.map((row) => row.id);
}

/** Every group by name, for choosing. */
export function listGroupNames(db: Db): Promise<{ id: number; name: string }[]> {
  return db.prisma.promoGroup.findMany({ select: { id: true, name: true }, orderBy: [{ name: 'asc' }, { id: 'asc' }] });
}

export async function nameOfGroup(db: Db, id: number): Promise<string | null> {
  if (!isRowId(id)) return null;
  const group = await db.prisma.promoGroup.findUnique({ where: { id }, select: { name: true } });
  return group?.name ?? null;
}

/** Groups with a threshold of total spending, lowest first. */
export async function listTiers(db: Db): Promise<{ group: PromoGroup; thresholdKopeks: number }[]> {
  const rows = await db.sql<PromoGroup & { thresholdKopeks: number }>(
    `SELECT ${PROMO_GROUP.of()}, auto_assign_total_spent_kopeks AS threshold_kopeks FROM promo_groups
     WHERE auto_assign_total_spent_kopeks > 0 ORDER BY auto_assign_total_spent_kopeks, id`,
  );
  return rows.map(({ thresholdKopeks, ...group }) => ({ group, thresholdKopeks }));
}

/** Kopeks of completed purchases of a user. */
export async function findTotalSpent(db: Db, userId: number): Promise<number> {
  const [row] = await db.sql<{ spent: number }>('SELECT total_spent_kopeks AS spent FROM user_stats WHERE user_id = $1::int', [
    userId,
  ]);
  return row?.spent ?? 0;
}

/** @returns whether the user was not in the group yet; false, too, for a group that does not exist */
export async function insertMembership(
  db: Db,
  userId: number,
  groupId: number,
  assignedBy: AssignedBy,
  now: Date,
): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO user_promo_groups (user_id, promo_group_id, assigned_by, assigned_at)
     SELECT $1::int, id, $3, $4::timestamptz FROM promo_groups WHERE id = $2::int FOR KEY SHARE
     ON CONFLICT (user_id, promo_group_id) DO NOTHING RETURNING user_id`,
    [userId, groupId, assignedBy, now],
  );
  return rows.length > 0;
}

/** @returns whether the user had a membership that was assigned in one of these ways */
export async function deleteMembership(
  db: Db,
  userId: number,
  groupId: number,
  assignedBy: readonly AssignedBy[],
): Promise<boolean> {
  const rows = await db.sql(
    `DELETE FROM user_promo_groups WHERE user_id = $1::int AND promo_group_id = $2::int AND assigned_by = ANY($3::text[])
     RETURNING user_id`,
    [userId, groupId, assignedBy],
  );
  return rows.length > 0;
}

/**
 * Removes a user from all groups but one and adds the user to that one, as assigned by an administrator.
 * @param groupId null = no group
 * @param reassigns whether a membership of another origin (automatic, a promo code) becomes an administrator's
 */
export async function replaceMemberships(
  db: Db,
  userId: number,
  groupId: number | null,
  { reassigns, now }: { reassigns: boolean; now: Date },
): Promise<void> {
  await db.sql(
    `WITH removed AS (DELETE FROM user_promo_groups WHERE user_id = $1::int AND promo_group_id IS DISTINCT FROM $2::int)
     INSERT INTO user_promo_groups (user_id, promo_group_id, assigned_by, assigned_at)
     SELECT $1::int, $2::int, 'admin', $3::timestamptz WHERE $2::int IS NOT NULL
     ON CONFLICT (user_id, promo_group_id) DO UPDATE SET assigned_by = 'admin', assigned_at = $3::timestamptz WHERE $4::boolean`,
    [userId, groupId, now, reassigns],
  );
}

/**
 * The next users by id who are in the group or have it as primary one, locked in the order of ids. Each half of the list is an
 * index scan in that order, so that all calls together read the users once.
 */
export async function lockNextMembers(db: Db, groupId: number, afterId: number, limit: number): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `WITH next AS MATERIALIZED (
       (SELECT id FROM users WHERE promo_group_id = $1::int AND id > $2::int ORDER BY id LIMIT $3::int)
       UNION (SELECT user_id FROM user_promo_groups WHERE promo_group_id = $1::int AND user_id > $2::int ORDER BY user_id LIMIT $3::int)
       ORDER BY id LIMIT $3::int)
     SELECT u.id FROM users u JOIN next ON next.id = u.id ORDER BY u.id FOR NO KEY UPDATE OF u`,
    [groupId, afterId, limit],
  );
  return rows.map((row) => row.id);
}

/** Moves locked users from one group to another in one statement (spec 04 section 8.5); users who are no longer members are not moved. */
export async function moveMembers(
  db: Db,
  userIds: readonly number[],
  move: { fromId: number; toId: number; now: Date },
): Promise<void> {
  await db.sql(
    `WITH removed AS (DELETE FROM user_promo_groups WHERE promo_group_id = $2::int AND user_id = ANY($1::int[]) RETURNING user_id)
     INSERT INTO user_promo_groups (user_id, promo_group_id, assigned_by, assigned_at)
     SELECT u.id, $3::int, 'system', $4::timestamptz FROM users u
     WHERE u.id = ANY($1::int[]) AND (u.promo_group_id = $2::int OR u.id IN (SELECT user_id FROM removed))
     ON CONFLICT (user_id, promo_group_id) DO NOTHING RETURNING user_id`,
    [userIds, move.fromId, move.toId, move.now],
  );
}

/** Whether the group has a member, or is the primary group of a user. */
export async function hasMembers(db: Db, groupId: number): Promise<boolean> {
  const [row] = await db.sql<{ found: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM users WHERE promo_group_id = $1::int)
       OR EXISTS (SELECT 1 FROM user_promo_groups WHERE promo_group_id = $1::int) AS found`,
    [groupId],
  );
  return row!.found;
}

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

/** Serializes changes of groups until the end of the transaction: there is always exactly one default. */
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

/** Names the group that the migration made, in a service without users where nobody has changed it. */
export async function nameFirstGroup(db: Db, name: string): Promise<void> {
  await db.sql(
    `UPDATE promo_groups SET name = $1 WHERE is_default AND name = 'Default' AND updated_at = created_at
       AND NOT EXISTS (SELECT FROM users) AND NOT EXISTS (SELECT FROM promo_groups WHERE name = $1) RETURNING id`,
    [name],
  );
}

/** Removes the flag from the group that has it. */
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

/** Locks the user, which waits for the purchase that is being recorded. Null for an unknown user. */
export async function lockSpender(db: Db, userId: number) {
  const [user] = await db.sql<{ promoGroupId: number | null }>(
    'SELECT promo_group_id FROM users WHERE id = $1::int FOR NO KEY UPDATE',
    [userId],
  );
  return user ? { spentKopeks: await findTotalSpent(db, userId), primaryGroupId: user.promoGroupId } : null;
}

/** The group with the largest threshold that the amount reaches. */
export async function findGroupForSpending(
  db: Db,
  spentKopeks: number,
): Promise<{ id: number; name: string; threshold: number } | null> {
  const [row] = await db.sql<{ id: number; name: string; threshold: number }>(
    `SELECT id, name, auto_assign_total_spent_kopeks AS threshold FROM promo_groups
     WHERE auto_assign_total_spent_kopeks > 0 AND auto_assign_total_spent_kopeks <= $1::bigint
     ORDER BY auto_assign_total_spent_kopeks DESC, id DESC LIMIT 1 FOR KEY SHARE`,
    [spentKopeks],
  );
  return row ?? null;
}

/** Removes memberships from earlier thresholds and promo codes, and stores the threshold that was reached. */
export async function replaceEarnedGroups(
  db: Db,
  userId: number,
  target: { id: number; threshold: number },
  now: Date,
): Promise<void> {
  await db.sql(
    `WITH removed AS (DELETE FROM user_promo_groups
         WHERE user_id = $1::int AND promo_group_id <> $2::int AND assigned_by IN ('auto', 'promocode'))
     ${earnedGroupSql({ userId: '$1::int', threshold: '$3::bigint', now: '$4::timestamptz' })}`,
    [userId, target.id, target.threshold, now],
  );
}
