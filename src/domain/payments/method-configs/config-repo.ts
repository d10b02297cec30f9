import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

const CONFIG = columns('PaymentMethodConfig', [
  ...(['methodId', 'sortOrder', 'isEnabled', 'displayName', 'subOptions', 'minAmountKopeks', 'maxAmountKopeks'] as const),
  ...(['userTypeFilter', 'firstTopupFilter', 'promoGroupFilterMode', 'createdAt', 'updatedAt'] as const),
]);

/** A stored configuration; null fields = the defaults of the method. `allowedPromoGroupIds` ascends. */
export type MethodConfig = RowOf<typeof CONFIG> & { allowedPromoGroupIds: number[] };

const WITH_GROUPS = `${CONFIG.of('c')}, ARRAY(SELECT g.promo_group_id FROM payment_method_promo_groups g
  WHERE g.method_id = c.method_id ORDER BY g.promo_group_id) AS allowed_promo_group_ids`;

export function listConfigs(db: Db): Promise<MethodConfig[]> {
  return db.sql<MethodConfig>(`SELECT ${WITH_GROUPS} FROM payment_method_configs c ORDER BY c.sort_order, c.method_id`);
}

export async function findConfig(db: Db, methodId: string): Promise<MethodConfig | null> {
  const [row] = await db.sql<MethodConfig>(`SELECT ${WITH_GROUPS} FROM payment_method_configs c WHERE c.method_id = $1`, [
    methodId,
  ]);
  return row ?? null;
}

/** Locks a configuration until the end of the transaction. */
export async function lockConfig(db: Db, methodId: string): Promise<MethodConfig | null> {
  await db.sql('SELECT method_id FROM payment_method_configs WHERE method_id = $1 FOR UPDATE', [methodId]);
  return findConfig(db, methodId);
}

export type ConfigValues = Omit<MethodConfig, 'methodId' | 'sortOrder' | 'allowedPromoGroupIds' | 'createdAt' | 'updatedAt'>;

export async function updateConfig(db: Db, methodId: string, values: ConfigValues, now: Date): Promise<void> {
  await db.sql(
    `UPDATE payment_method_configs SET is_enabled = $2::boolean, display_name = $3, sub_options = $4::jsonb, min_amount_kopeks = $5::bigint,
       max_amount_kopeks = $6::bigint, user_type_filter = $7, first_topup_filter = $8, promo_group_filter_mode = $9,
       updated_at = $10::timestamptz
     WHERE method_id = $1 RETURNING method_id`,
    [
      ...[methodId, values.isEnabled, values.displayName, values.subOptions === null ? null : JSON.stringify(values.subOptions)],
      ...[values.minAmountKopeks, values.maxAmountKopeks, values.userTypeFilter, values.firstTopupFilter],
      ...[values.promoGroupFilterMode, now],
    ],
  );
}

/** @param groupIds of existing groups */
export async function replaceGroups(db: Db, methodId: string, groupIds: readonly number[]): Promise<void> {
  await db.sql('DELETE FROM payment_method_promo_groups WHERE method_id = $1 RETURNING method_id', [methodId]);
  await db.sql(
    `INSERT INTO payment_method_promo_groups (method_id, promo_group_id) SELECT $1, unnest($2::int[]) RETURNING method_id`,
    [methodId, groupIds],
  );
}

/** Gives each method its index in `methodIds` as its place; unknown ids are skipped, of one that is named twice the first place counts. */
export async function reorderConfigs(db: Db, methodIds: readonly string[], now: Date): Promise<void> {
  // Locked in one order, so that two reorderings do not deadlock.
  await db.sql('SELECT method_id FROM payment_method_configs ORDER BY method_id FOR UPDATE');
  await db.sql(
    `UPDATE payment_method_configs c SET sort_order = o.place, updated_at = $2::timestamptz
     FROM (SELECT id, (min(n) - 1)::int AS place FROM unnest($1::text[]) WITH ORDINALITY AS listed (id, n) GROUP BY id) o
     WHERE c.method_id = o.id RETURNING c.method_id`,
    [methodIds, now],
  );
}
