import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

const GIFT = columns('GuestPurchase', ['code', 'periodDays', 'giftMessage', 'status', 'createdAt']);

/** A gift in a list. `code` is what is shown of its token; device limit and name are null when the tariff no longer exists. */
export type GiftRow = RowOf<typeof GIFT> & { tariffName: string | null; deviceLimit: number | null };

/** Longest list. */
const LIMIT = 100;
const ORDER = `ORDER BY p.created_at DESC, p.id DESC LIMIT ${LIMIT}`;
const TARIFF = 't.name AS tariff_name, t.device_limit';

/** Gifts that wait for this user's consent, newest first; those whose activation is in progress are left out. */
export function listWaiting(db: Db, userId: number): Promise<(GiftRow & { contactValue: string })[]> {
  return db.sql(
    `SELECT ${GIFT.of('p')}, ${TARIFF}, p.contact_value FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id
     WHERE p.user_id = $1::int AND p.status = 'pending_activation' AND p.is_gift AND p.granted_at IS NULL ${ORDER}`,
    [userId],
  );
}

/** Gifts that this user bought, newest first. `activatedBy` is the user name of the recipient of a delivered one. */
export function listBought(
  db: Db,
  userId: number,
): Promise<(GiftRow & { giftRecipientValue: string | null; activatedBy: string | null })[]> {
  return db.sql(
    `SELECT ${GIFT.of('p')}, ${TARIFF}, p.gift_recipient_value, CASE WHEN p.status = 'delivered' THEN u.username END AS activated_by
     FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id LEFT JOIN users u ON u.id = p.user_id
     WHERE p.buyer_user_id = $1::int AND p.is_gift ${ORDER}`,
    [userId],
  );
}

/** Gifts that this user was given, in any state, newest first. */
export function listReceived(
  db: Db,
  userId: number,
): Promise<(GiftRow & { buyerUsername: string | null; contactValue: string })[]> {
  return db.sql(
    `SELECT ${GIFT.of('p')}, ${TARIFF}, b.username AS buyer_username, p.contact_value
     FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id LEFT JOIN users b ON b.id = p.buyer_user_id
     WHERE p.user_id = $1::int AND p.is_gift ${ORDER}`,
    [userId],
  );
}

/**
 * Links a locked gift to the user who activates it and records the request, so that a job repeats an activation that fails. The conditions
 * are those of `claimVerdict` and let one of many users through. @returns whether it did
 */
export async function linkRecipient(db: Db, id: number, userId: number, nextAttemptAt: Date, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET user_id = $2::int, status = 'pending_activation', is_activation_signed = true,
       activation_requested_at = coalesce(activation_requested_at, $4::timestamptz), next_attempt_at = $3::timestamptz,
       updated_at = $4::timestamptz
     WHERE id = $1::int AND is_gift AND status IN ('paid', 'pending_activation') AND granted_at IS NULL
       AND (user_id = $2::int OR (user_id IS NULL AND gift_recipient_type IS NULL)) RETURNING id`,
    [id, userId, nextAttemptAt, now],
  );
  return rows.length > 0;
}

/** Ends a locked gift whose money was given back. @returns false when it was given, or given back, before */
export async function markRefunded(db: Db, id: number, transactionId: number, reason: string, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET status = 'failed', refund_transaction_id = $2::int, last_error = $3, next_attempt_at = NULL,
       cabinet_password = NULL, auto_login_token = NULL, updated_at = $4::timestamptz
     WHERE id = $1::int AND refund_transaction_id IS NULL AND granted_at IS NULL AND paid_at IS NOT NULL RETURNING id`,
    [id, transactionId, `refunded: ${reason}`.slice(0, 500), now],
  );
  return rows.length > 0;
}
