import type { Db } from '../../core/db/db.ts';
import type { Campaign, CampaignBonusType, CampaignVisitor } from './types.ts';

interface CampaignRow {
  id: number;
  name: string;
  start_parameter: string;
  bonus_type: CampaignBonusType;
  balance_bonus_kopeks: number;
  subscription_duration_days: number | null;
  subscription_traffic_gb: number | null;
  subscription_device_limit: number | null;
  subscription_squads: string[];
  tariff_id: number | null;
  tariff_duration_days: number | null;
  is_active: boolean;
  partner_user_id: number | null;
}

function toCampaign(row: CampaignRow): Campaign {
  return {
    id: row.id,
    name: row.name,
    startParameter: row.start_parameter,
    bonusType: row.bonus_type,
    balanceBonusKopeks: row.balance_bonus_kopeks,
    subscriptionDurationDays: row.subscription_duration_days,
    subscriptionTrafficGb: row.subscription_traffic_gb,
    subscriptionDeviceLimit: row.subscription_device_limit,
    subscriptionSquads: row.subscription_squads,
    tariffId: row.tariff_id,
    tariffDurationDays: row.tariff_duration_days,
    isActive: row.is_active,
    partnerUserId: row.partner_user_id,
  };
}

/** Case-sensitive. */
export async function findActiveBySlug(db: Db, slug: string): Promise<Campaign | null> {
  const [row] = await db.sql<CampaignRow>(
    `SELECT id, name, start_parameter, bonus_type, balance_bonus_kopeks, subscription_duration_days, subscription_traffic_gb,
       subscription_device_limit, subscription_squads, tariff_id, tariff_duration_days, is_active, partner_user_id
     FROM advertising_campaigns WHERE start_parameter = $1 AND is_active`,
    [slug],
  );
  return row ? toCampaign(row) : null;
}

/**
 * Locks an active user, then reads what the bonus depends on. Two statements on purpose: the second one's snapshot is taken with the
 * lock in hand and sees what a sign-in at the same moment has just written. Null = no such user, or not active.
 */
export async function lockVisitor(db: Db, userId: number): Promise<CampaignVisitor | null> {
  const [user] = await db.sql<{ id: number; status: string; language: string }>(
    'SELECT id, status, language FROM users WHERE id = $1::int FOR UPDATE',
    [userId],
  );
  if (user?.status !== 'active') return null;
  const [row] = await db.sql<{ is_registered: boolean; has_subscription: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM advertising_campaign_registrations WHERE user_id = $1::int) AS is_registered,
       EXISTS (SELECT 1 FROM subscriptions WHERE user_id = $1::int) AS has_subscription`,
    [userId],
  );
  return { id: user.id, language: user.language, isRegistered: row!.is_registered, hasSubscription: row!.has_subscription };
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
