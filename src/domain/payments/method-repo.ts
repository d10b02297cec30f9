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
