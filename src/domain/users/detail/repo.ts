import type { Db } from '../../../core/db/db.ts';
import { shownAmount } from './rules.ts';
import type { TransactionInfo } from './types.ts';

/** What the detail shows beside the user's own row and the subscription. */
export interface DetailFacts {
  updatedAt: Date;
  lifetimeUsedTrafficBytes: number;
  usedPromocodes: number;
  promoOfferPercent: number;
  promoOfferSource: string | null;
  promoOfferExpiresAt: Date | null;
  promoGroup: { id: number; name: string; isDefault: boolean } | null;
  referralCount: number;
  earningsKopeks: number;
  referredByUsername: string | null;
  totalSpentKopeks: number;
  purchaseCount: number;
  campaign: { id: number; name: string } | null;
  tariffName: string | null;
}

interface FactsRow {
  updatedAt: Date;
  lifetimeUsedTrafficBytes: number;
  usedPromocodes: number;
  offerPercent: number;
  offerSource: string | null;
  offerExpiresAt: Date | null;
  groupId: number | null;
  groupName: string;
  isDefault: boolean;
  referralCount: number;
  earningsKopeks: number;
  referredByUsername: string | null;
  totalSpentKopeks: number;
  purchaseCount: number;
  campaignId: number | null;
  campaignName: string;
  tariffName: string | null;
}

/** One statement for all of it; null for an unknown user. */
export async function findDetailFacts(db: Db, userId: number): Promise<DetailFacts | null> {
  const [row] = await db.sql<FactsRow>(
    `SELECT u.updated_at, u.lifetime_used_traffic_bytes, u.used_promocodes, u.promo_offer_discount_percent AS offer_percent,
       u.promo_offer_discount_source AS offer_source, u.promo_offer_discount_expires_at AS offer_expires_at,
       g.id AS group_id, g.name AS group_name, g.is_default, r.username AS referred_by_username, t.name AS tariff_name,
       f.total_spent_kopeks, f.purchase_count, c.id AS campaign_id, c.name AS campaign_name,
       (SELECT count(*)::int FROM users i WHERE i.referred_by_id = u.id) AS referral_count,
       (SELECT coalesce(sum(e.amount_kopeks), 0)::bigint FROM referral_earnings e WHERE e.user_id = u.id) AS earnings_kopeks
     FROM users u JOIN user_stats f ON f.user_id = u.id LEFT JOIN promo_groups g ON g.id = u.promo_group_id
       LEFT JOIN users r ON r.id = u.referred_by_id LEFT JOIN subscriptions s ON s.user_id = u.id LEFT JOIN tariffs t ON t.id = s.tariff_id
       LEFT JOIN advertising_campaign_registrations cr ON cr.user_id = u.id LEFT JOIN advertising_campaigns c ON c.id = cr.campaign_id
     WHERE u.id = $1::int`,
    [userId],
  );
  if (!row) return null;
  return {
    updatedAt: row.updatedAt,
    lifetimeUsedTrafficBytes: row.lifetimeUsedTrafficBytes,
    usedPromocodes: row.usedPromocodes,
    promoOfferPercent: row.offerPercent,
    promoOfferSource: row.offerSource,
    promoOfferExpiresAt: row.offerExpiresAt,
    promoGroup: row.groupId === null ? null : { id: row.groupId, name: row.groupName, isDefault: row.isDefault },
    referralCount: row.referralCount,
    earningsKopeks: row.earningsKopeks,
    referredByUsername: row.referredByUsername,
    totalSpentKopeks: row.totalSpentKopeks,
    purchaseCount: row.purchaseCount,
    campaign: row.campaignId === null ? null : { id: row.campaignId, name: row.campaignName },
    tariffName: row.tariffName,
  };
}

interface TransactionRow {
  id: number;
  type: string;
  amountKopeks: number;
  description: string | null;
  paymentMethod: string | null;
  isCompleted: boolean;
  createdAt: Date;
}

/** Visible movements of a user, newest first. @param type null = every type */
export async function listTransactionsOf(
  db: Db,
  userId: number,
  page: { type: string | null; limit: number; offset: number },
): Promise<TransactionInfo[]> {
  const rows = await db.sql<TransactionRow>(
    `SELECT id, type, amount_kopeks, description, payment_method, is_completed, created_at FROM transactions
     WHERE user_id = $1::int AND NOT is_internal AND ($2::text IS NULL OR type = $2::text)
     ORDER BY created_at DESC, id DESC LIMIT $3::int OFFSET $4::bigint`,
    [userId, page.type, page.limit, page.offset],
  );
  return rows.map((row) => ({
    id: row.id,
    type: row.type,
    amountKopeks: shownAmount(row.type, row.amountKopeks),
    description: row.description,
    paymentMethod: row.paymentMethod,
    isCompleted: row.isCompleted,
    createdAt: row.createdAt,
  }));
}

export async function countTransactionsOf(db: Db, userId: number, type: string | null): Promise<number> {
  const [row] = await db.sql<{ total: number }>(
    `SELECT count(*)::int AS total FROM transactions
     WHERE user_id = $1::int AND NOT is_internal AND ($2::text IS NULL OR type = $2::text)`,
    [userId, type],
  );
  return row!.total;
}
