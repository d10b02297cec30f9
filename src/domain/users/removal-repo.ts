import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { erasePersonalDataSql } from '../storefront/purchases/erase-personal-data.ts';

/**
 * Tables whose rows remain when an account is erased (spec 01 H18): money, what it was paid for, and the audit log. They refer to the
 * anonymised user.
 */
const RETAINED: readonly string[] = [
  ...['transactions', 'ledger_accounts', 'payments', 'guest_purchases', 'referral_earnings', 'withdrawal_requests'],
  ...['subscription_conversions', 'advertising_campaign_registrations', 'admin_audit_log'],
  // Triggers maintain them from the user's row.
  ...['user_stats', 'user_traffic', 'referrer_stats', 'referrer_days', 'referral_contest_scores'],
];

interface Reference {
  table: string;
  column: string;
  /** By the foreign key: the row is deleted with the user; otherwise the reference is set to null. */
  isOwned: boolean;
}

/** Every table that refers to users and is not retained, with what its foreign key does when a user is deleted. */
async function listReferences(db: Db): Promise<Reference[]> {
  const rows = await db.sql<Reference>(
    `SELECT c.conrelid::regclass::text AS "table", quote_ident(a.attname) AS "column", c.confdeltype = 'c' AS "isOwned"
     FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
     WHERE c.contype = 'f' AND c.conparentid = 0 AND c.confrelid = 'users'::regclass AND array_length(c.conkey, 1) = 1 AND c.confdeltype IN ('c', 'n')
     ORDER BY 1, 2`,
  );
  return rows.filter((row) => !RETAINED.includes(row.table));
}

/**
 * Changes every row that refers to a locked user as a deletion of the user would, except for the financial history: owned rows are
 * deleted, references of others are set to null. A table that is added later is covered by its foreign key. Withdrawal requests remain
 * without what they say about the person (`prisma/sql/withdrawals.sql`).
 */
export async function releaseUser(db: Db, userId: number): Promise<void> {
  await db.sql('SELECT erase_withdrawals($1::int)', [userId]);
  for (const { table, column, isOwned } of await listReferences(db)) {
    const statement = isOwned ? `DELETE FROM ${table}` : `UPDATE ${table} SET ${column} = NULL`;
    await db.sql(`WITH done AS (${statement} WHERE ${column} = $1::int RETURNING 1) SELECT count(*)::int AS rows FROM done`, [
      userId,
    ]);
  }
}

/** Ends the user's pending withdrawal requests and waiting approvals, so that what they hold is on the balance again. @returns the balance in kopeks */
export async function cancelReserves(db: Db, userId: number, now: Date): Promise<number> {
  await db.sql('SELECT cancel_withdrawals($1::int, $2::timestamptz) AS cancelled', [userId, now]);
  await db.sql('SELECT cancel_approvals($1::int, $2::timestamptz) AS cancelled', [userId, now]);
  const [row] = await db.sql<{ kopeks: number }>('SELECT balance_kopeks AS kopeks FROM users WHERE id = $1::int', [userId]);
  return row!.kopeks;
}

/** Removes everything personal from the row; money, dates and the id stay. The referral code marks it: payments that come later are cases. */
export async function anonymiseUser(db: Db, userId: number, now: Date): Promise<void> {
  await db.sql(
    `WITH gifts AS (${erasePersonalDataSql('$1::int')})
     UPDATE users SET status = 'deleted', messenger_id = NULL, username = NULL, first_name = NULL, last_name = NULL,
       referral_code = 'erased:' || id, referred_by_id = NULL, email = NULL, email_verified = false, email_verified_at = NULL,
       password_hash = NULL, email_verification_token_hash = NULL, email_verification_expires = NULL, password_reset_token_hash = NULL,
       password_reset_expires = NULL, email_change_new = NULL, email_change_code_hash = NULL, email_change_expires = NULL,
       google_id = NULL, yandex_id = NULL, discord_id = NULL, vk_id = NULL, vpnpanel_uuid = NULL, trojan_password = NULL,
       vless_uuid = NULL, ss_password = NULL, promo_group_id = NULL, partner_status = 'none',
       referral_commission_percent = NULL, restriction_reason = NULL,
       promo_offer_discount_percent = 0, promo_offer_discount_source = NULL, promo_offer_discount_expires_at = NULL,
       notification_settings = '{}', last_pinned_message_id = NULL, updated_at = $2::timestamptz
     WHERE id = $1::int RETURNING id`,
    [userId, now],
  );
}

/** Whether the user has movements, payments or requests for money. */
export async function hasFinancialHistory(db: Db, userId: number): Promise<boolean> {
  const [row] = await db.sql<{ has: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM transactions WHERE user_id = $1::int) OR EXISTS (SELECT 1 FROM payments WHERE user_id = $1::int)
       OR EXISTS (SELECT 1 FROM ledger_accounts WHERE user_id = $1::int)
       OR EXISTS (SELECT 1 FROM withdrawal_requests WHERE user_id = $1::int) AS has`,
    [userId],
  );
  return row!.has;
}

export async function deleteRow(db: Db, userId: number): Promise<void> {
  await db.sql('DELETE FROM users WHERE id = $1::int RETURNING id', [userId]);
}

/** The last row of a page of inactive users. */
export interface InactivePosition {
  lastActivity: Date;
  userId: number;
}

/** A page of active users without balance who were last seen before a given time, latest first. Users who were never seen are left out. */
export async function listInactiveUsers(
  db: Db,
  range: { before: Date; after: InactivePosition | null; limit: number },
): Promise<InactivePosition[]> {
  return db.sql<InactivePosition>(
    `SELECT user_id, last_activity FROM user_stats
     WHERE status = 'active' AND balance_kopeks = 0 AND last_activity > 'epoch' AND last_activity < $1::timestamptz
       AND ($2::timestamptz IS NULL OR last_activity < $2::timestamptz OR (last_activity = $2::timestamptz AND user_id < $3::int))
     ORDER BY last_activity DESC, user_id DESC LIMIT $4::int`,
    [range.before, range.after?.lastActivity ?? null, range.after?.userId ?? null, range.limit],
  );
}

const REMOVABLE = columns('User', ['id', 'messengerId', 'email', 'emailVerified']);

type RemovableUser = RowOf<typeof REMOVABLE>;

/**
 * Locks those of the users that may be deleted now: still inactive and without balance, no subscription with time left, no role,
 * no partnership, no paid gift or purchase that is not delivered. Users locked by another transaction wait for the next night.
 */
export async function lockRemovable(db: Db, userIds: readonly number[], before: Date, now: Date): Promise<RemovableUser[]> {
  return db.sql<RemovableUser>(
    `SELECT ${REMOVABLE.of('u')} FROM users u
     WHERE u.id = ANY($1::int[]) AND u.status = 'active' AND u.balance_kopeks = 0 AND u.last_activity < $2::timestamptz
       AND u.partner_status IN ('none', 'rejected')
       AND NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.user_id = u.id AND s.end_date > $3::timestamptz)
       AND NOT EXISTS (SELECT 1 FROM user_roles r WHERE r.user_id = u.id AND r.is_active)
       AND NOT EXISTS (SELECT 1 FROM guest_purchases g WHERE g.status IN ('paid', 'pending_activation') AND (g.user_id = u.id OR g.buyer_user_id = u.id))
     ORDER BY u.id FOR NO KEY UPDATE OF u SKIP LOCKED`,
    [userIds, before, now],
  );
}
