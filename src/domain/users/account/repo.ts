import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { UserRecord } from '../../identity/types.ts';
import type { TransactionInfo } from '../types.ts';
import { NOT_ERASED } from './view-repo.ts';

const LOCKED = columns('User', [
  ...(['status', 'promoGroupId', 'restrictionTopup', 'restrictionSubscription', 'restrictionReason', 'balanceKopeks'] as const),
  'vpnpanelUuid',
]);

/** The state that a change of an account starts from. Commission in percent; null = the service-wide one. */
export type LockedUser = RowOf<typeof LOCKED> & { commissionPercent: number | null };

export async function lockUser(db: Db, userId: number): Promise<LockedUser | null> {
  const [row] = await db.sql<LockedUser>(
    `SELECT ${LOCKED.of()}, referral_commission_percent::float8 AS commission_percent
     FROM users u WHERE u.id = $1::int AND ${NOT_ERASED} FOR NO KEY UPDATE`,
    [userId],
  );
  return row ?? null;
}

/** Whether the user exists; locked for share until the end of the transaction, so that it cannot be deleted before. */
export async function lockReferrer(db: Db, id: number): Promise<boolean> {
  const rows = await db.sql<{ id: number }>('SELECT id FROM users WHERE id = $1::bigint FOR KEY SHARE', [id]);
  return rows.length > 0;
}

export async function isReferralCodeTaken(db: Db, code: string, exceptUserId: number): Promise<boolean> {
  return (await db.prisma.user.count({ where: { referralCode: code, id: { not: exceptUserId } } })) > 0;
}

/** Columns that a change of an account may set; the balance changes only through the ledger. */
export type UserColumns = Pick<
  Prisma.UserUncheckedUpdateInput,
  | 'username'
  | 'firstName'
  | 'lastName'
  | 'language'
  | 'status'
  | 'promoGroupId'
  | 'referralCode'
  | 'referralCommissionPercent'
  | 'partnerStatus'
  | 'restrictionTopup'
  | 'restrictionSubscription'
  | 'restrictionReason'
  | 'hasHadPaidSubscription'
  | 'hasMadeFirstTopup'
>;

/** For a locked user. */
export async function updateUserColumns(db: Db, id: number, columns: UserColumns, now: Date): Promise<void> {
  await db.prisma.user.update({ where: { id }, data: { ...columns, updatedAt: now }, select: { id: true } });
}

/**
 * Sets the referrer of a user who has none, unless that would make a user their own ancestor: attribution happens once
 * (spec 04 section 1.2).
 * @returns whether it was set
 */
