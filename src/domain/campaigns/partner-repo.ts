import type { Db } from '../../core/db/db.ts';
import { hasLiveSubscription } from '../referrals/stats/active-sql.ts';
import type { Window } from '../referrals/stats/rules.ts';
import type { DayFigures, WindowSums } from '../referrals/stats/types.ts';
import type { PartnerCampaign, PartnerCampaignReferral } from './partner-types.ts';

const CAMPAIGN = `c.id, c.name, c.start_parameter AS "startParameter", c.is_active AS "isActive", c.bonus_type AS "bonusType",
  c.balance_bonus_kopeks AS "balanceBonusKopeks", c.subscription_duration_days AS "subscriptionDurationDays",
  c.subscription_traffic_gb AS "subscriptionTrafficGb"`;

/** Registrations that became the partner's referrals, and his rewards (spec 04 section 5, item 2) of campaign `c`. */
const SUMS = `(SELECT count(*)::int FROM advertising_campaign_registrations g JOIN users r ON r.id = g.user_id
    WHERE g.campaign_id = c.id AND r.referred_by_id = c.partner_user_id) AS registrations,
  x.referrals, x.kopeks AS "earnedKopeks"`;
const EARNED = `CROSS JOIN LATERAL (
  SELECT count(DISTINCT e.referral_id)::int AS referrals, coalesce(sum(e.amount_kopeks), 0)::bigint AS kopeks
  FROM referral_earnings e WHERE e.campaign_id = c.id AND e.user_id = c.partner_user_id) x`;

/** The campaigns of a partner with what they brought him, newest first. */
export async function listPartnerCampaigns(db: Db, partnerId: number, onlyActive: boolean): Promise<PartnerCampaign[]> {
  return db.sql<PartnerCampaign>(
    `SELECT ${CAMPAIGN}, ${SUMS} FROM advertising_campaigns c ${EARNED}
     WHERE c.partner_user_id = $1::int AND (c.is_active OR NOT $2::boolean) ORDER BY c.created_at DESC, c.id DESC`,
    [partnerId, onlyActive],
  );
}

/** Null when the campaign is not this partner's. */
export async function findPartnerCampaign(db: Db, partnerId: number, campaignId: number): Promise<PartnerCampaign | null> {
  const [row] = await db.sql<PartnerCampaign>(
    `SELECT ${CAMPAIGN}, ${SUMS} FROM advertising_campaigns c ${EARNED} WHERE c.partner_user_id = $1::int AND c.id = $2::bigint`,
    [partnerId, campaignId],
  );
  return row ?? null;
}

const REWARDS = 'referral_earnings e WHERE e.campaign_id = $2::int AND e.user_id = $1::int';

/** Rewards of a campaign and the referrals they came by, within each window. */
export async function sumCampaignWindows(
  db: Db,
  partnerId: number,
  campaignId: number,
  windows: readonly Window[],
): Promise<WindowSums[]> {
  return db.sql<WindowSums>(
    `SELECT x.referrals, x.kopeks AS "earnedKopeks" FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS w (since, until, n)
     CROSS JOIN LATERAL (
       SELECT count(DISTINCT e.referral_id)::int AS referrals, coalesce(sum(e.amount_kopeks), 0)::bigint AS kopeks FROM ${REWARDS}
         AND e.created_at >= w.since::timestamptz AND e.created_at < w.until::timestamptz) x
     ORDER BY w.n`,
    [
      partnerId,
      campaignId,
      windows.map((window) => window.since.toISOString()),
      windows.map((window) => window.until?.toISOString() ?? 'infinity'),
    ],
  );
}

/** The same by day from a moment on; days without rewards are left out. */
export async function listCampaignDays(db: Db, partnerId: number, campaignId: number, since: Date): Promise<DayFigures[]> {
  return db.sql<DayFigures>(
    `SELECT (e.created_at AT TIME ZONE 'UTC')::date::text AS date, count(DISTINCT e.referral_id)::int AS referrals,
       sum(e.amount_kopeks)::bigint AS "earnedKopeks" FROM ${REWARDS} AND e.created_at >= $3::timestamptz GROUP BY 1`,
    [partnerId, campaignId, since],
  );
}

/** The referrals by whom the partner earned most through a campaign. */
export async function listTopCampaignReferrals(
  db: Db,
  partnerId: number,
  campaignId: number,
  limit: number,
  now: Date,
): Promise<PartnerCampaignReferral[]> {
  return db.sql<PartnerCampaignReferral>(
    `WITH top AS MATERIALIZED (
       SELECT e.referral_id, sum(e.amount_kopeks)::bigint AS kopeks FROM ${REWARDS} GROUP BY e.referral_id
       ORDER BY kopeks DESC, e.referral_id LIMIT $3::int)
     SELECT r.id, r.username, r.first_name AS "firstName", r.last_name AS "lastName", r.created_at AS "createdAt",
       r.has_made_first_topup AS "hasPaid", top.kopeks AS "earnedKopeks", ${hasLiveSubscription('$4')} AS "isActive"
     FROM top JOIN users r ON r.id = top.referral_id ORDER BY top.kopeks DESC, r.id`,
    [partnerId, campaignId, limit, now],
  );
}

/** Who a campaign belongs to. @returns null when there is no such campaign */
export async function findCampaignPartner(db: Db, campaignId: number): Promise<{ partnerId: number | null } | null> {
  const [row] = await db.sql<{ partnerId: number | null }>(
    'SELECT partner_user_id AS "partnerId" FROM advertising_campaigns WHERE id = $1::bigint',
    [campaignId],
  );
  return row ?? null;
}

/** Gives a campaign to a partner unless another one has it; once more is no harm. @returns whether it is his now */
export async function assignCampaign(db: Db, campaignId: number, partnerId: number, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE advertising_campaigns SET partner_user_id = $2::int, updated_at = $3::timestamptz
     WHERE id = $1::int AND (partner_user_id IS NULL OR partner_user_id = $2::int) RETURNING id`,
    [campaignId, partnerId, now],
  );
  return rows.length > 0;
}

/** Takes a campaign from a partner. @returns false when it was not his */
export async function unassignCampaign(db: Db, campaignId: number, partnerId: number, now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE advertising_campaigns SET partner_user_id = NULL, updated_at = $3::timestamptz
     WHERE id = $1::int AND partner_user_id = $2::bigint RETURNING id`,
    [campaignId, partnerId, now],
  );
  return rows.length > 0;
}

/** Takes all of a partner's campaigns from him. @returns their ids */
export async function detachCampaigns(db: Db, partnerId: number, now: Date): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `WITH held AS (SELECT id FROM advertising_campaigns WHERE partner_user_id = $1::int ORDER BY id FOR UPDATE)
     UPDATE advertising_campaigns c SET partner_user_id = NULL, updated_at = $2::timestamptz FROM held WHERE c.id = held.id RETURNING c.id`,
    [partnerId, now],
  );
  return rows.map((row) => row.id).sort((a, b) => a - b);
}
