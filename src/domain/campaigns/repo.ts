import type { Db } from '../../core/db/db.ts';
import { type CampaignRow, toCampaign } from './campaign-row.ts';
import type { Campaign, CampaignBonusType, CampaignVisitor } from './types.ts';

/** Case-sensitive. */
export async function findActiveBySlug(db: Db, slug: string): Promise<Campaign | null> {
  const [row] = await db.sql<CampaignRow>('SELECT * FROM advertising_campaigns WHERE start_parameter = $1 AND is_active', [slug]);
  return row ? toCampaign(row) : null;
}

/** The campaign if it is active, as it stays until the end of the transaction; visitors do not wait for each other. */
export async function holdActive(db: Db, id: number): Promise<Campaign | null> {
  const [row] = await db.sql<CampaignRow>('SELECT * FROM advertising_campaigns WHERE id = $1::int AND is_active FOR SHARE', [id]);
  return row ? toCampaign(row) : null;
}

/**
 * Locks an active user, then reads what the bonus depends on. Two statements on purpose: the second one's snapshot is taken with the
 * lock in hand and sees what a sign-in at the same moment has just written. Null = no such user, or not active.
 */
export async function lockVisitor(db: Db, userId: number): Promise<CampaignVisitor | null> {
  const [user] = await db.sql<{ id: number; status: string; language: string; referredById: number | null }>(
    'SELECT id, status, language, referred_by_id FROM users WHERE id = $1::int FOR NO KEY UPDATE',
    [userId],
  );
  if (user?.status !== 'active') return null;
  const [row] = await db.sql<{ isRegistered: boolean; hasSubscription: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM advertising_campaign_registrations WHERE user_id = $1::int) AS is_registered,
       EXISTS (SELECT 1 FROM subscriptions WHERE user_id = $1::int) AS has_subscription`,
    [userId],
  );
  return {
    id: user.id,
    language: user.language,
    isRegistered: row!.isRegistered,
    hasSubscription: row!.hasSubscription,
    referredById: user.referredById,
  };
}

export interface NewRegistration {
  campaignId: number;
  userId: number;
  bonusType: CampaignBonusType;
  balanceBonusKopeks: number;
  subscriptionDurationDays: number | null;
  tariffId: number | null;
  tariffDurationDays: number | null;
}

/** One per user for ever: the guard of the bonus (spec 01 H15). @returns false when the user has one */
export async function insertRegistration(db: Db, registration: NewRegistration, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `INSERT INTO advertising_campaign_registrations
       (campaign_id, user_id, bonus_type, balance_bonus_kopeks, subscription_duration_days, tariff_id, tariff_duration_days, created_at)
     VALUES ($1::int, $2::int, $3, $4::bigint, $5::int, $6::int, $7::int, $8::timestamptz) ON CONFLICT DO NOTHING RETURNING id`,
    [
      registration.campaignId,
      registration.userId,
      registration.bonusType,
      registration.balanceBonusKopeks,
      registration.subscriptionDurationDays,
      registration.tariffId,
      registration.tariffDurationDays,
      now,
    ],
  );
  return rows.length > 0;
}