export async function setReferrerOnce(db: Db, referralId: number, referrerId: number, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE users SET referred_by_id = $2::int, updated_at = $3::timestamptz
     WHERE id = $1::int AND referred_by_id IS NULL AND NOT EXISTS (
       WITH RECURSIVE ancestors (id) AS (
         SELECT $2::int UNION SELECT u.referred_by_id FROM users u JOIN ancestors a ON u.id = a.id WHERE u.referred_by_id IS NOT NULL)
       SELECT 1 FROM ancestors WHERE ancestors.id = $1::int) RETURNING id`,
    [referralId, referrerId, now],
  );
  return rows.length > 0;
}

const USER = columns('User', [
  ...(['updatedAt', 'lifetimeUsedTrafficBytes', 'usedPromocodes'] as const),
  ...(['promoOfferDiscountPercent', 'promoOfferDiscountSource', 'promoOfferDiscountExpiresAt'] as const),
]);

/** What the detail shows in addition to the `UserRecord` and the subscription; kopeks. */
type DetailFacts = RowOf<typeof USER> & {
  promoGroup: { id: number; name: string; isDefault: boolean } | null;
  referralsCount: number;
  earningsKopeks: number;
  referredByUsername: string | null;
  totalSpentKopeks: number;
  purchaseCount: number;
  campaignId: number | null;
  campaignName: string | null;
  tariffName: string | null;
};

/** One statement for all of it; null for an unknown user. */
export async function findDetailFacts(db: Db, userId: number): Promise<DetailFacts | null> {
  const [row] = await db.sql<DetailFacts>(
    `SELECT ${USER.of('u')}, r.username AS referred_by_username, t.name AS tariff_name, f.total_spent_kopeks, f.purchase_count,
       CASE WHEN g.id IS NOT NULL THEN json_build_object('id', g.id, 'name', g.name, 'isDefault', g.is_default) END AS promo_group,
       c.id AS campaign_id, c.name AS campaign_name,
       (SELECT count(*)::int FROM users i WHERE i.referred_by_id = u.id) AS referrals_count,
       (SELECT coalesce(sum(e.amount_kopeks), 0)::bigint FROM referral_earnings e WHERE e.user_id = u.id) AS earnings_kopeks
     FROM users u JOIN user_stats f ON f.user_id = u.id LEFT JOIN promo_groups g ON g.id = u.promo_group_id
       LEFT JOIN users r ON r.id = u.referred_by_id LEFT JOIN subscriptions s ON s.user_id = u.id LEFT JOIN tariffs t ON t.id = s.tariff_id
       LEFT JOIN advertising_campaign_registrations cr ON cr.user_id = u.id LEFT JOIN advertising_campaigns c ON c.id = cr.campaign_id
     WHERE u.id = $1::int`,
    [userId],
  );
  return row ?? null;
}

const TRANSACTION = columns('Transaction', [
  ...(['id', 'type', 'amountKopeks', 'description', 'paymentMethod', 'isCompleted', 'createdAt'] as const),
]);

/** Visible movements of a user, newest first, as they are stored. @param type null = every type */
export async function listTransactionsOf(
  db: Db,
  userId: number,
  page: { type: string | null; limit: number; offset: number },
): Promise<TransactionInfo[]> {
  return db.sql<TransactionInfo>(
    `SELECT ${TRANSACTION.of()} FROM transactions
     WHERE user_id = $1::int AND NOT is_internal AND ($2::text IS NULL OR type = $2::text)
     ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [userId, page.type, page.limit, page.offset],
  );
}

export async function countTransactionsOf(db: Db, userId: number, type: string | null): Promise<number> {
  const [row] = await db.sql<{ total: number }>(
    `SELECT count(*)::int AS total FROM transactions
     WHERE user_id = $1::int AND NOT is_internal AND ($2::text IS NULL OR type = $2::text)`,
    [userId, type],
  );
  return row!.total;
}

const PURCHASE = columns('GuestPurchase', [
  ...(['id', 'status', 'periodDays', 'amountKopeks', 'paymentMethod', 'giftRecipientType', 'giftRecipientValue'] as const),
  ...(['giftMessage', 'createdAt', 'paidAt', 'deliveredAt'] as const),
]);

type Participant = Pick<UserRecord, 'id' | 'username' | 'firstName' | 'lastName' | 'messengerId' | 'email'>;

/** A gift as an administrator sees it (spec 03 section 8.1); kopeks. */
export type GiftRow = RowOf<typeof PURCHASE> & {
  /** The first 12 characters, never the whole secret. */
  token: string;
  tariffName: string | null;
  deviceLimit: number;
  buyer: Participant | null;
  receiver: Participant | null;
};

const participant = (u: string) => `CASE WHEN ${u}.id IS NOT NULL THEN json_build_object('id', ${u}.id, 'username', ${u}.username,
  'firstName', ${u}.first_name, 'lastName', ${u}.last_name, 'messengerId', ${u}.messenger_id, 'email', ${u}.email) END`;

/** Gifts that the user bought (`buyer_user_id`) or got (`user_id`), newest first, and how many there are. */
export async function listGifts(
  db: Db,
  userId: number,
  side: 'buyer_user_id' | 'user_id',
  limit: number,
): Promise<{ gifts: GiftRow[]; total: number }> {
  const [[count], gifts] = await Promise.all([
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM guest_purchases WHERE ${side} = $1::int AND is_gift`, [userId]),
    db.sql<GiftRow>(
      `SELECT ${PURCHASE.of('p')}, left(p.token, 12) AS token, t.name AS tariff_name, coalesce(t.device_limit, 1) AS device_limit,
         ${participant('b')} AS buyer, ${participant('r')} AS receiver
       FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id LEFT JOIN users b ON b.id = p.buyer_user_id
         LEFT JOIN users r ON r.id = p.user_id
       WHERE p.${side} = $1::int AND p.is_gift ORDER BY p.created_at DESC, p.id DESC LIMIT $2::int`,
      [userId, limit],
    ),
  ]);
  return { gifts, total: count!.total };
}
