import type { Db } from '../../core/db/db.ts';
import { PROMO_GROUP_COLUMNS, type PromoGroupRow, toPromoGroup } from './promo-group-row.ts';
import type { PromoGroupRecord, PromoGroupValues } from './types.ts';

interface RecordRow extends PromoGroupRow {
  autoAssignTotalSpentKopeks: number | null;
  membersCount: number;
  createdAt: Date;
  updatedAt: Date;
}

// The counters are kept by triggers and exact for their reader, so that counting members does not read the users.
const SELECT_RECORD = `SELECT ${PROMO_GROUP_COLUMNS}, auto_assign_total_spent_kopeks, created_at, updated_at,
  (SELECT coalesce(sum(t.users), 0)::int FROM user_counters t WHERE t.promo_group_id = promo_groups.id) AS members_count
  FROM promo_groups`;

function toRecord(row: RecordRow): PromoGroupRecord {
  return {
    ...toPromoGroup(row),
    autoAssignTotalSpentKopeks: row.autoAssignTotalSpentKopeks,
    membersCount: row.membersCount,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

/** One page, highest priority first, then by name. */
export async function listRecords(
  db: Db,
  page: { limit: number; offset: number },
): Promise<{ items: PromoGroupRecord[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    db.sql<RecordRow>(`${SELECT_RECORD} ORDER BY priority DESC, name, id LIMIT $1::int OFFSET $2::bigint`, [
      page.limit,
      page.offset,
    ]),
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM promo_groups'),
  ]);
  return { items: rows.map(toRecord), total: count!.total };
}

export async function findRecord(db: Db, id: number): Promise<PromoGroupRecord | null> {
  const [row] = await db.sql<RecordRow>(`${SELECT_RECORD} WHERE id = $1::bigint`, [id]);
  return row ? toRecord(row) : null;
}

/** One change of groups at a time, until the end of the transaction: there is always exactly one default (spec 04 section 8.5). */
export async function lockGroupChanges(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('catalog.promo_groups'))::text AS locked");
}

export async function isNameTaken(db: Db, name: string, exceptId: number | null): Promise<boolean> {
  const rows = await db.sql('SELECT id FROM promo_groups WHERE name = $1 AND id IS DISTINCT FROM $2::int', [name, exceptId]);
  return rows.length > 0;
}

/** @returns the id; null when the name is taken */
export async function insertGroup(db: Db, values: PromoGroupValues, isDefault: boolean, now: Date): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO promo_groups (name, server_discount_percent, traffic_discount_percent, device_discount_percent, period_discounts,
       auto_assign_total_spent_kopeks, apply_discounts_to_addons, is_default, created_at, updated_at)
     VALUES ($1, $2::int, $3::int, $4::int, $5::jsonb, $6::bigint, $7::boolean, $8::boolean, $9::timestamptz, $9::timestamptz)
     ON CONFLICT (name) DO NOTHING RETURNING id`,
    [...parametersOf(values), isDefault, now],
  );
  return row?.id ?? null;
}

export async function updateGroup(db: Db, id: number, values: PromoGroupValues, now: Date): Promise<void> {
  await db.sql(
    `UPDATE promo_groups SET name = $1, server_discount_percent = $2::int, traffic_discount_percent = $3::int,
       device_discount_percent = $4::int, period_discounts = $5::jsonb, auto_assign_total_spent_kopeks = $6::bigint,
       apply_discounts_to_addons = $7::boolean, updated_at = $8::timestamptz
     WHERE id = $9::int RETURNING id`,
    [...parametersOf(values), now, id],
  );
}

function parametersOf(values: PromoGroupValues): unknown[] {
  return [
    values.name,
    values.serverDiscountPercent,
    values.trafficDiscountPercent,
    values.deviceDiscountPercent,
    JSON.stringify(values.periodDiscounts),
    values.autoAssignTotalSpentKopeks,
    values.applyDiscountsToAddons,
  ];
}

/** Takes the mark from the group that has it. */
export async function unmarkDefault(db: Db, now: Date): Promise<void> {
  await db.sql('UPDATE promo_groups SET is_default = false, updated_at = $1::timestamptz WHERE is_default RETURNING id', [now]);
}

export async function markDefault(db: Db, id: number, now: Date): Promise<void> {
  await db.sql('UPDATE promo_groups SET is_default = true, updated_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
    id,
    now,
  ]);
}

/** The oldest group besides this one; null when it is the only one. */
export async function findOldestOther(db: Db, id: number): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>('SELECT id FROM promo_groups WHERE id <> $1::int ORDER BY id LIMIT 1', [id]);
  return row?.id ?? null;
}

/** From here to the end of the transaction nobody comes into the group; waits for those who are just doing so. */
export async function closeGroup(db: Db, id: number): Promise<void> {
  await db.sql('SELECT id FROM promo_groups WHERE id = $1::int FOR UPDATE', [id]);
}

export async function deleteGroup(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM promo_groups WHERE id = $1::int RETURNING id', [id]);
}

/** A server is offered to one group at least: those that only this group sees go to the other one. */
export async function handOverServers(db: Db, fromId: number, toId: number): Promise<void> {
  await db.sql(
    `INSERT INTO server_squad_promo_groups (server_squad_id, promo_group_id)
     SELECT l.server_squad_id, $2::int FROM server_squad_promo_groups l WHERE l.promo_group_id = $1::int AND NOT EXISTS (
       SELECT 1 FROM server_squad_promo_groups o WHERE o.server_squad_id = l.server_squad_id AND o.promo_group_id <> $1::int)
     ON CONFLICT DO NOTHING RETURNING server_squad_id`,
    [fromId, toId],
  );
}
