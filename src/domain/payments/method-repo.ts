import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

const METHOD = columns('PaymentMethodConfig', ['methodId', 'displayName', 'subOptions', 'minAmountKopeks', 'maxAmountKopeks']);

/** A method that one user may use, as configured; null where the defaults apply. */
export type UserMethod = RowOf<typeof METHOD>;

/**
 * Enabled methods whose filters admit the user, in their order (spec 03 section 5.1). A user "has topped up" with a completed deposit.
 * Only memberships count as groups, and an empty list of groups admits everyone.
 */
export function listMethodsOfUser(db: Db, userId: number, useFirstTopupFilter: boolean): Promise<UserMethod[]> {
  return db.sql<UserMethod>(
    `SELECT ${METHOD.of('c')}
     FROM payment_method_configs c JOIN users u ON u.id = $1::int
     WHERE c.is_enabled
       AND (c.user_type_filter = 'all' OR (c.user_type_filter = 'messenger' AND u.messenger_id IS NOT NULL)
         OR (c.user_type_filter = 'email' AND u.email IS NOT NULL))
       AND (NOT $2::boolean OR c.first_topup_filter = 'any' OR (c.first_topup_filter = 'no') = EXISTS (
         SELECT 1 FROM transactions t WHERE t.user_id = u.id AND t.type = 'deposit' AND t.is_completed))
       AND (c.promo_group_filter_mode <> 'selected'
         OR NOT EXISTS (SELECT 1 FROM payment_method_promo_groups g WHERE g.method_id = c.method_id)
         OR EXISTS (SELECT 1 FROM payment_method_promo_groups g JOIN user_promo_groups m ON m.promo_group_id = g.promo_group_id
            WHERE g.method_id = c.method_id AND m.user_id = u.id))
     ORDER BY c.sort_order, c.method_id`,
    [userId, useFirstTopupFilter],
  );
}

export interface NewMethod {
  methodId: string;
  isEnabled: boolean;
  subOptions: Record<string, true> | null;
  /** Before all others instead of after them. */
  isFirst: boolean;
}

/** Adds a method that is not stored yet; a stored one is not changed, it belongs to the administrators. */
export async function insertMethod(db: Db, method: NewMethod, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO payment_method_configs (method_id, sort_order, is_enabled, sub_options, created_at, updated_at)
     SELECT $1, CASE WHEN $4::boolean THEN coalesce(min(sort_order) - 1, 0) ELSE coalesce(max(sort_order) + 1, 0) END, $2::boolean,
       $3::jsonb, $5::timestamptz, $5::timestamptz
     FROM payment_method_configs
     ON CONFLICT (method_id) DO NOTHING RETURNING method_id`,
    [
      method.methodId,
      method.isEnabled,
      method.subOptions === null ? null : JSON.stringify(method.subOptions),
      method.isFirst,
      now,
    ],
  );
}

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

/**
 * Assigns each method its index in `methodIds` as its place; unknown ids are skipped, of one that is named twice the first place counts.
 */
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
