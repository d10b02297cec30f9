import type { Db } from '../../core/db/db.ts';
import type { PromoGroup } from '../catalog/types.ts';
import { PROMO_GROUP_COLUMNS, type PromoGroupRow, toPromoGroup } from './promo-group-row.ts';

/** The membership with the highest (priority, id), else the group stored on the user (spec 04 section 8.1). */
export async function findPrimaryGroupOf(db: Db, userId: number): Promise<PromoGroup | null> {
  const [row] = await db.sql<PromoGroupRow>(
    `SELECT ${PROMO_GROUP_COLUMNS} FROM promo_groups WHERE id = COALESCE(
       (SELECT g.id FROM user_promo_groups m JOIN promo_groups g ON g.id = m.promo_group_id
        WHERE m.user_id = $1::int ORDER BY g.priority DESC, g.id DESC LIMIT 1),
       (SELECT promo_group_id FROM users WHERE id = $1::int))`,
    [userId],
  );
  return row ? toPromoGroup(row) : null;
}

export async function listGroups(db: Db): Promise<PromoGroup[]> {
  const rows = await db.sql<PromoGroupRow>(`SELECT ${PROMO_GROUP_COLUMNS} FROM promo_groups ORDER BY priority DESC, name, id`);
  return rows.map(toPromoGroup);
}

export async function findDefaultGroup(db: Db): Promise<PromoGroup | null> {
  const [row] = await db.sql<PromoGroupRow>(`SELECT ${PROMO_GROUP_COLUMNS} FROM promo_groups WHERE is_default`);
  return row ? toPromoGroup(row) : null;
}

/** Those of `ids` that exist, in ascending order. Held until the end of the transaction, so that a link to them cannot break. */
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
  return db.sql<{ id: number; name: string }>('SELECT id, name FROM promo_groups ORDER BY name, id');
}

export async function nameOfGroup(db: Db, id: number): Promise<string | null> {
  const [row] = await db.sql<{ name: string }>('SELECT name FROM promo_groups WHERE id = $1::bigint', [id]);
  return row?.name ?? null;
}
