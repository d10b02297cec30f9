import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { TransactionInfo } from '../types.ts';

const USER = columns('User', [
  ...(['updatedAt', 'lifetimeUsedTrafficBytes', 'usedPromocodes'] as const),
  ...(['promoOfferDiscountPercent', 'promoOfferDiscountSource', 'promoOfferDiscountExpiresAt'] as const),
]);

/** What the detail shows in addition to the `UserRecord` and the subscription; kopeks. */
export type DetailFacts = RowOf<typeof USER> & {
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
